"""What a figure of two compared designs says: both curves, and the ratio of the two beside the published one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from engineroom.figures.wording import Words, at, each_line
from engineroom.side_by_side import ours, theirs

__all__ = ["compared", "ratios"]


def ratios(table: pd.DataFrame, over: str, under: str) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """The series `over` divided by `under` at each place: ours, and the published one."""
    mine, published = (of[over] / of[under] for of in (ours(table), theirs(table)))
    return mine, published


def compared(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    what: str,
    *,
    over: str,
    under: str,
    form: str = "{:,.0f}",
    where: str = "On the simulated machine",
) -> Words:
    """`over` divided by `under` at each x; `what` is the quantity, with its unit, `where` what the caption begins with."""
    ratio, told = ratios(table, over, under)
    first, last = ratio.index[0], ratio.index[-1]
    said = each_line(ours(table), {series: labels[series] for series in (under, over)}, form)
    return Words(
        alt=f"Log-log line chart of {what} against clients. {said}. {labels[over]} over {labels[under]}: {at(ratio)}; "
        f"published: {at(told)}.",
        caption=f"{where}, {what} with {labels[over]} over {labels[under]}: {ratio[first]:.2f} at {first:g} clients and "
        f"{ratio[last]:.2f} at {last:g}; the source measured {told.iloc[-1]:.2f} at {told.index[-1]:g}.",
    )
