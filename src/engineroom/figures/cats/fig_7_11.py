"""Figure 7-11: response time of SysBench's Pareto load, with every deadlock printed, FIFO against CATS."""

from __future__ import annotations

from engineroom.figures.cats import LABELS
from engineroom.figures.parts import Curves, Rows, Words, all_rows, compared

rows = all_rows
picture = Curves(labels=LABELS, x_label="clients", y_label="milliseconds per transaction")


def words(table: Rows) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, LABELS, "milliseconds per transaction", over="fifo", under="cats")
