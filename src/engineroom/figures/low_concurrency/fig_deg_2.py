"""Degradation article, figure 2: rate of bulk insert, newer over older."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.low_concurrency.build_pairs import both, picture_of, words_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.figures.drawing import Words
    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """Repeats and published bars, each over its own older build."""
    return both(run, series="bulk_insert", y="statements_per_second")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row a build."""
    picture_of(table, ax, x_label="rate over that of the older")


def words(table: pd.DataFrame) -> Words:
    """The claim's ratio, ours and published."""
    return words_of(
        table, what="rate of bulk insert per CPU second, newer over older", over="newer", under="older"
    )
