"""Figure 7-23: the hash join that the source measured on MySQL 8.0, with the order and the algorithm told apart."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.hash_join.plans import picture, times
from engineroom.figures.wording import Words
from engineroom.side_by_side import rows, theirs

__all__ = ["picture", "rows", "words"]


def words(table: pd.DataFrame) -> Words:
    """State the whole step and what the order alone would have done."""
    loop, hashed = times(table)["index_nested_loop"], times(table)["hash_join"]
    reversed_ = times(table)["reversed_order_without_hash"]
    old, new = (theirs(table)[plan].iloc[0] for plan in ("index_nested_loop", "hash_join"))
    both = [server for server in hashed.index if server in reversed_.index]
    alone = "; ".join(f"{reversed_[s]:.2f} s on {s} in the same order without it" for s in both)
    return Words(
        alt=f"Dot plot of seconds by plan. The best index nested loop takes {loop.min():.2f} s, the best hash join "
        f"{hashed.min():.2f} s; {alone}. Published: {old:.2f} s and {new:.2f} s.",
        caption=f"Index nested loop over hash join, each on its best server: {loop.min() / hashed.min():.2f} (published "
        f"{old / new:.2f}). The order alone does not explain it: {alone}.",
    )
