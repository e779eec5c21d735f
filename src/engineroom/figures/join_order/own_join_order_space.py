"""Our own figure: how many candidates DPsize, DPsub and DPhyp look at."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

SERIES = ("star, DPsize", "star, DPsub", "star, DPhyp", "chain, DPsub", "chain, DPsize", "chain, DPhyp")
# Stars and chains on one log axis.
picture = Curves(
    labels={name: name for name in SERIES}, x_label="tables", y_label="pairs of sets looked at", x_log=False
)


def rows(run: Run) -> pd.DataFrame:
    """All counts; the series names shape and algorithm."""
    table = run.table.assign(series=run.table["shape"] + ", " + run.table["series"]).drop(columns="shape")
    return side_by_side.rows(run.with_table(table), by=("tables", "series"), y="tests")


def words(table: pd.DataFrame) -> Words:
    """Compare the three at the largest size."""
    largest = table["tables"].max()
    of = ours(table)[:, largest]
    listed = ", ".join(f"{series} {of[series]:.3g}" for series in SERIES)
    return Words(
        alt=f"Log line chart of pairs of sets looked at against tables. At {largest} tables: {listed}.",
        caption=f"For a star of {largest} tables DPsize looks at {of['star, DPsize'] / of['star, DPhyp']:,.0f} times as many "
        f"candidates as there are pairs; for a chain DPsub wastes most, {of['chain, DPsub'] / of['chain, DPhyp']:,.0f} times.",
    )
