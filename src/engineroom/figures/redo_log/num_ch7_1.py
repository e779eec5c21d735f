"""The chapter's statement on fewer than 50 connections: throughput over the log of 5.7 and of 8.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.curves import curves, middle, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "concurrency", "throughput"
LABELS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}
SHORT = {"old_redo": "5.7", "new_redo": "8.0"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats; the source gives no number."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two lines."""
    curves(
        table,
        ax,
        x=X,
        y=Y,
        labels=LABELS,
        short=SHORT,
        x_label="clients, log scale",
        y_label="transactions a second, log scale",
    )


def words(table: pd.DataFrame) -> Words:
    """The ratio of the two at each x."""
    of = middle(table, x=X, y=Y)
    ratio = of["new_redo"] / of["old_redo"]
    slower = [f"{n:g}" for n, value in ratio.items() if value < 1]
    where = f"slower at {', '.join(slower)} clients" if slower else "slower nowhere"
    return Words(
        alt=(
            "Log-log line chart of transactions a second against clients. Log of 8.0 over log of 5.7: "
            + ", ".join(f"{value:.3f} at {n:g}" for n, value in ratio.items())
            + "."
        ),
        caption=f"Below 50 clients the log of 8.0 is {where}, of those that were tried; the largest loss is {100 * (1 - ratio.min()):.1f} %.",
    )
