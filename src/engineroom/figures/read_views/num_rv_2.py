"""The read-view article's response time, with closed views kept and removed at once."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

picture = Dots(
    rows={"kept": "kept", "removed_at_once": "removed at once"},
    series={"response": "mean response"},
    label="microseconds per statement",
    log=True,
    form="{:,.0f}",
)


def words(table: pd.DataFrame) -> Words:
    """Both ratios."""
    mine, published = ours(table)["response"], theirs(table)["response"]
    ratio, told = (of["kept"] / of["removed_at_once"] for of in (mine, published))
    return Words(
        alt=f"Dots of microseconds per statement, on a log axis. Closed views kept: {mine['kept']:.0f}; removed at once: "
        f"{mine['removed_at_once']:.0f}. Published: {published['kept']:,.0f} and {published['removed_at_once']:,.0f}.",
        caption=f"On the simulated machine keeping closed views makes a statement take {ratio:.2f} times as long (published: {told:.0f} times).",
    )
