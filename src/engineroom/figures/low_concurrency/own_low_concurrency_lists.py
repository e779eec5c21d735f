"""Our own figure: CPU time per row of building and walking the value lists of an INSERT, in kernels."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, ends, ours, rows_by

LABELS = {
    "list_5_7": "list of 5.7",
    "deque_8_0": "deque of 8.0",
    "deque_9_7": "deque of 9.7",
    "reserved": "reserved array",
}
SHORT = {"list_5_7": "list", "deque_8_0": "8.0", "deque_9_7": "9.7", "reserved": "array"}
rows = rows_by("columns", y="row_ns")
picture = Curves(labels=LABELS, narrow=SHORT, x_label="columns of a row", y_label="CPU ns per row")


def words(table: Rows) -> Words:
    """The ends of the lines."""
    ratio = ours(table)["deque_9_7"] / ours(table)["list_5_7"]
    few, many = ratio.index[[0, -1]]
    return Words(
        alt=picture.alt(table, "{:.0f}", told=ends),
        caption=f"Items and calls included, a row of {few} column takes {ratio[few]:.1f} times as long in the deque of 9.7 as in the list "
        f"of 5.7, one of {many} columns {ratio[many]:.1f} times.",
    )
