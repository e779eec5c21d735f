"""The filesort article's count: calls of the routine that copies an off-page value, in the old design and in the new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.filesort.pairs import dots, summarised, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "query", "external_field_reads"
LABELS = {"limit_1": "LIMIT 1"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats, then the published values."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two marks a line."""
    dots(table, ax, x=X, y=Y, labels=LABELS, y_label="values read from off-page, log scale", log=True)


def words(table: pd.DataFrame) -> Words:
    """The counts beside the rows scanned."""
    of = summarised(table, x=X, y=Y)
    old, new, scanned = (of["ours", "limit_1", series] for series in ("like_5_6", "like_8_0", "rows_scanned"))
    return Words(
        alt=f"Dots of off-page values read for one row of the result: {old:,.0f} like 5.6, {new:,.0f} like 8.0, of {scanned:,.0f} rows.",
        caption=(
            f"For one row of the result the old design reads {old:,.0f} long value{'' if old == 1 else 's'}, the new one {new:,.0f}, "
            f"of {scanned:,.0f} rows scanned (published: 1 and 300,000, of 300,000)."
        ),
    )
