"""The one form in which our rows and the published ones stand together: place, series, repeat, value, source and spread.

What judges takes `measured`, what draws takes `rows`: the same repeats and the same summary of them (`engineroom.runs.summary`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.runs import published
from engineroom.runs.summary import SPREAD, how_of, values, with_spread

if TYPE_CHECKING:
    from engineroom.runs import Run

__all__ = ["OURS", "PUBLISHED", "cell", "measured", "ours", "over", "rows", "theirs", "valued"]

OURS, PUBLISHED = "ours", "published"


def measured(run: Run, *by: str, y: str) -> pd.DataFrame:
    """The rows of `run` that have a value, checked: all columns are there and no cell has two values in one repeat."""
    lacking = [name for name in (*by, y) if name not in run.table.columns]
    if lacking:
        raise EngineRoomError(
            f"a run of {run.figure} lacks the column {', '.join(lacking)}",
            remedy=f"deliver the columns {', '.join(by)}, {y} and repeat, as figures.yaml names them",
        )
    table = run.table[run.table[y].notna()]
    if "repeat" not in table.columns:
        table = table.assign(repeat=0)
    if table.duplicated([*by, "repeat"]).any():
        raise EngineRoomError(
            f"a run of {run.figure} measures the same {' and '.join(by)} twice in one repeat",
            remedy="number the repeats from 0 in the column 'repeat'",
        )
    return table


def rows(
    run: Run,
    *,
    by: Sequence[str] = (),
    y: str = "",
    keep: Sequence[str] | None = None,
    where: str | None = None,
) -> pd.DataFrame:
    """Our repeats, then what the source published: the place, `repeat`, the value, `keep`, `source`, `method` and the spread.

    Place and value are the x column with the series and the y column that `figures.yaml` names for the figure; a figure of our own names
    them as `by` and `y`, and keeps all its further columns unless told which. What one side lacks of `keep` is empty there; `where`
    picks rows of either.
    """
    theirs = pd.DataFrame()
    if not y:
        x, y = published.columns(run.figure, run.method)
        by = (x, "series")
        keep = keep or ()
        theirs = published.in_our_columns(run.figure, run.method).assign(
            repeat=0, source=PUBLISHED, method=""
        )
    ours = measured(run, *by, y=y).assign(source=OURS, method=run.method)
    if keep is None:
        keep = [name for name in ours.columns if name not in (*by, "repeat", y, "source", "method")]
    columns = [*by, "repeat", y, *keep, "source", "method"]
    parts = [
        part.assign(**{name: "" for name in keep if name not in part})[columns]
        for part in (ours, theirs)
        if not part.empty
    ]
    table = pd.concat(parts, ignore_index=True)
    if where is not None:
        table = table.query(where).reset_index(drop=True)
    return _with_spread(table, run.summary)


def valued(table: pd.DataFrame, name: str, column: Sequence[float] | pd.Series[float]) -> pd.DataFrame:
    """The rows with `column` as their value, under `name`; the old value is kept behind it."""
    _, y = cell(table)
    renewed = table.drop(columns=["summary", *SPREAD], errors="ignore")
    renewed.insert(list(renewed.columns).index(y), name, np.asarray(column))
    return _with_spread(renewed, how_of(table))


def over(table: pd.DataFrame, name: str, reference: str, *within: str) -> pd.DataFrame:
    """The rows with, as `name`, their value over the one of `reference`, a query, in the same `source` and `within`."""
    _, y = cell(table)
    by = ["source", *within]
    base = values(table.query(reference), *by, y=y).rename("_base").reset_index()
    bases = table[by].merge(base, on=by, how="left")["_base"]
    return valued(table, name, table[y].to_numpy() / bases.to_numpy())


def cell(table: pd.DataFrame) -> tuple[tuple[str, ...], str]:
    """Which columns of such rows say where a value stands, left of `repeat`, and which is the value, right of it."""
    names = [str(name) for name in table.columns]
    at = names.index("repeat")
    return tuple(names[:at]), names[at + 1]


def ours(table: pd.DataFrame) -> pd.Series[Any]:
    """Our value of each cell: `ours(table)["hash_join", "9.7.4"]`, the series before the rest of the place."""
    return _of(table, OURS)


def theirs(table: pd.DataFrame) -> pd.Series[Any]:
    """The published value of each cell, as `ours`."""
    return _of(table, PUBLISHED)


def _of(table: pd.DataFrame, source: str) -> pd.Series[Any]:
    place, y = cell(table)
    by = sorted(place, key=lambda name: name != "series")
    return values(table[table["source"] == source], *by, y=y)


def _with_spread(table: pd.DataFrame, how: str) -> pd.DataFrame:
    place, y = cell(table)
    return with_spread(table, "source", *place, y=y, how=how)
