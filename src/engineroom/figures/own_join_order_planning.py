"""Our own figure: planning time by the number of tables, for shapes of the query graph, with the switch on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LABELS = {
    "clique, on": "clique, on",
    "clique, on, at most 1000 pairs": "clique, on, 1000 pairs",
    "clique, off": "clique, off",
    "star, on": "star, on",
    "star, off": "star, off",
    "chain, off": "chain, off",
}


def rows(run: Run) -> pd.DataFrame:
    """All repeats; the series names shape and setting."""
    return run.table.assign(series=run.table["shape"] + ", " + run.table["series"]).drop(columns="shape")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A line a shape and setting, the least of the repeats."""
    ends = lines(table, ax, x="tables", y="planning_cpu_ms", labels=LABELS, summary="min")
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(3, 25 if is_narrow(ax) else 19)
    ax.set_xticks([4, 8, 12] if is_narrow(ax) else [4, 6, 8, 10, 12, 14])
    ax.set_xlabel("tables")
    ax.set_ylabel("EXPLAIN, server CPU ms, log")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """Name the largest size of each line."""
    least = table.groupby(["series", "tables"])["planning_cpu_ms"].min()

    def end(series: str) -> str:
        line = least[series]
        return f"{LABELS[series]} {line.iloc[-1]:.1f} ms at {line.index[-1]} tables"

    on, off, bounded = (
        least[f"clique, {setting}"].iloc[-1] for setting in ("on", "off", "on, at most 1000 pairs")
    )
    return Words(
        alt=f"Line chart of planning time against tables. {'; '.join(map(end, LABELS))}.",
        caption=(
            f"A clique of {least['clique, on'].index[-1]} tables plans {on / off:.0f} times as long with the hypergraph optimizer, "
            f"and {bounded / off:.1f} times with at most 1000 pairs."
        ),
    )
