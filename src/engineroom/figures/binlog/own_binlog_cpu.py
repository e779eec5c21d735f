"""Our own figure: CPU time of the whole server per transaction, by row image and level of compression."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

rows = partial(side_by_side.rows, by=("setting", "series"), y="server_cpu_us", keep=["bytes_per_txn"])
BASE = "full, uncompressed"


def _settings(table: pd.DataFrame) -> dict[str, str]:
    return {name: name for name in table["setting"].unique()}


picture = Dots(
    by="setting",
    rows=_settings,
    narrow=lambda table: {
        name: name.replace("uncompressed", "no zstd") for name in table["setting"].unique()
    },
    label="microseconds of server CPU per transaction",
    form="{:,.0f}",
)


def words(table: pd.DataFrame) -> Words:
    """What each setting adds to the plain one."""
    of = ours(table).droplevel("series")
    added = "; ".join(f"{name} {of[name] / of[BASE] - 1:+.0%}" for name in of.index if name != BASE)
    return Words(
        alt=f"Dots of CPU time of the server per TPC-C transaction: {BASE} {of[BASE]:,.0f} microseconds; beside it {added}.",
        caption=f"One client, server CPU per transaction beside {of[BASE]:,.0f} microseconds uncompressed with full images: {added}.",
    )
