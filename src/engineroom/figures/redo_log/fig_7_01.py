"""Figure 7-1: throughput of a whole engine against clients, over the log of 5.7 and of 8.0."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

LABELS = {
    "before": "log of 5.7",
    "after": "log of 8.0",
    "new_latches": "log of 8.0, later latches",
}
SHORT = {"before": "5.7", "after": "8.0", "new_latches": "later latches"}
Y = "transactions per minute"
rows = with_width
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label=Y)


def words(table: Rows) -> Words:
    """Both logs, and their ratio beside the published one."""
    return compared(table, LABELS, Y, over="after", under="before")
