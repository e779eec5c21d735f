"""The filesort article's flame graph: the share of CPU time that goes into converting rows."""

from __future__ import annotations

from engineroom.figures.filesort.pairs import CPU_SHARE, both, pairs
from engineroom.figures.parts import Rows, Words, all_rows, ours, theirs

rows = all_rows
PARTS = {"row_conversion": "row conversion", "reading": "reading, the\nwhole scan"}
picture = pairs(PARTS, CPU_SHARE, log=False)


def words(table: Rows) -> Words:
    """Both shares beside the published ones."""
    of, published = ours(table), theirs(table)
    conversion, reading = (
        f"{both(of, part)} percent (published {both(published, part)})"
        for part in ("row_conversion", "reading")
    )
    return Words(
        alt=f"Dots of shares of CPU time, like 5.6 and like 8.0. Row conversion {conversion}; reading {reading}.",
        caption=f"Converting rows takes {conversion} of the server's CPU time, like 5.6 and like 8.0.",
    )
