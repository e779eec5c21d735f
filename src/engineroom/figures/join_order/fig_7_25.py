"""Figure 7-25: how the time of the plan search divides into growing sets and connecting pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, INK, Words
from engineroom.figures.lines import is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

PHASES = {
    "plan_search": "plan search",
    "connecting_pairs": "connecting pairs",
    "growing_subgraphs": "growing sets",
}


def rows(run: Run) -> pd.DataFrame:
    """Our repeats, then the published shares as rows of `source` "published"."""
    planner = "MySQL" if run.method == "live" else "our kernel"
    ours = run.table[["phase", "series", "repeat", "share_percent"]].assign(source="ours", planner=planner)
    theirs = published.rows("fig-7-25").assign(repeat=0, source="published", planner="published")
    return pd.concat([ours, theirs], ignore_index=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A bar a phase with a dot a repeat; a hollow diamond is the published share."""
    for place, phase in enumerate(PHASES):
        mine = table[(table["phase"] == phase) & (table["source"] == "ours")]["share_percent"]
        theirs = table[(table["phase"] == phase) & (table["source"] == "published")]["share_percent"]
        ax.barh(place, mine.median(), height=0.5, color=BLUE, alpha=0.55)
        ax.plot(mine, [place] * len(mine), "o", color=BLUE, markersize=4)
        ax.plot(theirs, [place] * len(theirs), "D", color=INK, fillstyle="none", markersize=8)
    ax.set_yticks(range(len(PHASES)), list(PHASES.values()))
    ax.invert_yaxis()
    ax.set_xlim(0, 105)
    ax.set_xlabel(f"percent{'' if is_narrow(ax) else ' of the CPU time'} (diamond: published)")


def words(table: pd.DataFrame) -> Words:
    """Name the three shares beside the published ones."""
    middle = table.groupby(["source", "phase"])["share_percent"].median()

    def listed(source: str) -> str:
        return ", ".join(f"{text} {middle[source, phase]:.0f} percent" for phase, text in PHASES.items())

    planner = table[table["source"] == "ours"]["planner"].iloc[0]
    more = middle["ours", "connecting_pairs"] > middle["ours", "growing_subgraphs"]
    return Words(
        alt=f"Bars of shares of CPU time. Planned by {planner}: {listed('ours')}. Published: {listed('published')}.",
        caption=(
            f"Connecting and pricing pairs takes {'more' if more else 'less'} than growing the sets: "
            f"{middle['ours', 'connecting_pairs']:.0f} against {middle['ours', 'growing_subgraphs']:.0f} percent of planning by {planner}."
        ),
    )
