"""Our own figure: CPU time per row of building and walking the value lists of an INSERT, in kernels."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, ends
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

LABELS = {
    "list_5_7": "list of 5.7",
    "deque_8_0": "deque of 8.0",
    "deque_9_7": "deque of 9.7",
    "reserved": "reserved array",
}
rows = partial(side_by_side.rows, by=("columns", "series"), y="row_ns")
picture = Curves(
    labels=LABELS,
    narrow={"list_5_7": "list", "deque_8_0": "8.0", "deque_9_7": "9.7", "reserved": "array"},
    x_label="columns of a row",
    y_label="CPU ns per row",
)


def words(table: pd.DataFrame) -> Words:
    """The ends of the lines."""
    of = ours(table)
    ratio = of["deque_9_7"] / of["list_5_7"]
    few, many = ratio.index[[0, -1]]
    said = "; ".join(f"{label}: {ends(of[series], '{:.0f}')}" for series, label in LABELS.items())
    return Words(
        alt=f"Log-log line chart of CPU nanoseconds per row against columns. {said}.",
        caption=f"Items and calls included, a row of {few} column takes {ratio[few]:.1f} times as long in the deque of 9.7 as in the list "
        f"of 5.7, one of {many} columns {ratio[many]:.1f} times.",
    )
