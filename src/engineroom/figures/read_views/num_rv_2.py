"""The read-view article's response time, with closed views kept and removed at once."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, all_rows, each, ours, theirs

LABELS, RESPONSE = {"kept": "kept", "removed_at_once": "removed at once"}, {"response": "mean response"}
UNIT = "microseconds per statement"
rows = all_rows
picture = Dots(rows=LABELS, series=RESPONSE, label=UNIT, log=True, form="{:,.0f}")


def words(table: Rows) -> Words:
    """Both ratios."""
    mine, published = (of(table)["response"][list(LABELS)] for of in (ours, theirs))
    ratio, told = (of["kept"] / of["removed_at_once"] for of in (mine, published))
    return Words(
        alt=f"Dots of {UNIT}, on a log axis. Closed views {each(mine, '{:.0f}')}. Published: {each(published, '{:,.0f}')}.",
        caption=f"On the simulated machine keeping closed views makes a statement take {ratio:.2f} times as long (published: {told:.0f} times).",
    )
