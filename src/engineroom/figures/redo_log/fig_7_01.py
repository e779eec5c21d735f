"""Figure 7-1: throughput against clients over the log of 5.7 and of 8.0, the redo part alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.curves import curves, middle, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "concurrency", "tpmC"
LABELS = {"before": "log of 5.7", "after": "log of 8.0"}
SHORT = {"before": "5.7", "after": "8.0"}


def rows(run: Run) -> pd.DataFrame:
    """Ours in transactions a minute of our own load; only ratios compare with the published ones."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two lines of ours, two published."""
    curves(
        table,
        ax,
        x=X,
        y=Y,
        labels=LABELS,
        short=SHORT,
        x_label="clients, log scale",
        y_label="transactions a minute, log scale",
    )


def words(table: pd.DataFrame) -> Words:
    """The ratio of the two at each x."""
    of = middle(table, x=X, y=Y)
    ratio = of["after"] / of["before"]
    first, last = ratio.index[0], ratio.index[-1]
    return Words(
        alt=(
            "Log-log line chart of transactions a minute against clients. Log of 8.0 over log of 5.7: "
            + ", ".join(f"{value:.2f} at {n:g}" for n, value in ratio.items())
            + ". Published: 0.99 at 50, 1.36 at 100, 0.80 at 300."
        ),
        caption=(
            f"With nothing but the redo log to wait for, the log of 8.0 gives {ratio[first]:.2f} times the throughput of "
            f"5.7's at {first:g} clients and {ratio[last]:.1f} times at {last:g}; the source measured a loss there."
        ),
    )
