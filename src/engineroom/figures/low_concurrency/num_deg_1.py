"""The degradation article's kilobyte: bytes of the containers of one inserted row, against its columns."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

LABELS = {"deque_8_0": "deque of 8.0", "list_5_7": "list of 5.7"}
picture = Curves(
    labels=LABELS,
    narrow={"deque_8_0": "deque", "list_5_7": "list"},
    x_label="columns of a row",
    y_label="bytes per row, without items",
    x_log=False,
    y_log=False,
)


def words(table: pd.DataFrame) -> Words:
    """One column, and the first width at which the list is as large."""
    of = ours(table)
    deque, listed = of["deque_8_0"], of["list_5_7"]
    meet = next((int(n) for n in deque.index if listed[n] >= 0.9 * deque[n]), None)
    said = "; ".join(f"{label}: {at(of[series], '{:.0f}')}" for series, label in LABELS.items())
    how = "from the servers' memory" if "live" in set(table["method"]) else "counted in kernels"
    return Words(
        alt=f"Line chart of bytes per row against columns, {how}. {said}. Published: {at(theirs(table)['deque_8_0'], '{:.0f}')}.",
        caption=f"A row of one column takes {deque[1]:.0f} bytes of containers in the design of 8.0 and {listed[1]:.0f} in the design of "
        f"5.7, {how}" + (f"; at {meet} columns the two are about equal." if meet else "."),
    )
