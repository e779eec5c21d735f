"""Figure 7-22: the index nested loop that the source measured on MySQL 5.7, beside the other plans of its query."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.hash_join.plans import picture, times
from engineroom.figures.wording import Words, each
from engineroom.side_by_side import rows, theirs

__all__ = ["picture", "rows", "words"]


def words(table: pd.DataFrame) -> Words:
    """Compare the slowest hash join with the fastest index nested loop, as the claim does."""
    loop, hashed = times(table)["index_nested_loop"], times(table)["hash_join"]
    said = [each(of, "{:.2f} s", named="{1} on {0}") for of in (loop, hashed)]
    published = [
        each(theirs(table)[plan], "{:.2f} s", named="{1} on {0}")
        for plan in ("index_nested_loop", "hash_join")
    ]
    return Words(
        alt=f"Dot plot of seconds by plan. Index nested loop: {said[0]}. Hash join: {said[1]}. Published: {published[0]} for the index "
        f"nested loop and {published[1]} for the hash join.",
        caption=f"The index nested loop takes {'longer' if loop.min() > hashed.max() else 'no longer'} than the hash join: "
        f"{loop.min():.2f} s at its best against {hashed.max():.2f} s at its worst server.",
    )
