"""Figure 7-6: fsyncs per transaction against clients, with the CPU gate of the log threads on and off."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

LABELS = {
    "flushes": "8.0",
    "old_redo": "5.7",
    "writer_threads_off": "8.0, writer threads off",
    "no_cpu_gate": "8.0, no CPU gate",
    "5.6": "5.6",
    "9.7_writer_threads_on": "9.7, writer threads on",
    "9.7_writer_threads_off": "9.7, writer threads off",
}
# The published line counts flushes without saying which; ours are redo fsyncs over commits.
picture = Curves(
    labels=LABELS,
    narrow={
        "writer_threads_off": "8.0 off",
        "no_cpu_gate": "8.0 no gate",
        "9.7_writer_threads_on": "9.7 on",
        "9.7_writer_threads_off": "9.7 off",
    },
    x_label="clients",
    y_label="flushes per transaction",
)


def words(table: pd.DataFrame) -> Words:
    """Where the new log's curve peaks, with and without the gate."""
    of = {str(series): line.droplevel(0) for series, line in ours(table).groupby(level=0)}
    new, old = of["flushes"], of["old_redo"]
    more = ""
    if "no_cpu_gate" in of:
        free = of["no_cpu_gate"]
        more = f" Without the CPU gate: {free.max():.1f} at {free.idxmax():g}."
    if "9.7_writer_threads_on" in of:
        on, off = of["9.7_writer_threads_on"], of["9.7_writer_threads_off"]
        more = f" 9.7 with one client: {on[1]:.2f} with its log threads on, {off[1]:.2f} with them off."
    said = ". ".join(f"{label}: {at(of[series])}" for series, label in LABELS.items() if series in of)
    return Words(
        alt=f"Log-log line chart of redo fsyncs per transaction against clients. {said}. "
        f"Published for 8.0: {at(theirs(table)['flushes'], '{:g}')}.",
        caption=f"The log of 8.0 flushes most with {new.idxmax():g} {'client' if new.idxmax() == 1 else 'clients'}, "
        f"{new.max():.1f} times per transaction, the log of 5.7 at most {old.max():.2f} times.{more}",
    )
