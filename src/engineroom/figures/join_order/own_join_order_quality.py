"""Our own figure: what cheaper searches lose against the best plan, on the Join Order Benchmark's graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.curves import End, label_ends
from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import GREY, STYLES, label_axes, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME = 1e-9  # sums in another order differ in the last digits


def rows(run: Run) -> Rows:
    """One row per query, draw of its filters and search, ranked within its search."""
    rank = 100 * run.table.groupby("series")["cost_per_best"].rank(method="first", pct=True)
    return run.table.assign(rank_percent=rank).sort_values(["series", "rank_percent"], ignore_index=True)


def picture(table: Rows, ax: Axes) -> None:
    """Sorted costs: how many percent of the cases, a query with a draw each, are at most so far from the best plan."""
    ends = []
    for style, (name, mine) in zip(STYLES, table.groupby("series"), strict=False):
        line = mine[["rank_percent", "cost_per_best"]].to_numpy()
        ax.plot(*line.T, style.dash, color=style.colour, linewidth=1.7)
        ends.append(End(float(line[-1, 0]), float(line[-1, 1]), str(name), style.colour))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(0, 101)
    ax.set_xticks([0, 50, 100])
    label_axes(ax, x="percent of the cases", y="C_out over the best plan's, log")
    label_ends(ax, ends)


def words(table: Rows) -> Words:
    """How often each search finds the best plan, and its median and worst."""
    costs = table.groupby("series")["cost_per_best"]
    median, worst, n = costs.median(), costs.max().map(_times), int(costs.size().max())
    found = (table["cost_per_best"] < 1 + SAME).groupby(table["series"]).sum()
    said = "; ".join(
        f"{name} {found[name]} of {n} best, median {median[name]:.2f}, worst {worst[name]}"
        for name in found.index
    )
    share = (100 * found / n).map("{:.0f} %".format)
    limits = ", ".join(
        f"{share[name]} with {name.lower()}" for name in share.index if name.startswith("at most")
    )
    return Words(
        alt=f"Sorted lines of a plan's cost over the best plan's, one a search. {said}.",
        caption=f"Greedy finds the best plan for {share['greedy']} and costs {worst['greedy']} times as much at worst; left-deep "
        f"{share['left-deep']} and {worst['left-deep']} times. The best plan of the simplified graph is the best of all for {limits}.",
    )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"
