"""Figure 7-18: throughput of SysBench's Pareto load with deadlocks printed and not, FIFO against CATS."""

from __future__ import annotations

from engineroom.figures.cats import LABELS
from engineroom.figures.parts import Curves, Rows, Words, all_rows, at, ratios

PRINTING = {f"{series}_logging": f"{label}, printing" for series, label in LABELS.items()}
rows = all_rows
picture = Curves(labels=LABELS | PRINTING, x_label="clients", y_label="transactions per second")


def words(table: Rows) -> Words:
    """CATS over FIFO, without printing and with it."""
    silent, told = ratios(table, "cats", "fifo")
    printed, told_printed = ratios(table, "cats_logging", "fifo_logging")
    last = silent.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per second against clients. CATS over FIFO without printing: {at(silent)}; with "
        f"printing: {at(printed)}. Published without: {at(told)}; with: {at(told_printed)}.",
        caption=f"On the simulated machine at {last:g} clients CATS gives {silent[last]:.2f} times FIFO's throughput when no deadlock "
        f"is printed and {printed[last]:.2f} times when each is; the source measured {told.iloc[-1]:.2f} and {told_printed.iloc[-1]:.2f} times.",
    )
