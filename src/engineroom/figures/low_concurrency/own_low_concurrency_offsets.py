"""Our own figure: CPU time to find the fields of a record, in kernels."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, ends, rows_by

LABELS = {
    "v57": "5.7",
    "v80": "8.0: asked for each field",
    "hoisted": "asked for each record",
    "by_state": "a loop for each state",
}
SHORT = {"v57": "5.7", "v80": "8.0", "hoisted": "record", "by_state": "loops"}
X, Y = "fields of a record", "CPU ns per record"
# Tables without INSTANT columns, which most are.
rows = rows_by("columns", "row_versions", y="record_ns", where="row_versions == 0")
picture = Curves(x="columns", labels=LABELS, narrow=SHORT, x_label=X, y_label=Y)


def words(table: Rows) -> Words:
    """The ends of the lines."""
    of = picture.values(table)
    asked, hoisted = (of[series] / of["v57"] for series in ("v80", "hoisted"))
    few, many = asked.index[[0, -1]]
    return Words(
        alt=picture.alt(table, "{:.0f}", told=ends, more="There are no INSTANT columns."),
        caption=f"Without any INSTANT column, finding the fields takes {asked.median():.2f} times as long with the question asked for "
        f"each field as without it ({few} to {many} fields); asked once per record, {hoisted.median():.2f} times.",
    )
