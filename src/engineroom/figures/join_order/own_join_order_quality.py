"""Our own figure: what cheaper searches lose against the best plan, on the Join Order Benchmark's graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.curves import End, label_ends
from engineroom.figures.style import GREY, STYLES, plain_log_ticks
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

SAME = 1e-9  # sums in another order differ in the last digits


def rows(run: Run) -> pd.DataFrame:
    """One row per query, draw of its filters and search, ranked within its search."""
    table = run.table.copy()
    table["rank_percent"] = 100 * table.groupby("series")["cost_per_best"].rank(method="first", pct=True)
    return table.sort_values(["series", "rank_percent"]).reset_index(drop=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Sorted costs: how many percent of the cases, a query with a draw each, are at most so far from the best plan."""
    ends = []
    for style, (name, mine) in zip(STYLES, table.groupby("series"), strict=False):
        ax.plot(mine["rank_percent"], mine["cost_per_best"], style.dash, color=style.colour, linewidth=1.7)
        last = mine.iloc[-1]
        ends.append(End(float(last["rank_percent"]), float(last["cost_per_best"]), str(name), style.colour))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(0, 101)
    ax.set_xticks([0, 50, 100])
    ax.set_xlabel("percent of the cases")
    ax.set_ylabel("C_out over the best plan's, log")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """How often each search finds the best plan, and its median and worst."""
    costs = table.groupby("series")["cost_per_best"]
    median, worst, n = costs.median(), costs.max(), int(costs.size().max())
    found = costs.apply(lambda cost: int((cost < 1 + SAME).sum()))
    listed = "; ".join(
        f"{name} {found[name]} of {n} best, median {median[name]:.2f}, worst {_times(worst[name])}"
        for name in found.index
    )
    few = found.index[found.index.str.startswith("at most")]
    limits = ", ".join(f"{100 * found[name] / n:.0f} % with {str(name).lower()}" for name in few)
    return Words(
        alt=f"Sorted lines of a plan's cost over the best plan's, one a search. {listed}.",
        caption=(
            f"Greedy finds the best plan for {100 * found['greedy'] / n:.0f} % and costs {_times(worst['greedy'])} times as much at "
            f"worst; left-deep {100 * found['left-deep'] / n:.0f} % and {_times(worst['left-deep'])} times. The best plan of the "
            f"simplified graph is the best of all for {limits}."
        ),
    )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"
