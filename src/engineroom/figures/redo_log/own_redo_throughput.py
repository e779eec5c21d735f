"""Our own figure: throughput against clients over the log of 5.7 and of 8.0, with nothing but the redo log to wait for."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, at, known_ratios, ours, rows_by

LABELS, SHORT = {"before": "log of 5.7", "after": "log of 8.0"}, {"before": "5.7", "after": "8.0"}
rows = rows_by("concurrency", y="tpmC", keep=["half_width_percent"])
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label="transactions per minute")


def words(table: Rows) -> Words:
    """The ratio of the two at each number of clients; the caption has those that are known."""
    ratio = ours(table)["after"] / ours(table)["before"]
    known, beyond = known_ratios(table, ratio)
    first, last = known.index[0], known.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. Log of 8.0 over log of 5.7: {at(ratio)}.",
        caption=f"With nothing but the redo log to wait for, the log of 8.0 gives {known[first]:.2f} times the throughput of "
        f"5.7's at {first:g} clients and {known[last]:.1f} times at {last:g}.{beyond}",
    )
