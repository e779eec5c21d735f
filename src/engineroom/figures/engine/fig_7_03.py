"""Figure 7-3: throughput of TPC-C on 5.7 as it is, with other latches, and with another redo log as well."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.compared import compared
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import rows

__all__ = ["picture", "rows", "words"]

LABELS = {"original": "5.7", "patched": "5.7, patched", "new_redo": "with the redo log of 8.0"}
picture = Curves(
    labels=LABELS,
    narrow={"patched": "patched", "new_redo": "redo of 8.0"},
    x_label="clients",
    y_label="transactions per minute",
)


def words(table: pd.DataFrame) -> Words:
    """The patched engine over the original, beside the published ratio."""
    return compared(table, LABELS, "transactions per minute", over="patched", under="original")
