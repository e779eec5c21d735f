"""The read-view article's list: views in it against sessions, with closed ones kept and removed at once."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows

__all__ = ["picture", "rows", "words"]

LABELS = {"kept": "kept", "closed": "closed among them", "removed_at_once": "removed at once"}
picture = Curves(
    labels=LABELS, narrow={"closed": "closed"}, x_label="sessions", y_label="views in the list", y_log=False
)


def words(table: pd.DataFrame) -> Words:
    """The longest list, and how much of it is closed."""
    of = ours(table)
    kept, closed, removed = (of[series] for series in LABELS)
    most = kept.index.max()
    said = "; ".join(f"{label}: {at(of[series], '{:,.0f}')}" for series, label in LABELS.items())
    return Words(
        alt=f"Line chart of read views in the list against sessions. {said}.",
        caption=f"With {most:,} sessions the list of 5.7 holds {kept[most]:,.0f} views, {100 * closed[most] / kept[most]:.0f} % of them closed. "
        f"Removed at once, {removed[most]:,.0f} are left.",
    )
