"""How the repeats of a measurement become one value: the only place that knows.

The median counts, except where a run says `summary="min"`: CPU time, to which others' load only adds; or `"max"`: a rate of CPU time. Whoever compares values
(the judge, a figure, a page) takes them from here, and what is published beside them keeps the spread: median, least, most
and the number of repeats of each cell.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = [
    "SPREAD",
    "SUMMARIES",
    "Cells",
    "Interval",
    "cells",
    "how_of",
    "paired_ratio",
    "several",
    "summarise",
    "summary_and_repeats",
    "values",
    "with_spread",
]

# What a run says, and the column of a summary that then counts.
SUMMARIES: dict[str, str] = {"median": "median", "min": "least", "max": "most"}
SPREAD = ("median", "least", "most", "repeats")
_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "min": min,
    "max": max,
}


def summarise(
    table: pd.DataFrame, *by: str, y: str, how: str | None = None, sort: bool = True
) -> pd.DataFrame:
    """One row per cell: its place `by`, the value of `y` that counts, and its spread (`SPREAD`).

    Rows without a value are left out, so that a cell of none does not exist. Without `how`, the table's column `summary`
    says it, as in the rows of a figure. `sort=False` keeps the order in which the cells first appear.
    """
    chosen = SUMMARIES[how or how_of(table)]
    known = table.dropna(subset=[y])
    cells = known.groupby(list(by), sort=sort, observed=True)[y].agg(["median", "min", "max", "size"])
    cells.columns = pd.Index(SPREAD)
    cells.insert(0, y, cells[chosen])
    return cells.reset_index()


def values(table: pd.DataFrame, *by: str, y: str, how: str | None = None) -> pd.Series[Any]:
    """The value of each cell as `summarise` has it, with `by` as index: `values(...)["hash_join", "9.7.4"]`."""
    how = how or how_of(table)
    if how not in SUMMARIES:
        raise KeyError(how)
    cells: pd.Series[Any] = table.dropna(subset=[y]).groupby(list(by), observed=True)[y].agg(how)
    return cells


def several(table: pd.DataFrame, *by: str, ys: Sequence[str], how: str | None = None) -> pd.DataFrame:
    """The values of several columns, one row per cell; empty where a cell has none of a column."""
    cells = table.groupby(list(by), observed=True).size().index
    return pd.DataFrame({y: values(table, *by, y=y, how=how).reindex(cells) for y in ys}, index=cells)


def with_spread(table: pd.DataFrame, *by: str, y: str, how: str) -> pd.DataFrame:
    """`table`, each row with the median, least and most of its cell, and in `summary` which of them is its value."""
    cells = table.groupby(list(by), sort=False, dropna=False)[y]
    spread = {
        "median": cells.transform("median"),
        "least": cells.transform("min"),
        "most": cells.transform("max"),
    }
    return table.assign(summary=SUMMARIES[how], **spread)


class Interval(NamedTuple):
    """A value with the 5th and the 95th percentile of what draws of its repeats give."""

    value: float
    low: float
    high: float

    def times(self) -> str:
        """As a page says a ratio: "1.05 times (0.87 to 1.17: equal within noise)"."""
        noise = ": equal within noise" if self.low < 1 < self.high else ""
        return f"{self.value:.2f} times ({self.low:.2f} to {self.high:.2f}{noise})"


def paired_ratio(
    over: Sequence[float] | pd.Series[Any], under: Sequence[float] | pd.Series[Any], *, draws: int = 2000
) -> Interval:
    """The median of `over` by `under`, repeat by repeat: what is measured in turns shares its turn's disturbance."""
    ratios = np.asarray(over, dtype=float) / np.asarray(under, dtype=float)
    drawn = np.median(np.random.default_rng(0).choice(ratios, (draws, len(ratios))), axis=1)
    low, high = np.percentile(drawn, (5, 95))
    return Interval(float(np.median(ratios)), float(low), float(high))


# The repeats of each place, in their order.
Cells = Mapping[tuple[Any, ...], Sequence[float]]


def cells(table: pd.DataFrame, *by: str, y: str) -> Cells:
    """The repeats of each cell. In plain Python: the ledger asks for hundreds of small tables, and each of pandas' groups costs more than all of their rows."""
    known = table[table[[*by, y]].notna().all(axis=1)].sort_values("repeat", kind="stable")
    found: dict[tuple[Any, ...], list[float]] = {}
    for *place, value in zip(*(known[name].tolist() for name in (*by, y)), strict=True):
        found.setdefault(tuple(place), []).append(float(value))
    return found


def summary_and_repeats(cells: Cells, how: str) -> list[dict[tuple[Any, ...], float]]:
    """What counts of each cell, as of `summarise`, then what repeat 0 alone gives, repeat 1, and so on; a cell of fewer repeats gives its own in turn."""
    most = max(map(len, cells.values()), default=0)
    return [
        {place: _STATISTICS[how](values) for place, values in cells.items()},
        *({place: values[k % len(values)] for place, values in cells.items()} for k in range(most)),
    ]


def how_of(table: pd.DataFrame) -> str:
    """The one summary that rows with their spread name."""
    (column,) = table["summary"].unique()
    return next(how for how, name in SUMMARIES.items() if name == column)
