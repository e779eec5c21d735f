"""How the repeats of a measurement become one value: the only place that knows.

The median counts, except where a run says `summary="min"`: CPU time, to which others' load only adds; or `"max"`: a rate of CPU time. Whoever compares values
(the judge, a figure, a page) takes them from here, and what is published beside them keeps the spread: median, least, most
and the number of repeats of each cell.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["SPREAD", "SUMMARIES", "each_repeat", "how_of", "summarise", "values", "with_spread"]

# What a run says, and the column of a summary that then counts.
SUMMARIES: dict[str, str] = {"median": "median", "min": "least", "max": "most"}
SPREAD = ("median", "least", "most", "repeats")


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
    """The value of each cell, with `by` as index: `values(...)["hash_join", "9.7.4"]`."""
    cells: pd.Series[Any] = summarise(table, *by, y=y, how=how).set_index(list(by))[y]
    return cells


def with_spread(table: pd.DataFrame, *by: str, y: str, how: str) -> pd.DataFrame:
    """`table`, each row with the median, least and most of its cell, and in `summary` which of them is its value."""
    cells = table.groupby(list(by), sort=False, dropna=False)[y]
    spread = {
        "median": cells.transform("median"),
        "least": cells.transform("min"),
        "most": cells.transform("max"),
    }
    return table.assign(summary=SUMMARIES[how], **spread)


def each_repeat(table: pd.DataFrame, *by: str, y: str) -> list[pd.DataFrame]:
    """The cells as repeat 0 alone gives them, then repeat 1, and so on; a cell of fewer repeats gives its own in turn."""
    known = table.dropna(subset=[y]).sort_values("repeat", kind="stable")
    cells = [(place, mine[y].to_numpy()) for place, mine in known.groupby(list(by), sort=False)]
    most = max((len(mine) for _, mine in cells), default=0)
    return [
        pd.DataFrame([(*place, mine[k % len(mine)]) for place, mine in cells], columns=[*by, y])
        for k in range(most)
    ]


def how_of(table: pd.DataFrame) -> str:
    """The one summary that rows with their spread name."""
    (column,) = table["summary"].unique()
    return next(how for how, name in SUMMARIES.items() if name == column)
