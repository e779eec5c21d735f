"""The filesort article's second observation: how much of a sort by the long column is reading."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.filesort.pairs import both, pairs
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = pairs({"reading": "reading"}, "percent of the server's CPU time", log=False)


def words(table: pd.DataFrame) -> Words:
    """Both shares beside the published ones."""
    said, published = (both(of, "reading") for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Dots of the share of reading when the sort is by the long column: ours {said} percent, published {published} percent.",
        caption=f"Sorted by the long column itself, reading takes {said} percent of our servers' CPU time, like 5.6 and like 8.0; "
        f"published are {published}.",
    )
