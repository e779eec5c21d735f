"""Our own figure: CPU time of ten operations of one client in four generations, each over the oldest."""

from __future__ import annotations

from engineroom.experiments.low_concurrency.settings import EQUAL, under
from engineroom.figures.parts import Dots, Rows, Run, Words, as_found, by_release, over, rows_by

SHORT = {
    "parse values": "parse",
    "insert rows": "insert",
    "point select": "point",
    "range scan": "range",
    "full scan": "scan",
    "join by index": "join, index",
    "join by primary key": "join, PK",
    "join without index": "join, none",
    "update an indexed column": "upd. indexed",
    "update another column": "upd. other",
}
picture = Dots(
    rows=as_found("operation"),
    narrow=SHORT,
    series=by_release,
    label="CPU time over that of the oldest",
    log=True,
    floor=0.6,
    line_at=1,
)
_rows = rows_by("operation", y="server_cpu_us")


def rows(run: Run) -> Rows:
    """CPU time with equal settings over the oldest server's, for each repeat."""
    oldest = next(iter(by_release(run.table)))
    return over(
        _rows(run.with_table(under(run.table, EQUAL))), "times_oldest", f"series == '{oldest}'", "operation"
    )


def words(table: Rows) -> Words:
    """How many operations got dearer, and the two ends."""
    oldest, *_, newest = by_release(table)
    times = picture.values(table)[newest][list(as_found("operation")(table))]
    return Words(
        alt=f"Dot plot of server CPU time by operation over that of {oldest}. {picture.said(table)}.",
        caption=f"With equal settings {(times > 1).sum()} of {len(times)} operations of one client cost {newest} more CPU time than {oldest}; the middle one "
        f"costs {times.median():.2f} times as much, '{times.idxmax()}' {times.max():.2f} times and '{times.idxmin()}' {times.min():.2f} times.",
    )
