"""Our own figure: pages read as LIMIT grows, by generation, and where the columns are carried by order."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

# The largest table.
rows = partial(side_by_side.rows, by=("rows", "limit", "series"), y="pages_read", where="rows == rows.max()")


def _series(table: pd.DataFrame) -> dict[str, str]:
    names = sorted(set(table["series"]), key=lambda name: (release(name.split(",")[0]), name))
    # 5.6 and 5.7 provoked lie on 8.0.15 provoked: one of the three is drawn.
    provoked = [name for name in names if "," in name]
    return {name: name for name in names if name not in provoked[:-1]}


picture = Curves(x="limit", labels=_series, x_label="rows returned", y_label="pages read")


def words(table: pd.DataFrame) -> Words:
    """The first and the last point of each line."""
    of = ours(table).droplevel("rows")
    least, most = table["limit"].min(), table["limit"].max()
    names = list(_series(table))
    newest, oldest = names[-1], names[0]
    said = "; ".join(
        f"{name} {of[name, least]:,} at {least}, {of[name, most]:,} at {most:,}" for name in names
    )
    return Words(
        alt=f"Log-log line chart of pages read against rows returned. {said}.",
        caption=f"For one row MySQL {newest} reads {of[newest, least] / of[oldest, least]:.0f} times the pages of {oldest}; for all "
        f"{most:,} rows {oldest} reads {of[oldest, most] / of[newest, most]:.1f} times those of {newest}.",
    )
