"""Figure 7-5: which callers 250 clients come from when they wait for the reservation of the log of 5.7."""

from __future__ import annotations

from engineroom.figures.parts import Ranked, Rows, Words, all_rows, each, ours, theirs


def _what(table: Rows) -> str:
    return "waits for" if "host" in set(table["method"]) else "time in"


rows = all_rows
picture = Ranked(label=lambda table: f"share of {_what(table)} reservation, %")


def words(table: Rows) -> Words:
    """The callers; the published share is of one sampled stack."""
    of, published = (
        source(table)["log_reservation_wait"].sort_values(ascending=False) for source in (ours, theirs)
    )
    return Words(
        alt=f"Dot plot of the callers of log reservation by share of {_what(table)} it: {each(of, '{:.1f} %')}. "
        f"Published, of one stack: {each(published, '{:.0f} %')}.",
        caption=f"Committing mini-transactions makes {of['mtr_commit']:.1f} % of {_what(table)} log reservation.",
    )
