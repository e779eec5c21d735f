"""Our own figure: where carrying the columns becomes cheaper than fetching rows late, in our kernel, live points beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import runs
from engineroom.figures.parts import Curves, Run, Words, ours, release, rows_by
from engineroom.figures.style import INK, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LATE, FIELDS = "late fetch", "additional fields"
curves = Curves(
    labels={
        f"{LATE}, off-page value": LATE,
        f"{FIELDS}, off-page value": FIELDS,
        "9.7 with row ids, off-page value": "9.7 with row ids",
        f"{LATE}, short rows": f"{LATE}, short rows",
        f"{FIELDS}, short rows": f"{FIELDS}, short rows",
    },
    narrow={f"{LATE}, short rows": "late, short rows", f"{FIELDS}, short rows": "fields, short rows"},
    where="method == 'kernel'",
    x_label="rows returned",
    y_label="pages read",
)
_pages = rows_by("limit", y="pages_read", keep=["rows"])


def rows(run: Run) -> pd.DataFrame:
    """The kernel's counts, then the pages of the oldest and the newest server at a table of as many rows."""
    counted, live = _pages(run), runs.latest("own-filesort-limits", "live")
    n = run.table["rows"].max()
    if live is None or n not in set(live.table["rows"]):
        return counted
    servers = sorted((name for name in set(live.table["series"]) if "," not in name), key=release)
    of_n = live.table.query(f"rows == {n} and series in {[servers[0], servers[-1]]}")
    return pd.concat([counted, _pages(live.with_table(of_n))], ignore_index=True)


def crossing(table: pd.DataFrame, content: str) -> float:
    """The number of rows from which additional fields read fewer pages, on the straight lines between two counts."""
    of = ours(table[table["method"] == "kernel"])
    gap = of[f"{LATE}, {content}"] - of[f"{FIELDS}, {content}"]
    above = gap[gap > 0]
    if above.empty:
        return float("inf")
    after = float(above.index[0])
    before = gap[gap.index < after]
    if before.empty:
        return after
    low = float(before.index[-1])
    return low + (after - low) * float(-before.iloc[-1]) / float(above.iloc[0] - before.iloc[-1])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Lines are the kernel, hollow marks the servers."""
    curves(table, ax)
    live = table[table["method"] == "live"].groupby("series", sort=False)
    named = {}
    for marker, (server, mine) in zip("oD", live, strict=False):
        ax.plot(mine["limit"], mine["pages_read"], marker, color=INK, fillstyle="none", markersize=8)
        named[marker] = f"MySQL {server}"
    if named:
        legend_above(ax, more=named)


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
