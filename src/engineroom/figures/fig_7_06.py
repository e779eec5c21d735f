"""Figure 7-6: fsyncs a transaction against clients, with the CPU gate of the log threads on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_curves import curves, middle, with_published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "concurrency", "flushes_per_transaction"
LABELS = {
    "flushes": "8.0",
    "old_redo": "5.7",
    "writer_threads_off": "8.0, writer threads off",
    "no_cpu_gate": "8.0, no CPU gate",
    "5.6": "5.6",
}
SHORT = {
    "flushes": "8.0",
    "old_redo": "5.7",
    "writer_threads_off": "8.0 off",
    "no_cpu_gate": "8.0 no gate",
    "5.6": "5.6",
}


def rows(run: Run) -> pd.DataFrame:
    """Redo fsyncs over commits; the published line counts flushes without saying which."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a design."""
    curves(
        table,
        ax,
        x=X,
        y=Y,
        labels=LABELS,
        short=SHORT,
        x_label="clients, log scale",
        y_label="flushes a transaction, log scale",
    )


def words(table: pd.DataFrame) -> Words:
    """Where the new log's curve peaks, with and without the gate."""
    of = middle(table, x=X, y=Y)
    new, old = of["flushes"], of["old_redo"]
    gate = ""
    if "no_cpu_gate" in of:
        free = of["no_cpu_gate"]
        gate = f" Without the CPU gate: {free.max():.1f} at {free.idxmax():g}."
    return Words(
        alt=(
            "Log-log line chart of redo fsyncs a transaction against clients. 8.0: "
            + ", ".join(f"{value:.2f} at {n:g}" for n, value in new.items())
            + ". 5.7: "
            + ", ".join(f"{value:.2f} at {n:g}" for n, value in old.items())
            + ". Published for 8.0: 2.34 at 1, 9.5 at 3, 7.31 at 10, 2.11 at 50, 1.37 at 100, 0.98 at 200."
        ),
        caption=(
            f"The log of 8.0 flushes most at {new.idxmax():g} client(s), {new.max():.1f} times a transaction, "
            f"that of 5.7 at most {old.max():.2f} times.{gate}"
        ),
    )
