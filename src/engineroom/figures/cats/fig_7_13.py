"""Figure 7-13: the vendor's chart of FIFO and CATS, whose machine and load are not told, beside SysBench's Pareto load."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.compared import compared
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import rows

__all__ = ["picture", "rows", "words"]

# The rows have the mean response times, too, which are not drawn.
THROUGHPUT = {"fifo_tps": "FIFO", "cats_tps": "CATS"}

picture = Curves(
    labels=THROUGHPUT,
    x_label="clients",
    y_label="transactions per second",
    where=f"series in {tuple(THROUGHPUT)}",
)


def words(table: pd.DataFrame) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, THROUGHPUT, "transactions per second", over="cats_tps", under="fifo_tps")
