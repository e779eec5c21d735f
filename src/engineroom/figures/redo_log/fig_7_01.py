"""Figure 7-1: throughput against clients over the log of 5.7 and of 8.0, the redo part alone."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

LABELS, SHORT = {"before": "log of 5.7", "after": "log of 8.0"}, {"before": "5.7", "after": "8.0"}
Y = "transactions per minute"
ALONE = "With nothing but the redo log to wait for"
rows = with_width
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label=Y)


def words(table: Rows) -> Words:
    """The ratio of the two at each x; only ratios of our load compare with the published ones."""
    return compared(table, LABELS, Y, over="after", under="before", where=ALONE)
