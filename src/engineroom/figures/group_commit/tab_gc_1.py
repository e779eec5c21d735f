"""The source's table: throughput with one redo flush per transaction and per group, against clients."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

LABELS = {"original": "a redo flush per transaction", "modified": "one per group"}
picture = Curves(
    labels=LABELS,
    narrow={"original": "per transaction", "modified": "per group"},
    x_label="clients",
    y_label="transactions per second",
    y_log=False,
)


def words(table: pd.DataFrame) -> Words:
    """The gain at each number of clients, ours and the source's."""
    of, published = ours(table), theirs(table)
    gain = of["modified"] / of["original"]
    source = published["modified"] / published["original"]
    return Words(
        alt="Line chart of transactions per second against clients. One redo flush per group over one per "
        f"transaction: {at(gain, '{:.3f}')}. Published: {at(source, '{:.3f}')}.",
        caption=f"With settings that wait for no fsync, one redo flush per group changes throughput by {100 * (gain.min() - 1):+.1f} to "
        f"{100 * (gain.max() - 1):+.1f} %; published were {100 * (source.min() - 1):+.1f} to {100 * (source.max() - 1):+.1f} %.",
    )
