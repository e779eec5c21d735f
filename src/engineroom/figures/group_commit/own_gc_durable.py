"""Our own figure: fsyncs of both logs per transaction where each commit is durable, by design and clients, simulated."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

LABELS = {"serialised": "5.5", "original": "5.6", "modified": "5.7.6"}


rows = partial(side_by_side.rows, by=("threads", "series"), y="fsyncs_per_transaction")
picture = Curves(labels=LABELS, x_label="clients", y_label="fsyncs of both logs per transaction")


def words(table: pd.DataFrame) -> Words:
    """The first and the last point of each line."""
    of = {series: ours(table)[series] for series in LABELS}
    said = ". ".join(f"{LABELS[series]}: {at(line, '{:.2f}')}" for series, line in of.items())
    last = max(of["modified"].index)
    return Words(
        alt=f"Log-log line chart of fsyncs per transaction against clients. {said}.",
        caption=f"With {last:g} clients a durable commit takes {of['serialised'][last]:.2f} fsyncs as 5.5 did it, "
        f"{of['original'][last]:.2f} in the stages of 5.6 and {of['modified'][last]:.2f} with one redo flush per group.",
    )
