"""The degradation article's kilobyte: bytes of the containers of one inserted row, against its columns."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, at, ours, theirs

LABELS = {"deque_8_0": "deque of 8.0", "list_5_7": "list of 5.7"}
SHORT = {"deque_8_0": "deque", "list_5_7": "list"}
X, Y = "columns of a row", "bytes per row, without items"
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label=X, y_label=Y, x_log=False, y_log=False)


def words(table: Rows) -> Words:
    """One column, and the first width at which the list is as large."""
    deque, listed = (ours(table)[series] for series in LABELS)
    meet = next((int(n) for n in deque.index if listed[n] >= 0.9 * deque[n]), None)
    equal = f"; at {meet} columns the two are about equal" if meet else ""
    how = "from the servers' memory" if "live" in set(table["method"]) else "counted in kernels"
    return Words(
        alt=picture.alt(
            table, "{:.0f}", more=f"They are {how}. Published: {at(theirs(table)['deque_8_0'], '{:.0f}')}."
        ),
        caption=f"A row of one column takes {deque[1]:.0f} bytes of containers in the design of 8.0 and {listed[1]:.0f} in the design of "
        f"5.7, {how}{equal}.",
    )
