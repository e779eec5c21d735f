"""Figure 7-23: the hash join that the source measured on MySQL 8.0, with the order and the algorithm told apart."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.hash_join.plan_times import best, picture, rows

__all__ = ["picture", "rows", "words"]


def words(table: pd.DataFrame) -> Words:
    """State the whole step and what the order alone would have done."""
    times = best(table)
    loop, hashed = times.xs("index_nested_loop", level="series"), times.xs("hash_join", level="series")
    reversed_ = times.xs("reversed_order_without_hash", level="series")
    both = [server for server in hashed.index if server in reversed_.index]
    alone = "; ".join(f"{reversed_[s]:.2f} s on {s} in the same order without it" for s in both)
    return Words(
        alt=(
            f"Dot plot of seconds by plan. The best index nested loop takes {loop.min():.2f} s, the best hash join "
            f"{hashed.min():.2f} s; {alone}. Published: 3.82 s and 1.22 s."
        ),
        caption=(
            f"Index nested loop over hash join, each on its best server: {loop.min() / hashed.min():.2f} (published 3.13). "
            f"The order alone does not explain it: {alone}."
        ),
    )
