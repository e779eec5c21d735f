"""The source's table: throughput with one redo flush per transaction and per group, against clients."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, at, ratios

LABELS = {"original": "a redo flush per transaction", "modified": "one per group"}
SHORT = {"original": "per transaction", "modified": "per group"}
Y = "transactions per second"
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label=Y, y_log=False)


def words(table: Rows) -> Words:
    """The gain at each number of clients, ours and the source's."""
    gain, source = ratios(table, "modified", "original")
    (low, high), (least, most) = ((100 * (of.min() - 1), 100 * (of.max() - 1)) for of in (gain, source))
    return Words(
        alt=f"Line chart of {Y} against clients. One redo flush per group over one per transaction: {at(gain, '{:.3f}')}. "
        f"Published: {at(source, '{:.3f}')}.",
        caption=f"With settings that wait for no fsync, one redo flush per group changes throughput by {low:+.1f} to {high:+.1f} %; "
        f"published were {least:+.1f} to {most:+.1f} %.",
    )
