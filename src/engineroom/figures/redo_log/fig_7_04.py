"""Figure 7-4: where 250 clients spend their time on the CPU, over the log of 5.7 and of 8.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.shares import dots, middle, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "component", "share_percent"
LOGS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}


def rows(run: Run) -> pd.DataFrame:
    """Components below a thousandth are left out of the picture's rows; statement is all SQL work together."""
    table = rows_of(run, x=X, y=Y)
    return table[(table[Y] >= 0.1) | (table[X] == "log_reservation")].reset_index(drop=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Ours from the largest down, then the published groups."""
    dots(table, ax, x=X, y=Y, x_label="share of CPU time, %", series=LOGS)


def words(table: pd.DataFrame) -> Words:
    """The share of the reservation in both logs."""
    of = middle(table, x=X, y=Y)
    old, new = of["old_redo"], of["new_redo"]
    on_host = "host" in set(table["method"])
    how = "sampled stacks of real threads" if on_host else "simulated"
    return Words(
        alt=(
            f"Dot plot of shares of CPU time, {how}. Log of 5.7: "
            + ", ".join(f"{name} {value:.1f} %" for name, value in old.sort_values(ascending=False).items())
            + ". Log of 8.0: "
            + ", ".join(f"{name} {value:.1f} %" for name, value in new.sort_values(ascending=False).items())
            + ". Published for the log of 5.7: log reservation 12.1 %, btree and buffer 6.7 %."
        ),
        caption=(
            f"Of the CPU time of 250 clients ({how}) {old['log_reservation']:.0f} % goes to reserving log with the mutex of 5.7 and "
            f"{new['log_reservation']:.0f} % with the log of 8.0; published 12 % for 5.7."
        ),
    )
