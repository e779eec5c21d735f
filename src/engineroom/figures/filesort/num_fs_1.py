"""The filesort article's times: all columns, ORDER BY an unindexed column, LIMIT 1, in the old design and in the new."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.filesort.pairs import pairs
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = pairs({"limit_1": "with the\nlong column", "no_long_column": "without it"}, "CPU seconds", log=True)


def words(table: pd.DataFrame) -> Words:
    """The ratio with and without the long column."""
    ratio, published = (of["like_8_0"] / of["like_5_6"] for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Dots of CPU seconds. With the long column the new design takes {ratio['limit_1']:.1f} times as long as the old one, published "
        f"{published['limit_1']:.1f}; without it {ratio['no_long_column']:.1f} times.",
        caption=f"For one row of the result the new design takes {ratio['limit_1']:.1f} times the CPU time of the old one (published: "
        f"{published['limit_1']:.1f} times); without the long column {ratio['no_long_column']:.1f} times.",
    )
