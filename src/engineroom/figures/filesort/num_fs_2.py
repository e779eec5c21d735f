"""The filesort article's count: calls of the routine that copies an off-page value, in the old design and in the new."""

from __future__ import annotations

from engineroom.figures.filesort.pairs import both, pairs
from engineroom.figures.parts import Rows, Words, all_rows, ours, theirs

rows = all_rows
picture = pairs({"limit_1": "LIMIT 1"}, "values read from off-page", log=True)


def words(table: Rows) -> Words:
    """The counts beside the rows scanned."""
    of, published = ours(table)[:, "limit_1"], theirs(table)
    old, new, scanned = (of[series] for series in ("like_5_6", "like_8_0", "rows_scanned"))
    return Words(
        alt=f"Dots of off-page values read for one row of the result: {old:,.0f} like 5.6, {new:,.0f} like 8.0, of {scanned:,.0f} rows.",
        caption=f"For one row of the result the old design reads {old:,.0f} long value{'' if old == 1 else 's'}, the new one {new:,.0f}, "
        f"of {scanned:,.0f} rows scanned (published: {both(published, 'limit_1', '{:,.0f}')}, of "
        f"{published['rows_scanned', 'limit_1']:,.0f}).",
    )
