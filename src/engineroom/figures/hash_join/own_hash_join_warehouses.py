"""Our own figure: the sources' query as warehouses grow. The index loop reads each order line once per warehouse."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, ends
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["crossing", "partner_cost_us", "picture", "rows", "words"]

LABELS = {
    "index_nested_loop": "index loop",
    "hash_join": "hash on order lines",
    "hash_join_on_district": "hash on districts",
}
# A plan whose cost per row is constant is a flat line.
picture = Curves(
    labels=LABELS,
    x_label="warehouses = partners of each order line",
    y_label="CPU µs per order line",
    x_log=False,
    y_log=False,
)


def rows(run: Run) -> pd.DataFrame:
    """CPU microseconds per order line, for each repeat."""
    table = side_by_side.rows(run, by=("warehouses", "series"), y="server_cpu_s")
    reads_once = run.values("warehouses", y="rows_read", where="series == 'hash_join'")
    cost = 1e6 * table["server_cpu_s"] / table["warehouses"].map(reads_once)
    return side_by_side.valued(table, "cpu_us_per_order_line", cost)


def crossing(table: pd.DataFrame) -> int | None:
    """The fewest warehouses from which the index loop is the slowest of the three plans, or None."""
    slowest = ours(table).unstack("series").idxmax(axis=1) == "index_nested_loop"
    return next((int(count) for count in slowest.index if slowest.loc[count:].all()), None)


def partner_cost_us(table: pd.DataFrame) -> pd.Series[float]:
    """CPU microseconds that one more partner of an order line costs in each plan: the slope of its line."""
    return pd.Series(
        {
            series: float(np.polyfit(line.index.get_level_values(1), line, 1)[0])
            for series, line in ours(table).groupby(level="series")
        }
    )


def words(table: pd.DataFrame) -> Words:
    """Name both ends and the place where the lines cross."""
    of = ours(table)
    few, many = table["warehouses"].min(), table["warehouses"].max()
    said = "; ".join(f"{label}: {ends(of[series], '{:.2f} µs')}" for series, label in LABELS.items())
    place = crossing(table)
    grown = {series: of[series, many] / of[series, few] for series in LABELS}
    return Words(
        alt=f"Line chart of server CPU time per order line against warehouses. {said}.",
        caption=f"From {few} to {many} warehouses the index loop's cost per row grows to {grown['index_nested_loop']:.0f} times, the hash "
        f"join's to {grown['hash_join']:.1f} times. "
        + (
            f"From {place} warehouses on the index loop is the slowest plan."
            if place
            else "It is never the slowest here."
        ),
    )
