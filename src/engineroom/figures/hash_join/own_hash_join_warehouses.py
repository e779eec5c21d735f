"""Our own figure: the sources' query as warehouses grow. The index loop reads each order line once a warehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["crossing", "partner_cost_us", "picture", "rows", "words"]

LABELS = {
    "index_nested_loop": "index loop",
    "hash_join": "hash on order lines",
    "hash_join_on_district": "hash on districts",
}


def rows(run: Run) -> pd.DataFrame:
    """CPU microseconds an order line, for each repeat: a plan whose cost a row is constant is a flat line."""
    table = run.table.copy()
    reads_once = table[table["series"] == "hash_join"].groupby("warehouses")["rows_read"].min()
    table["cpu_us_per_order_line"] = 1e6 * table["server_cpu_s"] / table["warehouses"].map(reads_once)
    return table


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a plan."""
    ends = lines(table, ax, x="warehouses", y="cpu_us_per_order_line", labels=LABELS, summary="min")
    largest = table["warehouses"].max()
    ax.set_xlim(0, largest * (1.75 if is_narrow(ax) else 1.35))
    ax.set_xticks(sorted(set(table["warehouses"])))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("warehouses = partners of each order line")
    ax.set_ylabel("CPU µs an order line")
    label_ends(ax, ends)


def crossing(table: pd.DataFrame) -> int | None:
    """The fewest warehouses from which the index loop is the slowest of the three plans, or None."""
    best = table.groupby(["warehouses", "series"])["server_cpu_s"].min().unstack()
    slowest = best.idxmax(axis=1) == "index_nested_loop"
    return next((int(count) for count in slowest.index if slowest.loc[count:].all()), None)


def partner_cost_us(table: pd.DataFrame) -> pd.Series[float]:
    """CPU microseconds that one more partner of an order line costs in each plan: the slope of its line."""
    best = table.groupby(["series", "warehouses"])["cpu_us_per_order_line"].min()
    return pd.Series(
        {
            series: float(np.polyfit(line.index.get_level_values(1), line, 1)[0])
            for series, line in best.groupby(level="series")
        }
    )


def words(table: pd.DataFrame) -> Words:
    """Name both ends and the place where the lines cross."""
    best = table.groupby(["series", "warehouses"])["cpu_us_per_order_line"].min()
    few, many = table["warehouses"].min(), table["warehouses"].max()
    said = "; ".join(
        f"{label}: {best[s, few]:.2f} µs at {few}, {best[s, many]:.2f} µs at {many}"
        for s, label in LABELS.items()
    )
    place = crossing(table)
    return Words(
        alt=f"Line chart of server CPU time an order line against warehouses. {said}.",
        caption=(
            f"From {few} to {many} warehouses the index loop's cost a row grows to "
            f"{best['index_nested_loop', many] / best['index_nested_loop', few]:.0f} times, the hash join's to "
            f"{best['hash_join', many] / best['hash_join', few]:.1f} times. "
            + (
                f"From {place} warehouses on the index loop is the slowest plan."
                if place
                else "It is never the slowest here."
            )
        ),
    )
