"""Figure 7-9: throughput of TPC-C with one set of active transactions and with shards of it."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

LABELS = {"before": "one set", "after": "shards"}
rows = with_width
picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per minute")


def words(table: Rows) -> Words:
    """Both, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per minute", over="after", under="before")
