"""What figures 7-22 and 7-23 share: the plans of the sources' query, a row a server, the published seconds under ours."""

from __future__ import annotations

from typing import Any

import pandas as pd

from engineroom.figures.parts import Ranked, ours, release

__all__ = ["picture", "times"]

picture = Ranked(
    series={
        "index_nested_loop": "index nested loop",
        "reversed_order_without_hash": "reversed, no hash join",
        "hash_join": "reversed, hash join",
        "hash_join_on_district": "districts hashed",
    },
    narrow={
        "index_nested_loop": "index",
        "reversed_order_without_hash": "reversed",
        "hash_join": "hash",
        "hash_join_on_district": "hash, other side",
    },
    order=release,
    label="seconds (published: the client's clock; ours: CPU time)",
    form="{:.2f} s",
    log=True,
)


def times(table: pd.DataFrame) -> pd.Series[Any]:
    """Our seconds by plan and server, the oldest server first."""
    of = ours(table)
    return of.reindex(sorted(set(of.index.get_level_values("server")), key=release), level="server")
