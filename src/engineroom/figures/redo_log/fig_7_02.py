"""Figure 7-2: the time to load in large transactions over the log of 5.7 and of 8.0."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.shares import Ranked
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

picture = Ranked(label="load time over that with the log of 8.0")


def rows(run: Run) -> pd.DataFrame:
    """Our load is a small part of the published one: each build's time as a multiple of the quicker one's."""
    return side_by_side.over(side_by_side.rows(run), "times_the_quicker", "build == 'after'")


def words(table: pd.DataFrame) -> Words:
    """The ratio beside the published one."""
    ratio, published = (of["load_time", "before"] for of in (ours(table), theirs(table)))
    minutes = ours(side_by_side.valued(table, "minutes", table["load_time_minutes"]))["load_time"]
    return Words(
        alt=f"Dot plot of load time by build. Before over after: {ratio:.2f}, published {published:.2f}. "
        f"Ours in seconds of virtual time: {minutes['before'] * 60:.2f} and {minutes['after'] * 60:.2f}.",
        caption=f"The same load takes {ratio:.2f} times as long over the log of 5.7 as over the log of 8.0; published {published:.2f}.",
    )
