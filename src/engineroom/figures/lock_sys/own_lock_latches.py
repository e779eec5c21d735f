"""Our own figure: row locks per second of clients that share no row, by what guards the queues, simulated."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, ends, rows_by

LABELS = {
    "sharded": "512 shards, 9.7",
    "sharded_one_part": "global latch in one part",
    "sharded_one_shard": "one shard",
    "one_mutex": "one mutex, 5.7",
}
SHORT = {"sharded": "512 shards", "sharded_one_part": "one part", "one_mutex": "one mutex"}
rows = rows_by("clients", y="row_locks_per_second")
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label="row locks per second")


def words(table: Rows) -> Words:
    """The first and the last point of each line, and what the shards gain at the end."""
    last = table["clients"].max()
    at_last = picture.values(table)[:, last]
    over = at_last["sharded"] / at_last
    return Words(
        alt=picture.alt(table, "{:,.0f}", told=ends, more="The clients share no row."),
        caption=f"With {last} clients on rows of their own, 512 shards let {over['one_mutex']:.1f} times as many locks through as one mutex, "
        f"{over['sharded_one_shard']:.1f} times as many as one shard, and {over['sharded_one_part']:.1f} times as many as with the global latch "
        "in one part.",
    )
