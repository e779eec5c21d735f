"""Figure 7-23: the hash join that the source measured on MySQL 8.0, with the order and the algorithm told apart."""

from __future__ import annotations

from engineroom.figures.hash_join import plans
from engineroom.figures.parts import Rows, Words, all_rows, theirs

rows = all_rows
picture = plans.picture


def words(table: Rows) -> Words:
    """State the whole step and what the order alone would have done."""
    best = plans.times(table).groupby(level="series").min()
    loop, hashed = best["index_nested_loop"], best["hash_join"]
    old, new = (theirs(table)[plan].iloc[0] for plan in ("index_nested_loop", "hash_join"))
    reversed_ = plans.times(table)["reversed_order_without_hash"]
    servers = [server for server in plans.times(table)["hash_join"].index if server in reversed_.index]
    alone = "; ".join(
        f"{reversed_[server]:.2f} s on {server} in the same order without it" for server in servers
    )
    return Words(
        alt=f"Dot plot of seconds by plan. The best index nested loop takes {loop:.2f} s, the best hash join {hashed:.2f} s; {alone}. "
        f"Published: {old:.2f} s and {new:.2f} s.",
        caption=f"Index nested loop over hash join, each on its best server: {loop / hashed:.2f} (published {old / new:.2f}). The order "
        f"alone does not explain it: {alone}.",
    )
