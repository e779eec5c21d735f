"""Our own figure: what cheaper searches lose against the best plan, on the Join Order Benchmark's graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import STYLES, End, is_narrow, label_ends, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """One row a query and search, ranked within its search."""
    table = run.table.copy()
    table["rank_percent"] = 100 * table.groupby("series")["cost_per_best"].rank(method="first", pct=True)
    return table.sort_values(["series", "rank_percent"]).reset_index(drop=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Sorted costs: how many percent of the queries are at most so far from the best plan."""
    ends = []
    for style, (name, mine) in zip(STYLES, table.groupby("series"), strict=False):
        ax.plot(mine["rank_percent"], mine["cost_per_best"], style.dash, color=style.colour, linewidth=1.7)
        last = mine.iloc[-1]
        ends.append(End(float(last["rank_percent"]), float(last["cost_per_best"]), str(name), style.colour))
    ax.axhline(1, color="grey", linewidth=0.8)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(0, 190 if is_narrow(ax) else 140)
    ax.set_xticks([0, 50, 100])
    ax.set_xlabel("percent of the queries")
    ax.set_ylabel("C_out over the best plan's, log")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """Median and worst of each search."""
    seen = table.groupby("series")["cost_per_best"].agg(["median", "max"]).to_dict("index")
    listed = "; ".join(
        f"{name} median {row['median']:.2f}, worst {row['max']:.3g}" for name, row in seen.items()
    )
    return Words(
        alt=f"Sorted lines of a plan's cost over the best plan's, one a search. {listed}.",
        caption=(
            f"Greedy is within {seen['greedy']['median']:.2f} times the best plan for half of the queries, and "
            f"{seen['greedy']['max']:.3g} times at worst; with at most 1000 pairs the worst is "
            f"{seen['at most 1000 pairs']['max']:.3g} times."
        ),
    )
