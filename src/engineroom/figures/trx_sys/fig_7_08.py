"""Figure 7-8: throughput of TPC-C with one mutex of the transaction system and with two."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

LABELS = {"before": "one mutex", "after": "two mutexes"}
rows = with_width
picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per minute")


def words(table: Rows) -> Words:
    """Both, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per minute", over="after", under="before")
