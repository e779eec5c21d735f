"""The one form in which our rows and the published ones stand together: place, series, repeat, value, source and spread.

What judges takes `measured`, what draws takes `rows`: the same repeats and the same summary of them (`engineroom.summary`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.errors import EngineRoomError
from engineroom.summary import with_spread

if TYPE_CHECKING:
    from engineroom.runs import Run

__all__ = ["OURS", "PUBLISHED", "measured", "rows"]

OURS, PUBLISHED = "ours", "published"


def measured(run: Run, *by: str, y: str) -> pd.DataFrame:
    """The rows of `run` that have a value, checked: all columns are there and no cell has two values in one repeat."""
    lacking = [name for name in (*by, y) if name not in run.table.columns]
    if lacking:
        raise EngineRoomError(
            f"a run of {run.figure} lacks the column {', '.join(lacking)}",
            remedy=f"deliver the columns {', '.join(by)}, {y} and repeat, as figures.yaml names them",
        )
    table = run.table.dropna(subset=[y])
    if "repeat" not in table.columns:
        table = table.assign(repeat=0)
    if table.duplicated([*by, "repeat"]).any():
        raise EngineRoomError(
            f"a run of {run.figure} measures the same {' and '.join(by)} twice in one repeat",
            remedy="number the repeats from 0 in the column 'repeat'",
        )
    return table


def rows(
    run: Run, *by: str, y: str | None = None, keep: Sequence[str] = (), where: str | None = None
) -> pd.DataFrame:
    """Our repeats by `by`, then what the source published: columns `by`, `repeat`, y, `keep`, `source`, `method` and the spread.

    Without `by` and `y`, they are the x column, the series and the y column that `figures.yaml` names. `keep` names further columns of
    ours to take along, and `where` picks rows, ours and published.
    """
    if y is None:
        x, y = published.columns(run.figure)
        by = (x, "series")
    ours = measured(run, *by, y=y)[[*by, "repeat", y, *keep]].assign(source=OURS, method=run.method)
    parts = [ours, _published(run.figure, *by, y=y, keep=keep)]
    table = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    if where is not None:
        table = table.query(where).reset_index(drop=True)
    return with_spread(table, "source", *by, y=y, how=run.summary)


def _published(figure: str, *by: str, y: str, keep: Sequence[str]) -> pd.DataFrame:
    """The published values in our columns; none for a figure of our own, or one measured by other columns than the source's."""
    if figure not in published.entries() or set(by) != {published.columns(figure)[0], "series"}:
        return pd.DataFrame()
    theirs = published.in_our_columns(figure)
    if theirs.empty:
        return theirs
    theirs = theirs.rename(columns={published.columns(figure)[1]: y})
    return theirs.assign(
        repeat=0, **{name: "" for name in keep if name not in theirs}, source=PUBLISHED, method=""
    )[[*by, "repeat", y, *keep, "source", "method"]]
