"""Our own figure: row locks per second of clients that share no row, by what guards the queues, simulated."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours

__all__ = ["LABELS", "picture", "rows", "words"]

LABELS = {
    "sharded": "512 shards, 9.7",
    "sharded_one_part": "global latch in one part",
    "sharded_one_shard": "one shard",
    "one_mutex": "one mutex, 5.7",
}
NARROW = {"sharded": "512 shards", "sharded_one_part": "one part", "one_mutex": "one mutex"}

rows = partial(side_by_side.rows, by=("clients", "series"), y="row_locks_per_second")
picture = Curves(x="clients", labels=LABELS, narrow=NARROW, x_label="clients", y_label="row locks per second")


def words(table: pd.DataFrame) -> Words:
    """The first and the last point of each line, and what the shards gain at the end."""
    of = {series: ours(table)[series] for series in LABELS}
    said = ". ".join(f"{LABELS[series]}: {at(line.iloc[[0, -1]], '{:,.0f}')}" for series, line in of.items())
    last = of["sharded"].index[-1]
    over = {series: of["sharded"][last] / line[last] for series, line in of.items()}
    return Words(
        alt=f"Log-log line chart of row locks per second against clients that share no row. {said}.",
        caption=f"With {last} clients on rows of their own, 512 shards let {over['one_mutex']:.1f} times as many locks through as one mutex, "
        f"{over['sharded_one_shard']:.1f} times as many as one shard, and {over['sharded_one_part']:.1f} times as many as with the global latch "
        "in one part.",
    )
