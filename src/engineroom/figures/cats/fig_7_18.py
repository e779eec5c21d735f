"""Figure 7-18: throughput of SysBench's Pareto load with deadlocks printed and not, FIFO against CATS."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = Curves(
    labels={
        "fifo": "FIFO",
        "cats": "CATS",
        "fifo_logging": "FIFO, printing",
        "cats_logging": "CATS, printing",
    },
    x_label="clients",
    y_label="transactions per second",
)


def words(table: pd.DataFrame) -> Words:
    """CATS over FIFO, without printing and with it."""
    mine, published = ours(table), theirs(table)
    silent, printed = (mine[f"cats{how}"] / mine[f"fifo{how}"] for how in ("", "_logging"))
    told, told_printed = (published[f"cats{how}"] / published[f"fifo{how}"] for how in ("", "_logging"))
    last = silent.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per second against clients. CATS over FIFO without printing: {at(silent)}; with "
        f"printing: {at(printed)}. Published without: {at(told)}; with: {at(told_printed)}.",
        caption=f"On the simulated machine at {last:g} clients CATS gives {silent[last]:.2f} times FIFO's throughput when no deadlock "
        f"is printed and {printed[last]:.2f} times when each is; the source measured {told.iloc[-1]:.2f} and {told_printed.iloc[-1]:.2f} times.",
    )
