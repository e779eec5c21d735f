"""What `book/filesort.md` tells: what each server's sort reads, and what it costs."""

from __future__ import annotations

import pandas as pd

from engineroom.chapters.filesort import figures
from engineroom.runs import newest, published
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

_limits = newest("own-filesort-limits", "live")
servers = sorted({name for name in _limits.table["series"] if "," not in name}, key=release)
oldest, latest = servers[0], servers[-1]
# The last with the old sort, which can be told to carry the columns.
provoked = max((name for name in set(_limits.table["series"]) if ", provoked" in name), key=release)
before = provoked.removesuffix(", provoked")
limits_rows = int(_limits.table["rows"].max())
pages, cpu_ms, merge_passes = (
    _limits.values("rows", "series", "limit", y=y)[limits_rows]
    for y in ("pages_read", "server_cpu_ms", "merge_passes")
)

_types = newest("own-filesort-columns", "live").values("type", "series", "query", y="pages_read")
pages_of = _types["varchar(8192)", latest]  # by query
most_pages = _types.xs((latest, "wide"), level=("series", "query")).max()

# Counted in instructions by callgrind: calls of the copy routine, and shares.
long_values = newest("num-fs-2", "instructions").values(
    "series", y="external_field_reads", where="query == 'limit_1'"
)
conversion_percent = newest("num-fs-3", "instructions").values("part", "series", y="share_percent")[
    "row_conversion"
]
reading_percent = newest("num-fs-4", "instructions").values("series", y="share_percent")
_counted = newest("own-filesort-instructions", "instructions")

_crossover = figures.own_filesort_crossover.rows(newest("own-filesort-crossover", "kernel"))
crossing_rows = figures.crossing(_crossover, "off-page value")
crossover_table_rows = int(_crossover["rows"].max())

published_calls = published.rows("num-fs-2").set_index("series")["count"]
published_percent = published.rows("num-fs-4").set_index(["part", "series"])["share_percent"]


def key_table() -> Table:
    """Instructions per row of a sort by the long column, and where they go, in the server's default character set and in latin1."""
    table = _counted.table[_counted.table["query"].str.startswith("by_long_column")]
    shown = []
    for server, mine in table.groupby("server", sort=False):
        row = {"server": str(server)}
        for query, prefix in (("by_long_column", ""), ("by_long_column, latin1", "latin1: ")):
            one = mine[mine["query"] == query].iloc[0]
            row[f"{prefix}per row"] = f"{one['instructions'] / one['rows']:,.0f}"
            for part, name in (("sort_keys", "keys"), ("reading", "reading")):
                row[f"{prefix}{name} %"] = f"{100 * one[part] / one['instructions']:.0f}"
        shown.append(row)
    caption = (
        "A sort by the long column: instructions per row, and the shares of making sort keys and of reading."
    )
    return Table(pd.DataFrame(shown), caption, origin_of(_counted))


def key_percent(server: str, charset: str = "") -> float:
    """Share of instructions that making sort keys takes, when the long column is one: on one server, in its default or another character set."""
    query = "by_long_column" + (f", {charset}" if charset else "")
    of = _counted.table.set_index(["query", "server"])
    return float(100 * of["sort_keys"][query, server] / of["instructions"][query, server])


def limits_table() -> Table:
    """Pages, CPU time and merge passes of each server, by rows returned."""
    shown = [
        {
            "server": server,
            "rows returned": f"{limit:,}",
            "pages read": f"{pages[server, limit]:,}",
            "CPU ms": f"{cpu_ms[server, limit]:.1f}",
            "merge passes": merge_passes[server, limit],
        }
        for limit in (1, 100, limits_rows)
        for server in (oldest, before, provoked, latest)
    ]
    caption = "All columns, ORDER BY an unindexed column, by rows returned."
    return Table(pd.DataFrame(shown), caption, origin_of(_limits))
