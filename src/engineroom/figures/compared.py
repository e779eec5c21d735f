"""What a figure of two compared designs says: both curves, and the ratio of the two beside the published one."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, theirs

__all__ = ["compared"]


def compared(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    what: str,
    *,
    over: str,
    under: str,
    form: str = "{:,.0f}",
) -> Words:
    """`over` divided by `under` at each x; `what` is the quantity, with its unit."""
    mine, published = ours(table), theirs(table)
    ratio, told = (of[over] / of[under] for of in (mine, published))
    first, last = ratio.index[0], ratio.index[-1]
    said = ". ".join(f"{labels[series]}: {at(mine[series], form)}" for series in (under, over))
    return Words(
        alt=f"Log-log line chart of {what} against clients. {said}. {labels[over]} over {labels[under]}: {at(ratio)}; "
        f"published: {at(told)}.",
        caption=f"On the simulated machine, {what} with {labels[over]} over {labels[under]}: {ratio[first]:.2f} at {first:g} clients and "
        f"{ratio[last]:.2f} at {last:g}; the source measured {told.iloc[-1]:.2f} at {told.index[-1]:g}.",
    )
