"""The filesort article's second observation: how much of a sort by the long column is reading."""

from __future__ import annotations

from engineroom.figures.filesort.pairs import CPU_SHARE, both, pairs
from engineroom.figures.parts import Rows, Words, all_rows, ours, theirs

rows = all_rows
picture = pairs({"reading": "reading"}, CPU_SHARE, log=False)


def words(table: Rows) -> Words:
    """Both shares beside the published ones."""
    said, published = (both(of, "reading") for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Dots of the share of reading when the sort is by the long column: ours {said} percent, published {published} percent.",
        caption=f"Sorted by the long column itself, reading takes {said} percent of our servers' CPU time, like 5.6 and like 8.0; "
        f"published are {published}.",
    )
