"""The filesort article's flame graph: the share of CPU time that goes into converting rows."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.filesort.pairs import both, pairs
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = pairs(
    {"row_conversion": "row conversion", "reading": "reading, the\nwhole scan"},
    "percent of the server's CPU time",
    log=False,
)


def words(table: pd.DataFrame) -> Words:
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
