"""Figure 7-4: where 250 clients spend their time on the CPU, over the log of 5.7 and of 8.0."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.shares import Ranked
from engineroom.figures.wording import Words, each
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

LOGS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}

# Components below a thousandth stay out; statement is all SQL work together.
rows = partial(side_by_side.rows, where="share_percent >= 0.1 or component == 'log_reservation'")
picture = Ranked(series=LOGS, label="share of CPU time, %")


def words(table: pd.DataFrame) -> Words:
    """The share of the reservation in both logs."""
    of, published = ours(table), theirs(table)
    how = "sampled stacks of real threads" if "host" in set(table["method"]) else "simulated"

    def said(shares: pd.Series[float]) -> str:
        return each(shares.sort_values(ascending=False), "{:.1f} %")

    return Words(
        alt=f"Dot plot of shares of CPU time, {how}. Log of 5.7: {said(of['old_redo'])}. Log of 8.0: {said(of['new_redo'])}. "
        f"Published for the log of 5.7: {said(published['old_redo'])}.",
        caption=f"Of the CPU time of 250 clients ({how}) {of['old_redo', 'log_reservation']:.0f} % goes to reserving log with the mutex "
        f"of 5.7 and {of['new_redo', 'log_reservation']:.0f} % with the log of 8.0; published "
        f"{published['old_redo', 'log_reservation']:.0f} % for 5.7.",
    )
