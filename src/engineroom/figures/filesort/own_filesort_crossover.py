"""Our own figure: where carrying the columns becomes cheaper than fetching rows late, in our kernel, live points beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import runs
from engineroom.figures.drawing import INK, Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["crossing", "picture", "rows", "words"]

LABELS = {
    "late fetch, off-page value": "late fetch",
    "additional fields, off-page value": "additional fields",
    "9.7 with row ids, off-page value": "9.7 with row ids",
    "late fetch, short rows": "late fetch, short rows",
    "additional fields, short rows": "additional fields, short rows",
}
SHORT = LABELS | {
    "late fetch, short rows": "late, short rows",
    "additional fields, short rows": "fields, short rows",
}


def rows(run: Run) -> pd.DataFrame:
    """The kernel's counts, then the pages of the oldest and the newest server at a table of as many rows."""
    ours: pd.DataFrame = run.table[["limit", "series", "repeat", "pages_read", "rows"]].assign(
        source="kernel"
    )
    live = runs.latest("own-filesort-limits", "live")
    if live is None or run.table["rows"].max() not in set(live.table["rows"]):
        return ours
    table: pd.DataFrame = live.table[live.table["rows"] == run.table["rows"].max()]
    servers = sorted((name for name in set(table["series"]) if "," not in name), key=release)
    kept = table[table["series"].isin([servers[0], servers[-1]])]
    return pd.concat(
        [ours, kept[["limit", "series", "repeat", "pages_read", "rows"]].assign(source="live")],
        ignore_index=True,
    )


def crossing(table: pd.DataFrame, content: str) -> float:
    """The number of rows from which additional fields read fewer pages, on the straight lines between two counts."""
    of = table[table["source"] == "kernel"].groupby(["series", "limit"])["pages_read"].min()
    late, carried = of[f"late fetch, {content}"], of[f"additional fields, {content}"]
    gap = late - carried
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
    labels = SHORT if is_narrow(ax) else LABELS
    ends = lines(
        table[table["source"] == "kernel"], ax, x="limit", y="pages_read", labels=labels, summary="min"
    )
    live = table[table["source"] == "live"]
    for marker, (server, mine) in zip("oD", live.groupby("series"), strict=False):
        ax.plot(
            mine["limit"],
            mine["pages_read"],
            marker,
            color=INK,
            fillstyle="none",
            markersize=8,
            label=f"MySQL {server}",
            linestyle="",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(0.8, table["limit"].max() * (110 if is_narrow(ax) else 30))
    plain_log_ticks(ax.xaxis)
    ax.set_xticks([tick for tick in (1, 10, 100, 1000, 10_000) if tick <= table["limit"].max()])
    plain_log_ticks(ax.yaxis)
    ax.set_xlabel("rows returned, log scale")
    ax.set_ylabel("pages read, log scale")
    if not live.empty:
        ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=9)
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """Where the lines cross."""
    n = int(table["rows"].max())
    long, short = crossing(table, "off-page value"), crossing(table, "short rows")
    return Words(
        alt=(
            f"Log-log line chart of pages read against rows returned, {n:,} rows in the table. Late fetch is below additional fields up "
            f"to {long:,.0f} rows where values are off-page, and up to {short:,.0f} where rows are short."
        ),
        caption=(
            f"With a long off-page value, fetching rows late reads fewer pages up to {long:,.0f} of {n:,} rows; with short rows "
            f"the columns are cheaper to carry from row {short:,.0f} on."
        ),
    )
