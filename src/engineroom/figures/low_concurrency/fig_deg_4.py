"""Degradation article, figure 4: time of a join, stock over optimized."""

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
    """Repeats and published bars, each over its own stock build."""
    return both(run, series="join_time", y="seconds")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row a build."""
    picture_of(table, ax, x_label="time over that of the stock build")


def words(table: pd.DataFrame) -> Words:
    """The claim's ratio, ours and published."""
    return words_of(table, what="time of a join, stock over optimized", over="stock", under="optimized")
