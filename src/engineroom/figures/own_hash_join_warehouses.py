"""Our own figure: the sources' query as warehouses grow. The index loop reads each order line once a warehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["crossing", "picture", "rows", "words"]

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
            "The index loop's cost a row grows with the number of partners, the hash joins' hardly. "
            + (
                f"From {place} warehouses on the index loop is the slowest plan."
                if place
                else "It is never the slowest here."
            )
        ),
    )
