"""Our own figure: how many queries have exactly the events of the server's optimizer trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import BLUE, VERMILION, is_narrow, legend_above, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Which graph is planned, its mark, and where on the family's row.
GRAPHS = {"graph from the trace": ("o", BLUE, -0.12), "graph built by us": ("D", VERMILION, 0.12)}


def rows(run: Run) -> Rows:
    """One row a family of queries and comparison: queries, those with equal events, and events."""
    grouped = run.table.groupby(["family", "series"], sort=False, as_index=False)
    return grouped.agg(queries=("is_equal", "size"), equal=("is_equal", "sum"), events=("events", "sum"))


def picture(table: Rows, ax: Axes) -> None:
    """Two marks a family: with the trace's graph and with our own; a hollow ring is the number of queries."""
    families = list(table["family"].unique())
    for series, (marker, colour, shift) in GRAPHS.items():
        mine = table[table["series"] == series]
        at = [families.index(family) + shift for family in mine["family"]]
        ax.plot(mine["queries"], at, "o", color=colour, fillstyle="none", markersize=10)
        ax.plot(mine["equal"], at, marker, color=colour, markersize=5, label=series)
    ax.set_yticks(range(len(families)), families, fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_xlabel("queries" if is_narrow(ax) else "queries, log scale (ring: all, filled: equal)")
    ax.grid(axis="x", alpha=0.25)
    legend_above(ax)


def words(table: Rows) -> Words:
    """Count queries and events of both comparisons."""
    traced, built = (table[table["series"] == series].sum(numeric_only=True) for series in GRAPHS)
    return Words(
        alt=f"Dot plot of queries by family, all and those with equal events. With the trace's graph {traced['equal']} of "
        f"{traced['queries']} are equal, with our own {built['equal']} of {built['queries']}.",
        caption=f"{traced['equal']} of {traced['queries']} queries have the server's events, all {traced['events']:,} in their order, when the "
        f"graph is read from the trace; {built['equal']} when we build the graph from the SQL.",
    )
