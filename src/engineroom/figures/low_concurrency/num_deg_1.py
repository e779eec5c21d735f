"""The degradation article's kilobyte: bytes of the containers of one inserted row, against its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import INK, Words
from engineroom.figures.lines import is_narrow, label_ends, lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LABELS = {"deque_8_0": "deque of 8.0", "list_5_7": "list of 5.7"}
SHORT = {"deque_8_0": "deque", "list_5_7": "list"}


def rows(run: Run) -> pd.DataFrame:
    """Ours, then the published kilobyte."""
    ours = run.table[["columns", "series", "repeat", "bytes_per_row"]].assign(
        source="ours", method=run.method
    )
    theirs = published.rows("num-deg-1").assign(repeat=0, source="published", method="")
    return pd.concat([ours, theirs], ignore_index=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a container; the published value is hollow."""
    ends = lines(
        table[table["source"] == "ours"],
        ax,
        x="columns",
        y="bytes_per_row",
        labels=SHORT if is_narrow(ax) else LABELS,
    )
    theirs = table[table["source"] == "published"]
    ax.plot(theirs["columns"], theirs["bytes_per_row"], "o", color=INK, fillstyle="none", markersize=9)
    ax.set_xlim(0, table["columns"].max() * (1.45 if is_narrow(ax) else 1.25))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.set_xlabel("columns of a row (hollow: published)")
    ax.set_ylabel("bytes a row, without items")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """One column, and the first width at which the list is as large."""
    ours = table[table["source"] == "ours"].pivot_table(
        index="columns", columns="series", values="bytes_per_row"
    )
    meet = next(
        (int(n) for n in ours.index if ours.loc[n, "list_5_7"] >= 0.9 * ours.loc[n, "deque_8_0"]), None
    )
    one = ours.loc[1]
    said = "; ".join(
        f"{LABELS[str(name)]}: " + ", ".join(f"{value:.0f} at {n}" for n, value in ours[name].items())
        for name in LABELS
        if name in ours
    )
    how = "from the servers' memory" if set(table["method"]) >= {"live"} else "counted in kernels"
    return Words(
        alt=f"Line chart of bytes a row against columns, {how}. {said}. Published: 1024 at 1.",
        caption=(
            f"A row of one column takes {one['deque_8_0']:.0f} bytes of containers in the design of 8.0 and {one['list_5_7']:.0f} in that of "
            f"5.7, {how}" + (f"; at {meet} columns the two are about equal." if meet else ".")
        ),
    )
