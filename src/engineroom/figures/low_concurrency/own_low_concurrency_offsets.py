"""Our own figure: CPU time to find the fields of a record, in kernels."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, ends
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

LABELS = {
    "v57": "5.7",
    "v80": "8.0: asked for each field",
    "hoisted": "asked for each record",
    "by_state": "a loop for each state",
}
# Tables without INSTANT columns, which most are.
rows = partial(
    side_by_side.rows, by=("columns", "row_versions", "series"), y="record_ns", where="row_versions == 0"
)
picture = Curves(
    x="columns",
    labels=LABELS,
    narrow={"v57": "5.7", "v80": "8.0", "hoisted": "record", "by_state": "loops"},
    x_label="fields of a record",
    y_label="CPU ns per record",
)


def words(table: pd.DataFrame) -> Words:
    """The ends of the lines."""
    of = ours(table).droplevel("row_versions")
    asked, hoisted = (of[series] / of["v57"] for series in ("v80", "hoisted"))
    few, many = asked.index[[0, -1]]
    said = "; ".join(f"{label}: {ends(of[series], '{:.0f}')}" for series, label in LABELS.items())
    return Words(
        alt=f"Log-log line chart of CPU nanoseconds per record against its fields, no INSTANT columns. {said}.",
        caption=f"Without any INSTANT column, finding the fields takes {asked.median():.2f} times as long with the question asked for "
        f"each field as without it ({few} to {many} fields); asked once per record, {hoisted.median():.2f} times.",
    )
