"""Our own figure: a join without an index, by version. The block nested loop's work is quadratic, the hash join's linear."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.hash_join.slopes import slopes
from engineroom.figures.parts import Curves, Rows, Words, by_release, ours, rows_by

rows = rows_by("rows_per_table", y="server_cpu_s")


def _labels(table: Rows) -> dict[str, str]:
    algorithm = dict(zip(table["series"], table["algorithm"], strict=True))
    return {server: f"{server}, {algorithm[server]}" for server in by_release(table)}


# A slope of 2 is quadratic, of 1 linear.
picture = Curves(labels=_labels, x_label="rows in each table", y_label="CPU s of the server")


def growth(table: Rows) -> pd.Series[float]:
    """Slope of log(CPU) over log(rows) by version: 2 is quadratic, 1 linear."""
    return slopes(ours(table), log=True)


def words(table: Rows) -> Words:
    """Name the largest size's times and each version's growth."""
    largest = table["rows_per_table"].max()
    of, slope = ours(table)[:, largest], growth(table)
    slow, fast = str(of.idxmax()), str(of.idxmin())
    said = "; ".join(
        f"{server} {of[server]:.3g} s, slope {slope[server]:.1f}" for server in by_release(table)
    )
    return Words(
        alt=f"Log-log line chart of server CPU time against rows in each table. At {largest} rows: {said}.",
        caption=f"At {largest} rows {slow} takes {of[slow] / of[fast]:.0f} times the CPU time of {fast}. "
        f"Doubling the tables costs it {2 ** slope[slow]:.1f} times as much, and {fast} {2 ** slope[fast]:.1f} times.",
    )
