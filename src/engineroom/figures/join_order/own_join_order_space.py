"""Our own figure: how many candidates DPsize, DPsub and DPhyp look at."""

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
    "star, DPsize": "star, DPsize",
    "star, DPsub": "star, DPsub",
    "star, DPhyp": "star, DPhyp",
    "chain, DPsub": "chain, DPsub",
    "chain, DPsize": "chain, DPsize",
    "chain, DPhyp": "chain, DPhyp",
}


def rows(run: Run) -> pd.DataFrame:
    """All counts; the series names shape and algorithm."""
    return run.table.assign(series=run.table["shape"] + ", " + run.table["series"]).drop(columns="shape")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Stars and chains on one log axis."""
    ends = lines(table, ax, x="tables", y="tests", labels=LABELS)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(4, 32 if is_narrow(ax) else 26)
    ax.set_xticks(sorted(set(table["tables"])))
    ax.set_xlabel("tables")
    ax.set_ylabel("pairs of sets looked at, log")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """Compare the three at the largest size."""
    largest = table["tables"].max()
    at = table[table["tables"] == largest].set_index("series")["tests"]
    listed = ", ".join(f"{label} {at[series]:.3g}" for series, label in LABELS.items())
    return Words(
        alt=f"Log line chart of pairs of sets looked at against tables. At {largest} tables: {listed}.",
        caption=(
            f"For a star of {largest} tables DPsize looks at {at['star, DPsize'] / at['star, DPhyp']:,.0f} times as many "
            f"candidates as there are pairs; for a chain DPsub wastes most, {at['chain, DPsub'] / at['chain, DPhyp']:,.0f} times."
        ),
    )
