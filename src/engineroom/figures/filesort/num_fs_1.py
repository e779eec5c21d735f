"""The filesort article's times: all columns, ORDER BY an unindexed column, LIMIT 1, in the old design and in the new."""

from __future__ import annotations

from engineroom.figures.filesort.pairs import pairs
from engineroom.figures.parts import Rows, Words, all_rows, ratios

rows = all_rows
picture = pairs({"limit_1": "with the\nlong column", "no_long_column": "without it"}, "CPU seconds", log=True)


def words(table: Rows) -> Words:
    """The ratio with and without the long column."""
    ratio, published = ratios(table, "like_8_0", "like_5_6")
    return Words(
        alt=f"Dots of CPU seconds. With the long column the new design takes {ratio['limit_1']:.1f} times as long as the old one, published "
        f"{published['limit_1']:.1f}; without it {ratio['no_long_column']:.1f} times.",
        caption=f"For one row of the result the new design takes {ratio['limit_1']:.1f} times the CPU time of the old one (published: "
        f"{published['limit_1']:.1f} times); without the long column {ratio['no_long_column']:.1f} times.",
    )
