"""Figure 7-21: TPC-C with 1000 warehouses, FIFO against CATS."""

from __future__ import annotations

from engineroom.figures.cats import LABELS
from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

rows = with_width
picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per minute")


def words(table: Rows) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per minute", over="cats", under="fifo")
