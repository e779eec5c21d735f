"""Our own figure: a join without an index, by version. The block nested loop's work is quadratic, the hash join's linear."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["growth", "picture", "rows", "words"]

rows = partial(side_by_side.rows, by=("rows_per_table", "series"), y="server_cpu_s")


def _labels(table: pd.DataFrame) -> dict[str, str]:
    algorithm = dict(zip(table["series"], table["algorithm"], strict=True))
    return {server: f"{server}, {algorithm[server]}" for server in sorted(algorithm, key=release)}


# A slope of 2 is quadratic, of 1 linear.
picture = Curves(labels=_labels, x_label="rows in each table", y_label="CPU s of the server")


def growth(table: pd.DataFrame) -> pd.Series[float]:
    """Slope of log(CPU) over log(rows) by version: 2 is quadratic, 1 linear."""
    return pd.Series(
        {
            server: float(np.polyfit(np.log(line.index.get_level_values(1)), np.log(line), 1)[0])
            for server, line in ours(table).groupby(level="series")
        }
    )


def words(table: pd.DataFrame) -> Words:
    """Name the largest size's times and each version's growth."""
    largest = table["rows_per_table"].max()
    of, slopes = ours(table)[:, largest], growth(table)
    slow, fast = str(of.idxmax()), str(of.idxmin())
    said = "; ".join(
        f"{server} {of[server]:.3g} s, slope {slopes[server]:.1f}" for server in sorted(of.index, key=release)
    )
    return Words(
        alt=f"Log-log line chart of server CPU time against rows in each table. At {largest} rows: {said}.",
        caption=f"At {largest} rows {slow} takes {of[slow] / of[fast]:.0f} times the CPU time of {fast}. "
        f"Doubling the tables costs it {2 ** slopes[slow]:.1f} times as much, and {fast} {2 ** slopes[fast]:.1f} times.",
    )
