"""Our own figure: pages read for one row of the result, by type of the long column, statement and generation."""

from __future__ import annotations

import re

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

STATEMENTS = {
    "narrow": "two short columns",
    "wide": "all columns",
    "late_join": "late join",
    "indexed": "with an index",
}


def rows(run: Run) -> pd.DataFrame:
    """All repeats of these statements; `line` is a type and a statement."""
    table = side_by_side.rows(
        run, by=("type", "query", "series"), y="pages_read", where=f"query in {list(STATEMENTS)}"
    )
    return table.assign(line=table["type"] + ": " + table["query"].map(STATEMENTS))


def _servers(table: pd.DataFrame) -> dict[str, str]:
    return {server: server for server in sorted(set(table["series"]), key=release)}


def _lines(table: pd.DataFrame) -> dict[str, str]:
    return {
        f"{kind}: {said}": f"{kind}: {said}"
        for kind in dict.fromkeys(table["type"])
        for said in STATEMENTS.values()
    }


def _short(table: pd.DataFrame) -> dict[str, str]:
    return {line: re.sub(r"\(\d+\)", "", line) for line in _lines(table)}


picture = Dots(by="line", rows=_lines, narrow=_short, series=_servers, label="pages read", log=True)


def words(table: pd.DataFrame) -> Words:
    """The wide statement of the oldest and the newest server."""
    of = ours(table)
    servers = list(_servers(table))
    kind, newest, oldest = table["type"].iloc[0], servers[-1], servers[0]
    n = table["rows"].iloc[0]
    said = "; ".join(f"{server} {of[server, kind, 'wide']:,}" for server in servers)
    return Words(
        alt=f"Dot plot of pages read for one row out of {n:,}, by type of the long column. All columns, {kind}: {said}.",
        caption=f"All columns of one row out of {n:,}, long column {kind}: MySQL {newest} reads {of[newest, kind, 'wide']:,} pages, "
        f"{oldest} {of[oldest, kind, 'wide']:,}; with the late join {newest} reads {of[newest, kind, 'late_join']:,}, with an index "
        f"{of[newest, kind, 'indexed']:,}.",
    )
