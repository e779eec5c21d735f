"""Figure 7-12: deadlocks of SysBench's Pareto load, with every deadlock printed, FIFO against CATS."""

from __future__ import annotations

from engineroom.figures.cats import LABELS
from engineroom.figures.parts import Curves, Rows, Words, all_rows, compared

rows = all_rows
picture = Curves(labels=LABELS, x_label="clients", y_label="deadlocks per minute")


def words(table: Rows) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, LABELS, "deadlocks per minute", over="fifo", under="cats")
