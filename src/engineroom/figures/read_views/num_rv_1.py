"""The read-view article's list: views in it against sessions, with closed ones kept and removed at once."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows

LABELS = {"kept": "kept", "closed": "closed among them", "removed_at_once": "removed at once"}
SHORT = {"closed": "closed"}
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="sessions", y_label="views in the list", y_log=False)


def words(table: Rows) -> Words:
    """The longest list, and how much of it is closed."""
    of = picture.values(table)
    most = of["kept"].index.max()
    kept, closed, removed = (of[series, most] for series in LABELS)
    return Words(
        alt=picture.alt(table, "{:,.0f}"),
        caption=f"With {most:,} sessions the list of 5.7 holds {kept:,.0f} views, {100 * closed / kept:.0f} % of them closed. Removed at "
        f"once, {removed:,.0f} are left.",
    )
