"""Figure 7-1: throughput against clients over the log of 5.7 and of 8.0, the redo part alone."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = Curves(
    labels={"before": "log of 5.7", "after": "log of 8.0"},
    narrow={"before": "5.7", "after": "8.0"},
    x_label="clients",
    y_label="transactions per minute",
)


def words(table: pd.DataFrame) -> Words:
    """The ratio of the two at each x; only ratios of our load compare with the published ones."""
    ratio, published = (of["after"] / of["before"] for of in (ours(table), theirs(table)))
    first, last = ratio.index[0], ratio.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. Log of 8.0 over log of 5.7: {at(ratio)}. "
        f"Published: {at(published)}.",
        caption=f"With nothing but the redo log to wait for, the log of 8.0 gives {ratio[first]:.2f} times the throughput of "
        f"5.7's at {first:g} clients and {ratio[last]:.1f} times at {last:g}; the source measured "
        f"{published.iloc[-1]:.2f} times at {published.index[-1]:g}.",
    )
