"""The chapter's figures: one quantity each, under FIFO and under CATS."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, theirs

__all__ = ["LABELS", "compared"]

LABELS = {"fifo": "FIFO", "cats": "CATS"}


def compared(
    table: pd.DataFrame, what: str, *, form: str = "{:,.0f}", over: str = "cats", under: str = "fifo"
) -> Words:
    """What both schedulers give, and the ratio of the two beside the published one."""
    mine, published = ours(table), theirs(table)
    ratio, told = (of[over] / of[under] for of in (mine, published))
    first, last = ratio.index[0], ratio.index[-1]
    said = ". ".join(f"{LABELS[series]}: {at(mine[series], form)}" for series in LABELS)
    return Words(
        alt=f"Log-log line chart of {what} against clients. {said}. {LABELS[over]} over {LABELS[under]}: {at(ratio)}; "
        f"published: {at(told)}.",
        caption=f"On the simulated machine {LABELS[over]} gives {ratio[first]:.2f} times {LABELS[under]}'s {what} at {first:g} clients and "
        f"{ratio[last]:.2f} times at {last:g}; the source measured {told.iloc[-1]:.2f} times at {told.index[-1]:g}.",
    )
