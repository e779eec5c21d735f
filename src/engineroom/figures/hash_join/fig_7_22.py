"""Figure 7-22: the index nested loop that the source measured on MySQL 5.7, beside the other plans of its query."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.hash_join.plan_times import best, picture, rows

__all__ = ["picture", "rows", "words"]


def words(table: pd.DataFrame) -> Words:
    """Compare the slowest hash join with the fastest index nested loop, as the claim does."""
    times = best(table)
    loop, hashed = times.xs("index_nested_loop", level="series"), times.xs("hash_join", level="series")
    slower = loop.min() > hashed.max()
    return Words(
        alt=(
            f"Dot plot of seconds by plan. Index nested loop: {_list(loop)}. Hash join: {_list(hashed)}. "
            "Published: 3.82 s for the index nested loop on 5.7 and 1.22 s for the hash join on 8.0."
        ),
        caption=(
            f"The index nested loop takes {'longer' if slower else 'no longer'} than the hash join: "
            f"{loop.min():.2f} s at its best against {hashed.max():.2f} s at its worst server."
        ),
    )


def _list(times: pd.Series[float]) -> str:
    return ", ".join(f"{seconds:.2f} s on {server}" for server, seconds in times.items())
