"""Figure 7-2: the time to load in large transactions over the log of 5.7 and of 8.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.redo_log.shares import dots, middle, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

X, Y = "build", "load_time_minutes"


def rows(run: Run) -> pd.DataFrame:
    """Our load is a small part of the published one: each build's time as a multiple of the quicker one's."""
    table = rows_of(run, x=X, y=Y)
    quickest = table.groupby("source")[Y].transform(
        lambda times: times[table.loc[times.index, X] == "after"].median()
    )
    return table.assign(times_the_quicker=table[Y] / quickest)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Multiples, since the amounts differ."""
    dots(table, ax, x=X, y="times_the_quicker", x_label="load time over that with the log of 8.0")


def words(table: pd.DataFrame) -> Words:
    """The ratio beside the published one."""
    of = middle(table, x=X, y=Y)["load_time"]
    ratio = of["before"] / of["after"]
    return Words(
        alt=(
            f"Dot plot of load time by build. Before over after: {ratio:.2f}, published 4.81. "
            f"Ours in seconds of virtual time: {of['before'] * 60:.2f} and {of['after'] * 60:.2f}."
        ),
        caption=f"The same load takes {ratio:.2f} times as long over the log of 5.7 as over that of 8.0; published 4.81.",
    )
