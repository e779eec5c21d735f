"""Our own figure: a join without an index, by version. The block nested loop's work is quadratic, the hash join's linear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["growth", "picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """All repeats as measured."""
    return run.table


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """CPU seconds against rows, both axes logarithmic: a slope of 2 is quadratic, of 1 linear."""
    algorithm = dict(zip(table["series"], table["algorithm"], strict=True))
    labels = {
        server: server if is_narrow(ax) else f"{server}, {algorithm[server]}"
        for server in sorted(algorithm, key=release)
    }
    ends = lines(table, ax, x="rows_per_table", y="server_cpu_s", labels=labels, summary="min")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    sizes = sorted(set(table["rows_per_table"]))
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_xlim(sizes[0] * 0.9, sizes[-1] * (2.2 if is_narrow(ax) else 2.0))
    ax.set_xlabel("rows in each table, log scale")
    ax.set_ylabel("CPU s of the server, log scale")
    label_ends(ax, ends)


def growth(table: pd.DataFrame) -> pd.Series[float]:
    """Slope of log(CPU) over log(rows) by version, from the best repeats: 2 is quadratic, 1 linear."""
    best = table.groupby(["series", "rows_per_table"])["server_cpu_s"].min()
    return pd.Series(
        {
            server: float(np.polyfit(np.log(line.index.get_level_values(1)), np.log(line), 1)[0])
            for server, line in best.groupby(level="series")
        }
    )


def words(table: pd.DataFrame) -> Words:
    """Name the largest size's times and each version's growth."""
    largest = table["rows_per_table"].max()
    best = table[table["rows_per_table"] == largest].groupby("series")["server_cpu_s"].min()
    slopes = growth(table)
    said = "; ".join(
        f"{server} {best[server]:.3g} s, slope {slopes[server]:.1f}"
        for server in sorted(best.index, key=release)
    )
    slow, fast = best.idxmax(), best.idxmin()
    return Words(
        alt=f"Log-log line chart of server CPU time against rows in each table. At {largest} rows: {said}.",
        caption=(
            f"At {largest} rows {slow} takes {best[slow] / best[fast]:.0f} times the CPU time of {fast}. "
            f"Doubling the tables costs it {2 ** slopes[slow]:.1f} times as much, and {fast} {2 ** slopes[fast]:.1f} times."
        ),
    )
