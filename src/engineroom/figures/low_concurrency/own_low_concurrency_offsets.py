"""Our own figure: CPU time to find the fields of a record, in kernels."""

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
    "v57": "5.7",
    "v80": "8.0: asked for each field",
    "hoisted": "asked for each record",
    "by_state": "a loop for each state",
}
SHORT = {"v57": "5.7", "v80": "8.0", "hoisted": "record", "by_state": "loops"}


def rows(run: Run) -> pd.DataFrame:
    """Tables without INSTANT columns, which most are."""
    return run.table[run.table["row_versions"] == 0].copy()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a series."""
    narrow = is_narrow(ax)
    ends = lines(table, ax, x="columns", y="record_ns", labels=SHORT if narrow else LABELS, summary="min")
    ax.set_xscale("log")
    ax.set_yscale("log")
    at = sorted(set(table["columns"]))
    ax.set_xlim(at[0] / 1.2, at[-1] * (at[-1] / at[0]) ** (0.8 if narrow else 0.4))
    shown = at[:: 3 if narrow and len(at) > 5 else 2 if len(at) > 7 else 1]
    ax.set_xticks(shown, [f"{value:g}" for value in shown])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.set_xlabel("fields of a record, log scale")
    ax.set_ylabel("CPU ns a record, log scale")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """The ends of the lines."""
    best = table.groupby(["series", "columns"])["record_ns"].min().unstack()
    few, many = best.columns[0], best.columns[-1]
    said = "; ".join(
        f"{LABELS[str(name)]}: {line[few]:.0f} at {few}, {line[many]:.0f} at {many}"
        for name, line in best.iterrows()
    )
    ratio = best.loc["v80"] / best.loc["v57"]
    return Words(
        alt=f"Log-log line chart of CPU nanoseconds a record against its fields, no INSTANT columns. {said}.",
        caption=(
            f"Without any INSTANT column, finding the fields takes {ratio.median():.2f} times as long with the question asked for each field as "
            f"without it ({few} to {many} fields); asked once a record, {(best.loc['hoisted'] / best.loc['v57']).median():.2f} times."
        ),
    )
