"""Figure 7-6: fsyncs a transaction against clients, with the CPU gate of the log threads on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.curves import curves, middle, with_published

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
    "9.7_writer_threads_on": "9.7, writer threads on",
    "9.7_writer_threads_off": "9.7, writer threads off",
}
SHORT = {
    **LABELS,
    "writer_threads_off": "8.0 off",
    "no_cpu_gate": "8.0 no gate",
    "9.7_writer_threads_on": "9.7 on",
    "9.7_writer_threads_off": "9.7 off",
}


def rows(run: Run) -> pd.DataFrame:
    """Redo fsyncs over commits; the published line counts flushes without saying which."""
    return with_published(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a design, or a server with its setting."""
    drawn = set(table["series"])
    curves(
        table,
        ax,
        x=X,
        y=Y,
        labels={series: label for series, label in LABELS.items() if series in drawn},
        short={series: label for series, label in SHORT.items() if series in drawn},
        x_label="clients, log scale",
        y_label="flushes a transaction, log scale",
    )


def words(table: pd.DataFrame) -> Words:
    """Where the new log's curve peaks, with and without the gate."""
    of = middle(table, x=X, y=Y)
    new, old = of["flushes"], of["old_redo"]
    more = ""
    if "no_cpu_gate" in of:
        free = of["no_cpu_gate"]
        more = f" Without the CPU gate: {free.max():.1f} at {free.idxmax():g}."
    if "9.7_writer_threads_on" in of:
        on, off = of["9.7_writer_threads_on"], of["9.7_writer_threads_off"]
        more = f" 9.7 with one client: {on[1]:.2f} with its log threads on, {off[1]:.2f} with them off."

    def said(series: str) -> str:
        return f"{LABELS[series]}: " + ", ".join(f"{value:.2f} at {n:g}" for n, value in of[series].items())

    return Words(
        alt=(
            "Log-log line chart of redo fsyncs a transaction against clients. "
            + ". ".join(said(series) for series in LABELS if series in of)
            + ". Published for 8.0: 2.34 at 1, 9.5 at 3, 7.31 at 10, 2.11 at 50, 1.37 at 100, 0.98 at 200."
        ),
        caption=(
            f"The log of 8.0 flushes most with {new.idxmax():g} {'client' if new.idxmax() == 1 else 'clients'}, "
            f"{new.max():.1f} times a transaction, that of 5.7 at most {old.max():.2f} times.{more}"
        ),
    )
