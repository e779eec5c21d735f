"""Figure 7-28: throughput against clients with full and with minimal row images, by the stages of the commit alone."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = Curves(
    labels={"full": "full images", "minimal": "minimal images"},
    narrow={"full": "full", "minimal": "minimal"},
    x_label="clients",
    y_label="transactions per minute",
)


def words(table: pd.DataFrame) -> Words:
    """The ratio of the two at each x, ours and the source's."""
    ratio, published = (of["minimal"] / of["full"] for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. Minimal over full images: {at(ratio)}. "
        f"Published: {at(published)}.",
        caption=f"With minimal images throughput is {ratio.min():.2f} to {ratio.max():.2f} times the one with full images; the source's "
        f"cluster had {published.min():.2f} to {published.max():.2f}.",
    )
