"""Our own figure: CPU time per row of a large INSERT, parsed alone and stored, in four generations."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, ends
from engineroom.servers.catalogue import release
from engineroom.summary import values

__all__ = ["picture", "rows", "words"]


def _servers(table: pd.DataFrame) -> dict[str, str]:
    return {server: server for server in sorted(set(table["series"]), key=release)}


rows = partial(
    side_by_side.rows,
    by=("columns", "rows_per_statement", "target", "series"),
    y="server_cpu_us",
    where="rows_per_statement == rows_per_statement.max()",
)
# Parsing alone, into a table that keeps nothing.
picture = Curves(
    x="columns",
    labels=_servers,
    where="target == 'blackhole'",
    x_label="columns of a row",
    y_label="CPU µs per row",
)


def words(table: pd.DataFrame) -> Words:
    """The newest over 5.7, at both ends, parsed and stored."""
    of = values(table, "target", "series", "columns", y="server_cpu_us")
    servers = list(_servers(table))
    few, many = min(table["columns"]), max(table["columns"])
    old = next((server for server in servers if server.startswith("5.7")), servers[0])
    new = servers[-1]
    parsed, stored = (of[target, new] / of[target, old] for target in ("blackhole", "innodb"))
    said = "; ".join(f"{server}: {ends(of['blackhole', server])}" for server in servers)
    return Words(
        alt=f"Log-log line chart of server CPU microseconds per parsed row against columns, {table['rows_per_statement'].iloc[0]} rows "
        f"per statement. {said}.",
        caption=f"Parsed and thrown away, a row of {few} column costs {new} {parsed[few]:.2f} times what it costs {old}, one of {many} "
        f"columns {parsed[many]:.2f} times; stored in InnoDB, {stored[few]:.2f} and {stored[many]:.2f} times.",
    )
