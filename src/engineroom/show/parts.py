"""What a figure's module is made of, under one roof: rows, names, kinds of plot and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from engineroom.runs import Run
from engineroom.runs.side_by_side import ours, over, theirs, valued
from engineroom.runs.side_by_side import rows as all_rows
from engineroom.runs.summary import values
from engineroom.servers.catalogue import release
from engineroom.show.compared import compared, known_ratios, ratios, with_width
from engineroom.show.curves import Curves
from engineroom.show.dots import Dots
from engineroom.show.names import as_found, by_release
from engineroom.show.shares import Bar, Bars, Ranked
from engineroom.show.wording import Words, at, each, each_line, ends

__all__ = [
    "Bar",
    "Bars",
    "Curves",
    "Dots",
    "Ranked",
    "Rows",
    "Run",
    "Words",
    "all_rows",
    "as_found",
    "at",
    "by_release",
    "compared",
    "each",
    "each_line",
    "ends",
    "known_ratios",
    "ours",
    "over",
    "ratios",
    "release",
    "rows_by",
    "rows_over",
    "theirs",
    "valued",
    "values",
    "with_width",
]

Rows = pd.DataFrame
Maker = Callable[[Run], Rows]


def rows_by(*by: str, y: str, keep: Sequence[str] | None = None, where: str | None = None) -> Maker:
    """All rows of a run by these columns and the series, with `y` as their value."""
    return partial(all_rows, by=(*by, "series"), y=y, keep=keep, where=where)


def rows_over(name: str, reference: str, *within: str, of: Maker = all_rows) -> Maker:
    """The rows `of` a run with, as `name`, their value over the one of `reference`, a query, in the same source and `within`."""
    return lambda run: over(of(run), name, reference, *within)
