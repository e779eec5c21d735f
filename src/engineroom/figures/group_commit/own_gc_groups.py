"""Our own figure: fsyncs of the binlog per commit on live servers, by clients, with and without a delay."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

DURABLE = "1/1"
rows = partial(
    side_by_side.rows,
    by=("clients", "series", "setting"),
    y="binlog_fsyncs_per_commit",
    where=f"setting == '{DURABLE}'",
)
LABELS = {name: f"MySQL {name}" for name in ("5.6", "5.7", "8.0", "9.7")}
picture = Curves(x="clients", labels=LABELS, x_label="clients", y_label="binlog fsyncs per commit")


def words(table: pd.DataFrame) -> Words:
    """The first and the last point of each line."""
    of = ours(table).xs(DURABLE, level="setting")
    lines = {name: of[name] for name in LABELS if name in of.index.get_level_values(0)}
    said = ". ".join(f"{LABELS[name]}: {at(line, '{:.2f}')}" for name, line in lines.items())
    first, last = min(table["clients"]), max(table["clients"])
    least = min(line[last] for line in lines.values())
    most = max(line[last] for line in lines.values())
    return Words(
        alt=f"Log-log line chart of binlog fsyncs per commit against clients, both logs durable. {said}.",
        caption=f"From {first} to {last} clients the fsyncs of the binlog fall from one per commit to {least:.2f} to {most:.2f}: a group shares one.",
    )
