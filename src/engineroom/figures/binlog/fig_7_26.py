"""Figure 7-26: throughput against clients without and with compression, by the stages of the commit alone."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = Curves(
    labels={"uncompressed": "uncompressed", "compressed": "zstd, level 3"},
    narrow={"uncompressed": "plain", "compressed": "zstd 3"},
    x_label="clients",
    y_label="transactions per minute",
)


def words(table: pd.DataFrame) -> Words:
    """The ratio of the two at each x, ours and the source's."""
    ratio, published = (of["compressed"] / of["uncompressed"] for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. Compressed over uncompressed: {at(ratio)}. "
        f"Published: {at(published)}.",
        caption=f"Compressed in the session before it queues, a transaction's throughput is {ratio.min():.2f} to {ratio.max():.2f} times the "
        f"uncompressed; the source's cluster had {published.min():.2f} to {published.max():.2f}.",
    )
