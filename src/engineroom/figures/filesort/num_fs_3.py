"""The filesort article's flame graph: the share of CPU time that goes into converting rows."""

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
LABELS = {"row_conversion": "row conversion", "reading": "reading, the\nwhole scan"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats, then the published values."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two marks a line."""
    dots(table, ax, x=X, y=Y, labels=LABELS, y_label="percent of the server's CPU time", log=False)


def words(table: pd.DataFrame) -> Words:
    """Both shares beside the published ones."""
    of = summarised(table, x=X, y=Y)

    def said(part: str) -> str:
        ours, theirs = (
            " and ".join(f"{of[source, part, series]:.0f}" for series in ("like_5_6", "like_8_0"))
            for source in ("ours", "published")
        )
        return f"{ours} percent (published {theirs})"

    return Words(
        alt=(
            f"Dots of shares of CPU time, like 5.6 and like 8.0. Row conversion {said('row_conversion')}; "
            f"reading {said('reading')}."
        ),
        caption=f"Converting rows takes {said('row_conversion')} of the server's CPU time, like 5.6 and like 8.0.",
    )
