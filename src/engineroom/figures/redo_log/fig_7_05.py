"""Figure 7-5: which callers 250 clients come from when they wait for the reservation of the log of 5.7."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.shares import Ranked
from engineroom.figures.wording import Words, each
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]


def _what(table: pd.DataFrame) -> str:
    return "waits for" if "host" in set(table["method"]) else "time in"


picture = Ranked(label=lambda table: f"share of {_what(table)} reservation, %")


def words(table: pd.DataFrame) -> Words:
    """The callers; the published share is of one sampled stack."""
    of = ours(table)["log_reservation_wait"].sort_values(ascending=False)
    published = theirs(table)["log_reservation_wait"].sort_values(ascending=False)
    return Words(
        alt=f"Dot plot of the callers of log reservation by share of {_what(table)} it: {each(of, '{:.1f} %')}. "
        f"Published, of one stack: {each(published, '{:.0f} %')}.",
        caption=f"Committing mini-transactions makes {of['mtr_commit']:.1f} % of {_what(table)} log reservation.",
    )
