"""One client of a live server, statement by statement, and the loads that it runs."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from engineroom.workloads import oltp_read_write, tpcc, tpcc_terminal
from engineroom.workloads.requests import Load, Program, Request, Rows, in_text
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["DISTRIBUTION", "OPTIONS", "Client", "Key", "LiveLoad", "asked"]

Key = tuple[str, str]  # (transaction, statement)

DISTRIBUTION = "pareto"
OPTIONS: Mapping[str, str | int] = {
    "innodb_buffer_pool_size": "1G",
    "innodb_flush_log_at_trx_commit": 1,
    "transaction_isolation": "READ-COMMITTED",
    "innodb_stats_auto_recalc": "OFF",  # its thread would write redo while statements are counted
}


class LiveLoad:
    """A load: its database, its transactions, and how its client sends statements."""

    def __init__(self, name: str, *, table_rows: int, scale: float) -> None:
        found = re.fullmatch(r"sysbench_read_write|tpcc_([1-9]\d*)", name)
        if found is None:
            raise ValueError(f"the load is {name!r}: pass sysbench_read_write or tpcc_<warehouses>")
        self.name, self.prepares = name, found[1] is None
        self.family = "sysbench" if self.prepares else "tpcc"
        self.database = f"demands_{self.family}"
        self.table_rows = table_rows
        self.size = tpcc.Size(int(found[1] or 1), scale)
        self.described = (
            f"{name}: oltp_read_write, 1 table of {table_rows} rows, {DISTRIBUTION}, prepared statements"
            if self.prepares
            else f"{name}: {self.size.warehouses} warehouses at scale {scale:g}, the standard's mix, statements in text"
        )

    def fill(self, server: Server) -> None:
        if self.prepares:
            Sysbench(server, database=self.database, table_rows=self.table_rows).prepare()
        else:
            tpcc.load(
                server,
                database=self.database,
                warehouses=self.size.warehouses,
                scale=self.size.scale,
                replace=True,
                progress=False,
            )

    def transactions(self, seed: int) -> Load:
        if self.prepares:
            return oltp_read_write.transactions(
                table_rows=self.table_rows, distribution=DISTRIBUTION, seed=seed
            )
        return tpcc_terminal.transactions(self.size, seed=seed)


def asked(
    transactions: Iterable[tuple[str, Program]], ask: Callable[[Request], Rows]
) -> Iterator[tuple[Key, int]]:
    """Run the transactions; of each statement that was answered its (transaction, statement), and its place in the transaction from 1."""
    for kind, program in transactions:
        rows: Any = None
        for place in itertools.count(1):
            try:
                request = program.send(rows)
            except StopIteration:
                break
            rows = ask(request)
            yield (kind, request.name), place


class Client:
    """One connection that sends requests as the load's client does."""

    def __init__(self, server: Server, load: LiveLoad) -> None:
        self._connection = server.connect(load.database, ssl_disabled=True)
        self._connection.autocommit = load.prepares  # SysBench begins its transactions with a statement
        self._prepares = load.prepares
        self._text = self._connection.cursor()
        self._prepared: dict[str, Any] = {}
        self.id = int(self._connection.connection_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()

    def ask(self, request: Request) -> Rows:
        """Send one statement, and take its rows."""
        if self._prepares and request.name != "begin":  # which no server prepares
            return self._execute(request)
        self._text.execute(in_text(request))
        return self._text.fetchall() if self._text.with_rows else []

    def _execute(self, request: Request) -> Rows:
        """A prepared statement without the reset that a cursor of the connector sends before each execution."""
        if request.sql not in self._prepared:
            self._prepared[request.sql] = self._connection.cmd_stmt_prepare(request.sql.encode())
        prepared = self._prepared[request.sql]
        result = self._connection.cmd_stmt_execute(
            prepared["statement_id"], data=request.values, parameters=prepared["parameters"]
        )
        if isinstance(result, dict):
            return []
        self._connection.unread_result = True
        rows: Rows
        rows, _ = self._connection.get_rows(binary=True, columns=result[1])
        return rows
