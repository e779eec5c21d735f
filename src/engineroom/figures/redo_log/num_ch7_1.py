"""The chapter's statement on fewer than 50 connections: throughput over the log of 5.7 and of 8.0."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, at, ours

LABELS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}
SHORT = {"old_redo": "5.7", "new_redo": "8.0"}
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label="transactions per second")


def words(table: Rows) -> Words:
    """The ratio of the two at each x; the source gives no number."""
    ratio = ours(table)["new_redo"] / ours(table)["old_redo"]
    slower = ", ".join(f"{n:g}" for n in ratio.index[ratio < 1])
    where = f"slower at {slower} clients" if slower else "slower nowhere"
    return Words(
        alt=f"Log-log line chart of transactions per second against clients. Log of 8.0 over log of 5.7: {at(ratio, '{:.3f}')}.",
        caption=f"Below 50 clients the log of 8.0 is {where}, of those that were tried; the largest loss is {100 * (1 - ratio.min()):.1f} %.",
    )
