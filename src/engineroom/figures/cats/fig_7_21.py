"""Figure 7-21: TPC-C with 1000 warehouses, FIFO against CATS."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.cats import LABELS
from engineroom.figures.compared import compared
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import rows

__all__ = ["picture", "rows", "words"]

picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per minute")


def words(table: pd.DataFrame) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per minute", over="cats", under="fifo")
