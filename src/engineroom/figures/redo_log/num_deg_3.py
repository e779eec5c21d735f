"""The degradation article's statement on committing a mini-transaction: nanoseconds in the instructions of 5.7 and 8.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.curves import curves, middle, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "threads", "nanoseconds"
LABELS = {
    "mtr_5_7": "5.7",
    "mtr_8_0": "8.0",
    "mtr_8_0_writer_threads_off": "8.0, writer threads off",
}
SHORT = {**LABELS, "mtr_8_0_writer_threads_off": "8.0 off"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats; the source gives no number."""
    return with_published(run, x=X, y=Y)


def _summary(table: pd.DataFrame) -> str:
    return "min" if set(table["method"]) == {"kernel"} else "median"


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a design."""
    curves(
        table,
        ax,
        x=X,
        y=Y,
        labels=LABELS,
        short=SHORT,
        x_label="threads, log scale",
        y_label="ns a commit, log scale",
        summary=_summary(table),
    )


def words(table: pd.DataFrame) -> Words:
    """One thread, and the most."""
    of = middle(table, x=X, y=Y, summary=_summary(table))
    old, off, new = of["mtr_5_7"], of["mtr_8_0_writer_threads_off"], of["mtr_8_0"]
    most = new.index[-1]

    def said(series: str) -> str:
        return f"{LABELS[series]}: " + ", ".join(f"{value:.0f} at {n:g}" for n, value in of[series].items())

    return Words(
        alt=f"Log-log line chart of nanoseconds a committed mini-transaction against threads. {'; '.join(map(said, LABELS))}.",
        caption=(
            f"Alone, a commit takes {old.iloc[0]:.0f} ns in the design of 5.7; in that of 8.0 {off.iloc[0]:.0f} ns with the log's "
            f"threads off and {new.iloc[0]:.0f} with them on. With {most:g} threads: {old[most]:.0f}, {off[most]:.0f} and {new[most]:.0f} ns."
        ),
    )
