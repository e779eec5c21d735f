"""Our own figure: how many queries have exactly the events of the server's optimizer trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.style import BLUE, VERMILION, is_narrow, legend_above, plain_log_ticks
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """One row a family of queries and comparison: queries, those with equal events, and events."""
    grouped = run.table.groupby(["family", "series"], sort=False)
    return grouped.agg(
        queries=("is_equal", "size"), equal=("is_equal", "sum"), events=("events", "sum")
    ).reset_index()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two marks a family: with the trace's graph and with our own; a hollow ring is the number of queries."""
    families = list(dict.fromkeys(table["family"]))
    for shift, (series, marker, colour) in enumerate(
        (("graph from the trace", "o", BLUE), ("graph built by us", "D", VERMILION))
    ):
        mine = table[table["series"] == series]
        at = [families.index(family) + 0.24 * shift - 0.12 for family in mine["family"]]
        ax.plot(mine["queries"], at, "o", color=colour, fillstyle="none", markersize=10)
        ax.plot(mine["equal"], at, marker, color=colour, markersize=5, label=series)
    ax.set_yticks(range(len(families)), families, fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_xlabel("queries" if is_narrow(ax) else "queries, log scale (ring: all, filled: equal)")
    ax.grid(axis="x", alpha=0.25)
    legend_above(ax)


def words(table: pd.DataFrame) -> Words:
    """Count queries and events of both comparisons."""
    sums = table.groupby("series")[["queries", "equal", "events"]].sum()
    first, second = (sums.loc[name] for name in ("graph from the trace", "graph built by us"))
    return Words(
        alt=(
            "Dot plot of queries by family, all and those with equal events. With the trace's graph "
            f"{first['equal']} of {first['queries']} are equal, with our own {second['equal']} of {second['queries']}."
        ),
        caption=(
            f"{first['equal']} of {first['queries']} queries have the server's events, all {first['events']:,} in their order, "
            f"when the graph is read from the trace; {second['equal']} when we build the graph from the SQL."
        ),
    )
