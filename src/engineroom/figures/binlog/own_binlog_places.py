"""Our own figure: throughput over the uncompressed one, by where the CPU time of compressing is spent; nowhere is the ablation."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.runs import Run
from engineroom.side_by_side import ours, over

__all__ = ["BASE", "LABELS", "picture", "rows", "words"]

BASE = "uncompressed"
LABELS = {"nowhere": "free", "session": "by the session", "leader": "by the leader"}


def rows(run: Run) -> pd.DataFrame:
    """All rows, with the throughput over the uncompressed one."""
    return over(
        side_by_side.rows(run, by=("concurrency", "series"), y="tpmC"),
        "throughput_ratio",
        f"series == '{BASE}'",
        "concurrency",
    )


picture = Curves(
    labels=LABELS,
    narrow={"session": "session", "leader": "leader"},
    x_label="clients",
    y_label="throughput over the uncompressed",
    y_log=False,
)


def words(table: pd.DataFrame) -> Words:
    """Each place at each x."""
    of = ours(table)
    said = {place: at(of[place]) for place in LABELS}
    last = max(table["concurrency"])
    return Words(
        alt="Line chart of throughput over the uncompressed one against clients. Compressing is "
        + "; ".join(f"{LABELS[place]}: {said[place]}" for place in LABELS)
        + ".",
        caption=f"With {last:g} clients throughput is {of['session', last]:.2f} times the uncompressed if each session compresses, "
        f"{of['leader', last]:.2f} times if the leader does it under LOCK_log, and {of['nowhere', last]:.2f} times if it costs nothing.",
    )
