"""Our own figure: the sources' query as warehouses grow. The index loop reads each order line once per warehouse."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.hash_join.slopes import slopes
from engineroom.figures.parts import Curves, Rows, Run, Words, ends, ours, rows_by, valued

LABELS = {
    "index_nested_loop": "index loop",
    "hash_join": "hash on order lines",
    "hash_join_on_district": "hash on districts",
}
X, Y = "warehouses = partners of each order line", "CPU µs per order line"
# A plan whose cost per row is constant is a flat line.
picture = Curves(labels=LABELS, x_label=X, y_label=Y, x_log=False, y_log=False)
_rows = rows_by("warehouses", y="server_cpu_s")


def rows(run: Run) -> Rows:
    """CPU microseconds per order line, for each repeat."""
    table = _rows(run)
    reads_once = run.values("warehouses", y="rows_read", where="series == 'hash_join'")
    cost = 1e6 * table["server_cpu_s"] / table["warehouses"].map(reads_once)
    return valued(table, "cpu_us_per_order_line", cost)


def crossing(table: Rows) -> int | None:
    """The fewest warehouses from which the index loop is the slowest of the three plans, or None."""
    slowest = ours(table).unstack("series").idxmax(axis=1) == "index_nested_loop"
    return next((int(count) for count in slowest.index if slowest.loc[count:].all()), None)


def partner_cost_us(table: Rows) -> pd.Series[float]:
    """CPU microseconds that one more partner of an order line costs in each plan: the slope of its line."""
    return slopes(ours(table))


def words(table: Rows) -> Words:
    """Name both ends and the place where the lines cross."""
    of, place = ours(table), crossing(table)
    few, many = table["warehouses"].min(), table["warehouses"].max()
    loop, hashed = (of[series, many] / of[series, few] for series in ("index_nested_loop", "hash_join"))
    crosses = (
        f"From {place} warehouses on the index loop is the slowest plan."
        if place
        else "It is never the slowest here."
    )
    return Words(
        alt=picture.alt(table, "{:.2f} µs", told=ends),
        caption=f"From {few} to {many} warehouses the index loop's cost per row grows to {loop:.0f} times, the hash join's to "
        f"{hashed:.1f} times. {crosses}",
    )
