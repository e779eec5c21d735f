"""Our own figure: a flame graph of our planner while it plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures import flame
from engineroom.figures.drawing import BLUE, ORANGE, VERMILION, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

DEEPEST = 10
# What the enumerator asks of the planner, and what that calls, is pricing; all else below its entry is growing sets.
PRICING = ("node", "first", "grown", "subgraph", "pair", "price", "has_seen")
ENTRY = "run"
ROLES = {"pricing pairs": (VERMILION, ""), "growing sets": (BLUE, "//"), "setting up": (ORANGE, "")}


def role(path: tuple[str, ...]) -> str:
    """What a call path does."""
    if ENTRY not in path:
        return "setting up"
    return "pricing pairs" if set(PRICING) & set(path[path.index(ENTRY) :]) else "growing sets"


def rows(run: Run) -> pd.DataFrame:
    """One row a frame that is wide enough to see; `begins_role` when what calls it does something else."""
    paths = (tuple(path.split(";")) for path in run.table["path"])
    placed = flame.frames(zip(paths, run.table["samples"], strict=True), deepest=DEEPEST)
    return pd.DataFrame(
        [
            {
                "depth": len(path) - 1,
                "start_percent": start,
                "share_percent": wide,
                "frame": path[-1],
                "role": role(path),
                "begins_role": len(path) == 1 or role(path) != role(path[:-1]),
            }
            for path, start, wide in placed
        ]
    )


def shares(table: pd.DataFrame) -> dict[str, float]:
    """Percent of the samples in each role, which is what its outermost frames have without those of other roles in them."""
    whole = table[table["begins_role"]].groupby("role")["share_percent"].sum()
    within = {"setting up": "growing sets", "growing sets": "pricing pairs"}
    return {name: float(whole[name] - whole.get(within.get(name, ""), 0.0)) for name in ROLES}


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A box a source function, callers below what they call; growing sets is hatched."""
    flame.boxes(
        table,
        ax,
        style=lambda i: ROLES[table["role"].iloc[i]],
        alpha=0.45,
        letters=(52, 105),
        of="the samples of planning",
    )


def words(table: pd.DataFrame) -> Words:
    """The three roles, and the widest frames by name."""
    share = shares(table)
    widest = table.groupby("frame")["share_percent"].max().sort_values(ascending=False)
    named = ", ".join(f"{name} {percent:.0f} percent" for name, percent in widest.head(7).items())
    return Words(
        alt=(
            "Flame graph of our planner by source function. "
            f"{', '.join(f'{name} {percent:.0f} percent' for name, percent in share.items())}. With what they call: {named}."
        ),
        caption=(
            f"A flame graph of our planner, callers below what they call: of the samples, {share['pricing pairs']:.0f} percent are in "
            f"pricing pairs and {share['growing sets']:.0f} in growing sets (hatched)."
        ),
    )
