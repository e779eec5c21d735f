"""One client of a live server, statement by statement: the loads that it runs, and what its thread in the server used for each.

Only what the connection's own thread does is CPU time here: from 8.0 on, log threads write and sync the redo log.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engineroom.errors import EngineRoomError
from engineroom.workloads import oltp_read_write, tpcc, tpcc_terminal
from engineroom.workloads.requests import Load, Program, Request, Rows, in_text
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["ISOLATION", "OPTIONS", "Answer", "Client", "Key", "LiveLoad", "asked", "state"]

Key = tuple[str, str]  # (transaction, statement)

DISTRIBUTION = "pareto"
ISOLATION = "READ COMMITTED"
OPTIONS: Mapping[str, str | int] = {
    "innodb_buffer_pool_size": "1G",
    "innodb_flush_log_at_trx_commit": 1,
    "innodb_stats_auto_recalc": "OFF",  # its thread would write redo while statements are counted
}
_MOST_LOOKS = 1_000_000


@dataclass(frozen=True)
class Answer:
    """The rows of a statement, and what it took."""

    rows: Rows
    round_trip_ns: int
    cpu_ns: int


class LiveLoad:
    """A load: its database, its transactions, and how its client sends statements."""

    def __init__(self, name: str, *, table_rows: int, scale: float) -> None:
        found = re.fullmatch(r"sysbench_read_write|tpcc_([1-9]\d*)", name)
        if found is None:
            raise ValueError(f"the load is {name!r}: pass sysbench_read_write or tpcc_<warehouses>")
        self.name, self.prepares = name, found[1] is None
        self.family = "sysbench" if self.prepares else "tpcc"
        self.database = f"demands_{self.family}"
        self._table_rows = table_rows
        self._size = tpcc.Size(int(found[1] or 1), scale)
        self.described = (
            f"{name}: oltp_read_write, 1 table of {table_rows} rows, {DISTRIBUTION}, prepared statements"
            if self.prepares
            else f"{name}: {self._size.warehouses} warehouses at scale {scale:g}, the standard's mix, statements in text"
        )

    def fill(self, server: Server) -> None:
        if self.prepares:
            Sysbench(server, database=self.database, table_rows=self._table_rows).prepare()
        else:
            tpcc.load(
                server,
                database=self.database,
                warehouses=self._size.warehouses,
                scale=self._size.scale,
                progress=False,
            )

    def transactions(self, seed: int) -> Load:
        if self.prepares:
            return oltp_read_write.transactions(
                table_rows=self._table_rows, distribution=DISTRIBUTION, seed=seed
            )
        return tpcc_terminal.transactions(self._size, seed=seed)


def asked(
    transactions: Iterable[tuple[str, Program]], ask: Callable[[Request], Answer]
) -> Iterator[tuple[Key, int, Answer]]:
    """Run the transactions; of each statement its (transaction, statement), its place in the transaction from 1, and the answer."""
    for kind, program in transactions:
        rows: Any = None
        for place in itertools.count(1):
            try:
                request = program.send(rows)
            except StopIteration:
                break
            answer = ask(request)
            rows = answer.rows
            yield (kind, request.name), place, answer


class Client:
    """One connection that sends requests as the load's client does, and reads what its thread in the server used."""

    def __init__(self, server: Server, database: str, *, prepares: bool) -> None:
        self._connection = server.connect(database, ssl_disabled=True)
        self._connection.autocommit = prepares  # SysBench begins its transactions with a statement
        self._prepares = prepares
        self._text = self._connection.cursor()
        self._text.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {ISOLATION}")
        self._prepared: dict[str, Any] = {}
        self.id = int(self._connection.connection_id)
        ((thread,),) = server.query(
            f"SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {self.id}"
        )
        task = Path(f"/proc/{server.pid}/task/{thread}")
        self._files: list[int] = []
        try:
            self._files = [os.open(task / name, os.O_RDONLY) for name in ("stat", "schedstat")]
        except OSError as error:
            self._connection.close()
            raise EngineRoomError(
                f"the CPU time of a thread of MySQL {server.version} cannot be read ({error.strerror})",
                remedy="measure on Linux with a server that runs as a process of this machine: engineroom doctor lists them",
            ) from error
        self._cpu_ns = self._asleep_ns()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            os.close(file)
        with contextlib.suppress(Exception):
            self._connection.close()

    def ask(self, request: Request) -> Answer:
        """Send one statement, take its rows, and wait until the server's thread sleeps."""
        if self._prepares and request.name != "begin":  # which no server prepares
            start, head_ns, rows = self._execute(request)
        else:
            text = in_text(request)
            start = time.perf_counter_ns()
            self._text.execute(text)
            head_ns = time.perf_counter_ns()
            rows = self._text.fetchall() if self._text.with_rows else []
        before, self._cpu_ns = self._cpu_ns, self._asleep_ns()
        return Answer(rows, head_ns - start, self._cpu_ns - before)

    def _execute(self, request: Request) -> tuple[int, int, Rows]:
        """A prepared statement without the reset that a cursor of the connector sends before each execution."""
        if request.sql not in self._prepared:
            self._prepared[request.sql] = self._connection.cmd_stmt_prepare(request.sql.encode())
            self._cpu_ns = self._asleep_ns()
        prepared = self._prepared[request.sql]
        start = time.perf_counter_ns()
        result = self._connection.cmd_stmt_execute(
            prepared["statement_id"], data=request.values, parameters=prepared["parameters"]
        )
        head_ns = time.perf_counter_ns()
        if isinstance(result, dict):
            return start, head_ns, []
        self._connection.unread_result = True
        rows, _ = self._connection.get_rows(binary=True, columns=result[1])
        return start, head_ns, rows

    def _asleep_ns(self) -> int:
        """The thread's CPU time once it waits for the next statement: the system books it when the thread leaves the processor."""
        last = -1
        for _ in range(_MOST_LOOKS):
            is_asleep = state(os.pread(self._files[0], 512, 0)) == "S"
            now = int(os.pread(self._files[1], 128, 0).split()[0])
            if is_asleep and now == last:
                return now
            last = now if is_asleep else -1
        raise EngineRoomError(
            "a server's thread does not come to rest after a statement",
            remedy="run it again on a machine that does less",
        )


def state(stat: bytes) -> str:
    """The state of a thread in its `stat`, whose second field is a name in parentheses that may hold anything."""
    return stat.rpartition(b")")[2].split()[0].decode("ascii")
