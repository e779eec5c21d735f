"""The read-view article's cost and gain: throughput by load, in the design of 5.6, of 5.7, and of 5.7 remedied."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, ours, rows_over, theirs

LOADS = {
    "read_only": "reads only",
    "mixed": "one write\nin five",
    "read_write": "read and write\nin one transaction",
}
SERIES = {"before_5_7": "5.6", "kept": "5.7", "removed_at_once": "5.7, remedied"}
# The published numbers have no unit of their own.
rows = rows_over("throughput_over_5_7", "series == 'kept'", "load")
picture = Dots(
    rows=LOADS,
    series=SERIES,
    label="throughput over 5.7's",
    limits=(0, 1.8),
    line_at=1.0,
    narrow={"read_write": "read and\nwrite"},
)


def words(table: Rows) -> Words:
    """What the remedy costs and brings."""
    left = 100 * ours(table)["removed_at_once"]
    published = 100 * theirs(table)["removed_at_once"]["read_only"]
    return Words(
        alt=f"Dots of throughput, 5.7 being 1. {picture.said(table)}.",
        caption=f"Where nobody writes, removing views at once leaves {left['read_only']:.0f} % of the throughput (published: at least "
        f"{published:.0f} %). With one write in five it leaves {left['mixed']:.0f} %, in transactions that read and write "
        f"{left['read_write']:.0f} %.",
    )
