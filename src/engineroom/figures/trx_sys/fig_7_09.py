"""Figure 7-9: throughput of TPC-C with one set of active transactions and with shards of it."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.compared import compared
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import rows

__all__ = ["picture", "rows", "words"]

LABELS = {"before": "one set", "after": "shards"}
picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per minute")


def words(table: pd.DataFrame) -> Words:
    """Both, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per minute", over="after", under="before")
