"""Our own figure: where carrying the columns becomes cheaper than fetching rows late, in our kernel, live points beside it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import runs, side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.style import INK, legend_above
from engineroom.figures.wording import Words
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["crossing", "picture", "rows", "words"]

curves = Curves(
    labels={
        "late fetch, off-page value": "late fetch",
        "additional fields, off-page value": "additional fields",
        "9.7 with row ids, off-page value": "9.7 with row ids",
        "late fetch, short rows": "late fetch, short rows",
        "additional fields, short rows": "additional fields, short rows",
    },
    narrow={
        "late fetch, short rows": "late, short rows",
        "additional fields, short rows": "fields, short rows",
    },
    where="method == 'kernel'",
    x_label="rows returned",
    y_label="pages read",
)


def rows(run: Run) -> pd.DataFrame:
    """The kernel's counts, then the pages of the oldest and the newest server at a table of as many rows."""
    pages = partial(side_by_side.rows, by=("limit", "series"), y="pages_read", keep=["rows"])
    counted = pages(run)
    n = run.table["rows"].max()
    live = runs.latest("own-filesort-limits", "live")
    if live is None or n not in set(live.table["rows"]):
        return counted
    servers = sorted((name for name in set(live.table["series"]) if "," not in name), key=release)
    of_n = live.with_table(live.table.query(f"rows == {n}"))
    measured = pages(of_n, where=f"series in {[servers[0], servers[-1]]}")
    return pd.concat([counted, measured], ignore_index=True)


def crossing(table: pd.DataFrame, content: str) -> float:
    """The number of rows from which additional fields read fewer pages, on the straight lines between two counts."""
    of = ours(table[table["method"] == "kernel"])
    gap = of[f"late fetch, {content}"] - of[f"additional fields, {content}"]
    above = gap[gap > 0]
    if above.empty:
        return float("inf")
    after = float(above.index[0])
    before = gap[gap.index < after]
    if before.empty:
        return after
    low, high = float(before.index[-1]), after
    return low + (high - low) * float(-before.iloc[-1]) / float(above.iloc[0] - before.iloc[-1])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Lines are the kernel, hollow marks the servers."""
    curves(table, ax)
    live = table[table["method"] == "live"]
    servers = dict(zip("oD", dict.fromkeys(live["series"]), strict=False))
    for marker, server in servers.items():
        mine = live[live["series"] == server]
        ax.plot(
            mine["limit"], mine["pages_read"], marker, color=INK, fillstyle="none", markersize=8, linestyle=""
        )
    if servers:
        legend_above(ax, more={marker: f"MySQL {server}" for marker, server in servers.items()})


def words(table: pd.DataFrame) -> Words:
    """Where the lines cross."""
    n = int(table["rows"].max())
    long, short = crossing(table, "off-page value"), crossing(table, "short rows")
    return Words(
        alt=f"Log-log line chart of pages read against rows returned, {n:,} rows in the table. Late fetch is below additional fields up "
        f"to {long:,.0f} rows where values are off-page, and up to {short:,.0f} where rows are short.",
        caption=f"With a long off-page value, fetching rows late reads fewer pages up to {long:,.0f} of {n:,} rows; with short rows "
        f"the columns are cheaper to carry from row {short:,.0f} on.",
    )
