"""Our own figure: fsyncs of the binlog per commit on live servers, by clients, with and without a delay."""

from __future__ import annotations

from functools import partial

from engineroom.figures.parts import Curves, Rows, Words, all_rows

Y = "binlog_fsyncs_per_commit"
rows = partial(all_rows, by=("clients", "series", "setting"), y=Y, where="setting == '1/1'")
LABELS = {name: f"MySQL {name}" for name in ("5.6", "5.7", "8.0", "9.7")}
picture = Curves(x="clients", labels=LABELS, x_label="clients", y_label="binlog fsyncs per commit")


def words(table: Rows) -> Words:
    """All points, and the last of each line."""
    first, last = min(table["clients"]), max(table["clients"])
    at_last = picture.values(table)[:, last]
    return Words(
        alt=picture.alt(table, more="Both logs are durable."),
        caption=f"From {first} to {last} clients the fsyncs of the binlog fall from one per commit to {at_last.min():.2f} to "
        f"{at_last.max():.2f}: a group shares one.",
    )
