"""The filesort article's second observation: how much of a sort by the long column is reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.filesort.pairs import dots, summarised, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "part", "share_percent"
LABELS = {"reading": "reading"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats, then the published values."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two marks a line."""
    dots(table, ax, x=X, y=Y, labels=LABELS, y_label="percent of the server's CPU time", log=False)


def words(table: pd.DataFrame) -> Words:
    """Both shares beside the published ones."""
    of = summarised(table, x=X, y=Y)
    ours, theirs = (
        " and ".join(f"{of[source, 'reading', series]:.0f}" for series in ("like_5_6", "like_8_0"))
        for source in ("ours", "published")
    )
    return Words(
        alt=f"Dots of the share of reading when the sort is by the long column: ours {ours} percent, published {theirs} percent.",
        caption=(
            f"Sorted by the long column itself, reading takes {ours} percent of our servers' CPU time, like 5.6 and like 8.0; "
            f"published are {theirs}."
        ),
    )
