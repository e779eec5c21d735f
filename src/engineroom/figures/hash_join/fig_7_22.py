"""Figure 7-22: the index nested loop that the source measured on MySQL 5.7, beside the other plans of its query."""

from __future__ import annotations

from engineroom.figures.hash_join import plans
from engineroom.figures.parts import Rows, Words, all_rows, each, theirs

rows = all_rows
picture = plans.picture


def words(table: Rows) -> Words:
    """Compare the slowest hash join with the fastest index nested loop, as the claim does."""
    ours, published = (
        [each(of[plan], "{:.2f} s", named="{1} on {0}") for plan in ("index_nested_loop", "hash_join")]
        for of in (plans.times(table), theirs(table))
    )
    least, most = plans.times(table)["index_nested_loop"].min(), plans.times(table)["hash_join"].max()
    return Words(
        alt=f"Dot plot of seconds by plan. Index nested loop: {ours[0]}. Hash join: {ours[1]}. Published: {published[0]} for the index "
        f"nested loop and {published[1]} for the hash join.",
        caption=f"The index nested loop takes {'longer' if least > most else 'no longer'} than the hash join: {least:.2f} s at its best "
        f"against {most:.2f} s at its worst server.",
    )
