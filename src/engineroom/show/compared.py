"""What a figure of two compared designs says: both curves, and the ratio of the two beside the published one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from engineroom.runs import Run
from engineroom.runs.side_by_side import OURS, ours, rows, theirs
from engineroom.show.curves import SETTLED, unsettled
from engineroom.show.wording import Words, at, each_line

__all__ = ["WIDTH", "compared", "known_ratios", "ratios", "with_width"]

# A caption quotes no ratio of a throughput that is known to less than this: half of its interval of 95 %.
KNOWN_PERCENT, WIDTH = 10.0, "half_width_percent"


def with_width(run: Run) -> pd.DataFrame:
    """The rows of a run with how well each throughput is known and whether it settled, where the run says so."""
    return rows(run, keep=[name for name in (WIDTH, SETTLED) if name in run.table])


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
    in_one_unit: bool = False,
) -> Words:
    """`over` divided by `under` at each x; `what` is the quantity, with its unit, `where` what the caption begins with.

    `in_one_unit`: the published values have the unit of ours, and the caption says how far ours are from them.
    """
    ratio, told = ratios(table, over, under)
    known, beyond = known_ratios(table, ratio)
    first, last = known.index[0], known.index[-1]
    there = last if last in told.index else told.index[-1]
    said = each_line(ours(table), {series: labels[series] for series in (under, over)}, form)
    hollow = (
        " Hollow points are known to worse than 2 %."
        if unsettled(table[table["source"] == OURS]).any()
        else ""
    )
    return Words(
        alt=f"Log-log line chart of {what} against clients. {said}. {labels[over]} over {labels[under]}: {at(known)}; "
        f"published: {at(told)}.",
        caption=f"{where}, {what} with {labels[over]} over {labels[under]}: {ratio[first]:.2f} at {first:g} clients and "
        f"{ratio[last]:.2f} at {last:g}; the source measured {told[there]:.2f} at {there:g}.{beyond}{_distance(table) if in_one_unit else ''}{hollow}",
    )


def _distance(table: pd.DataFrame) -> str:
    """How far ours are from the published values, either way."""
    off = (ours(table) / theirs(table)).dropna().map(math.log).abs().map(math.exp)
    farthest: Any = off.idxmax()
    return f" Ours are off by {off.median():.2f} times in the median, by {off.max():.2g} times at most, at {farthest[1]:g}."


def known_ratios(table: pd.DataFrame, ratio: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    """The ratios up to the first place at which a throughput is hardly known, and what is said of the others."""
    if WIDTH not in table:
        return ratio, ""
    mine = table[table["source"] == OURS]
    width = mine[WIDTH].astype(float).groupby(mine[str(ratio.index.name)]).max().reindex(ratio.index)
    places = (width <= KNOWN_PERCENT).cumprod().astype(bool)
    if places.all() or not places.any():
        return ratio, ""
    last = ratio.index[places][-1]
    return ratio[places], (
        f" Beyond {last:g} clients one of the two is known to {width[~places].max():.0f} % at worst, so no ratio is quoted there."
    )
