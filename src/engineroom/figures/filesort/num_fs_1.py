"""The filesort article's times: all columns, ORDER BY an unindexed column, LIMIT 1, in the old design and in the new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.filesort.pairs import dots, summarised, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "query", "seconds"
LABELS = {"limit_1": "with the\nlong column", "no_long_column": "without it"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats, then the published values."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two marks a line."""
    dots(table, ax, x=X, y=Y, labels=LABELS, y_label="CPU seconds, log scale", log=True)


def words(table: pd.DataFrame) -> Words:
    """The ratio with and without the long column."""
    of = summarised(table, x=X, y=Y)

    def ratio(source: str, query: str) -> float:
        return of[source, query, "like_8_0"] / of[source, query, "like_5_6"]

    ours, theirs, without = (
        ratio("ours", "limit_1"),
        ratio("published", "limit_1"),
        ratio("ours", "no_long_column"),
    )
    return Words(
        alt=(
            f"Dots of CPU seconds. With the long column the new design takes {ours:.1f} times as long as the old one, published "
            f"{theirs:.1f}; without it {without:.1f} times."
        ),
        caption=(
            f"For one row of the result the new design takes {ours:.1f} times the CPU time of the old one (published: {theirs:.1f} "
            f"times); without the long column {without:.1f} times."
        ),
    )
