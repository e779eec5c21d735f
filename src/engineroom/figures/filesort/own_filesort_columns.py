"""Our own figure: pages read for one row of the result, by type of the long column, statement and generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import STYLES, is_narrow, plain_log_ticks
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

STATEMENTS = {
    "narrow": "two short columns",
    "wide": "all columns",
    "late_join": "late join",
    "indexed": "with an index",
}


def rows(run: Run) -> pd.DataFrame:
    """One row a type, statement and server."""
    kept = run.table[run.table["query"].isin(list(STATEMENTS))]
    grouped = kept.groupby(["type", "query", "series", "sort_mode", "rows"], sort=False)
    return grouped.agg(pages_read=("pages_read", "min"), server_cpu_ms=("server_cpu_ms", "min")).reset_index()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A line a type and statement, a mark a server."""
    servers = sorted(set(table["series"]), key=release)
    types = list(dict.fromkeys(table["type"]))
    lines = [(kind, query) for kind in types for query in STATEMENTS]
    for style, server in zip(STYLES, servers, strict=False):
        mine = table[table["series"] == server]
        at = [lines.index((kind, query)) for kind, query in zip(mine["type"], mine["query"], strict=True)]
        ax.plot(
            mine["pages_read"], at, style.marker, color=style.colour, markersize=6, alpha=0.8, label=server
        )
    names = [f"{kind.split('(')[0] if is_narrow(ax) else kind}: {STATEMENTS[query]}" for kind, query in lines]
    ax.set_yticks(range(len(lines)), names, fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_xlabel("pages read, log scale")
    ax.grid(alpha=0.25)
    ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=2 if is_narrow(ax) else 4, fontsize=9)


def words(table: pd.DataFrame) -> Words:
    """The wide statement of the oldest and the newest server."""
    servers = sorted(set(table["series"]), key=release)
    of = table.set_index(["type", "query", "series"])["pages_read"]
    kind, newest, oldest = table["type"].iloc[0], servers[-1], servers[0]
    n = table["rows"].iloc[0]
    said = "; ".join(f"{server} {of[kind, 'wide', server]:,}" for server in servers)
    return Words(
        alt=f"Dot plot of pages read for one row out of {n:,}, by type of the long column. All columns, {kind}: {said}.",
        caption=(
            f"All columns of one row out of {n:,}, long column {kind}: MySQL {newest} reads {of[kind, 'wide', newest]:,} pages, "
            f"{oldest} {of[kind, 'wide', oldest]:,}; with the late join {newest} reads {of[kind, 'late_join', newest]:,}, with an index "
            f"{of[kind, 'indexed', newest]:,}."
        ),
    )
