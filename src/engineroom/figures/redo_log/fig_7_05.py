"""Figure 7-5: for whom 250 clients wait when they wait for the reservation of the log of 5.7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.shares import dots, middle, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "caller", "share_percent"


def rows(run: Run) -> pd.DataFrame:
    """Shares of the CPU time in the reservation, by caller; the published 100 % is of one sampled stack."""
    return rows_of(run, x=X, y=Y)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Ours, then the one stack."""
    dots(table, ax, x=X, y=Y, x_label=f"share of {_what(table)} reservation, %")


def _what(table: pd.DataFrame) -> str:
    return "waits for" if "host" in set(table["method"]) else "time in"


def words(table: pd.DataFrame) -> Words:
    """Who calls."""
    of = middle(table, x=X, y=Y)["log_reservation_wait"].sort_values(ascending=False)
    said = ", ".join(f"{name} {value:.1f} %" for name, value in of.items())
    return Words(
        alt=f"Dot plot of the callers of log reservation by share of {_what(table)} it: {said}. Published: one stack, of mtr commit.",
        caption=f"Committing mini-transactions makes {of['mtr_commit']:.1f} % of {_what(table)} log reservation.",
    )
