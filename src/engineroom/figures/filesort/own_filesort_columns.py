"""Our own figure: pages read for one row of the result, by type of the long column, statement and generation."""

from __future__ import annotations

import re

from engineroom.figures.parts import Dots, Rows, Run, Words, as_found, by_release, each, ours, rows_by

STATEMENTS = {
    "narrow": "two short columns",
    "wide": "all columns",
    "late_join": "late join",
    "indexed": "with an index",
}
_rows = rows_by("type", "query", y="pages_read", where=f"query in {list(STATEMENTS)}")


def rows(run: Run) -> Rows:
    """All repeats of these statements; `line` is a type and a statement."""
    table = _rows(run)
    return table.assign(line=table["type"] + ": " + table["query"].map(STATEMENTS))


def _lines(table: Rows) -> dict[str, str]:
    lines = (f"{kind}: {said}" for kind in as_found("type")(table) for said in STATEMENTS.values())
    return {line: line for line in lines}


def _short(table: Rows) -> dict[str, str]:
    return {line: re.sub(r"\(\d+\)", "", line) for line in _lines(table)}


picture = Dots(by="line", rows=_lines, narrow=_short, series=by_release, label="pages read", log=True)


def words(table: Rows) -> Words:
    """The wide statement of the oldest and the newest server."""
    oldest, *_, newest = servers = list(by_release(table))
    kind, n = table["type"].iloc[0], table["rows"].iloc[0]
    of = ours(table).xs(kind, level="type")
    return Words(
        alt=f"Dot plot of pages read for one row out of {n:,}, by type of the long column. All columns, {kind}: "
        f"{each(of[:, 'wide'][servers], '{:,}')}.",
        caption=f"All columns of one row out of {n:,}, long column {kind}: MySQL {newest} reads {of[newest, 'wide']:,} pages, "
        f"{oldest} {of[oldest, 'wide']:,}; with the late join {newest} reads {of[newest, 'late_join']:,}, with an index "
        f"{of[newest, 'indexed']:,}.",
    )
