"""Our own figure: CPU time a row of building and walking the value lists of an INSERT, in kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LABELS = {
    "list_5_7": "list of 5.7",
    "deque_8_0": "deque of 8.0",
    "deque_9_7": "deque of 9.7",
    "reserved": "reserved array",
}
SHORT = {"list_5_7": "list", "deque_8_0": "8.0", "deque_9_7": "9.7", "reserved": "array"}


def rows(run: Run) -> pd.DataFrame:
    """As measured."""
    return run.table.copy()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a series."""
    narrow = is_narrow(ax)
    ends = lines(table, ax, x="columns", y="row_ns", labels=SHORT if narrow else LABELS, summary="min")
    ax.set_xscale("log")
    ax.set_yscale("log")
    at = sorted(set(table["columns"]))
    ax.set_xlim(at[0] / 1.2, at[-1] * (at[-1] / at[0]) ** (0.8 if narrow else 0.4))
    shown = at[:: 3 if narrow and len(at) > 5 else 2 if len(at) > 7 else 1]
    ax.set_xticks(shown, [f"{value:g}" for value in shown])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.set_xlabel("columns of a row, log scale")
    ax.set_ylabel("CPU ns a row, log scale")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """The ends of the lines."""
    best = table.groupby(["series", "columns"])["row_ns"].min().unstack()
    few, many = best.columns[0], best.columns[-1]
    said = "; ".join(
        f"{LABELS[str(name)]}: {line[few]:.0f} at {few}, {line[many]:.0f} at {many}"
        for name, line in best.iterrows()
    )
    ratio = best.loc["deque_9_7"] / best.loc["list_5_7"]
    return Words(
        alt=f"Log-log line chart of CPU nanoseconds a row against columns. {said}.",
        caption=(
            f"Items and calls included, a row of {few} column takes {ratio[few]:.1f} times as long in the deque of 9.7 as in the list of 5.7, "
            f"one of {many} columns {ratio[many]:.1f} times."
        ),
    )
