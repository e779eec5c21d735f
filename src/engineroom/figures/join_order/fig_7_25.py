"""Figure 7-25: how the time of the plan search divides into growing sets and connecting pairs."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.shares import Bar, Bars
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

PHASES = {
    "plan_search": Bar("plan search"),
    "connecting_pairs": Bar("connecting pairs"),
    "growing_subgraphs": Bar("growing sets"),
}
picture = Bars(bars=PHASES, label="CPU time")


def words(table: pd.DataFrame) -> Words:
    """Name the three shares beside the published ones."""
    share, published = (of["statement"] for of in (ours(table), theirs(table)))
    said = [
        ", ".join(f"{bar.name} {of[phase]:.0f} percent" for phase, bar in PHASES.items())
        for of in (share, published)
    ]
    planner = "MySQL" if "live" in set(table["method"]) else "our kernel"
    pairs, sets = share["connecting_pairs"], share["growing_subgraphs"]
    return Words(
        alt=f"Bars of shares of CPU time. Planned by {planner}: {said[0]}. Published: {said[1]}.",
        caption=f"Connecting and pricing pairs takes {'more' if pairs > sets else 'less'} than growing the sets: {pairs:.0f} against "
        f"{sets:.0f} percent of planning by {planner}.",
    )
