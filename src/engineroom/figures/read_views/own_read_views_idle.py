"""Our own figure: purge's processor time per batch on live servers against idle sessions, each with a closed view."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

rows = partial(side_by_side.rows, by=("idle_sessions", "series"), y="purge_us_per_batch")


def _labels(table: pd.DataFrame) -> dict[str, str]:
    return {name: name for name in sorted(set(table["series"].astype(str)), key=release)}


picture = Curves(
    labels=_labels, x_label="idle sessions", y_label="purge, us per batch", x_log=False, y_log=False
)


def words(table: pd.DataFrame) -> Words:
    """What the most idle sessions add, by server."""
    of = ours(table)
    names = _labels(table)
    most = table["idle_sessions"].max()
    said = "; ".join(f"{name}: {at(of[name], '{:.0f}')}" for name in names)
    more = ", ".join(f"{of[name][most] / of[name][0]:.1f} times in {name}" for name in names)
    return Words(
        alt=f"Line chart of the purge threads' microseconds per batch against idle sessions. {said}.",
        caption=f"{most:,} idle sessions that have read once make a batch of purge take {more} as much processor time as none.",
    )
