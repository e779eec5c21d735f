"""Figure 7-16 on live servers: what the report of one deadlock adds to the error log, and what writing it costs.

Two sessions update two rows of SysBench's table in opposite orders, so that each round is exactly one deadlock, and nothing else is
written meanwhile. Deadlocks are counted by the client: up to 8.0.15 the server's counter misses those whose victim is the requester.

A deadlock is told of while all queues are latched: until 8.0.18 by the session whose request closed the cycle, then by the thread
that looks for cycles. So its CPU time with the setting less that without is time for which nobody else gets a row lock. It is no
more than a lower bound: waiting for the log's own mutex and for the file is not in it.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.servers.catalogue import measured

if TYPE_CHECKING:
    from engineroom.servers import Server

# The source's series is that of the server nearest to its 8.0.27.
SERIES: Mapping[str, str] = {name: name for name in measured()} | {"8.0.31": "log_lines_per_deadlock"}
DATABASE = "deadlocks"
_ALL = 10_000_000  # lines of a log: all that there are
COLUMNS = {
    "innodb_print_all_deadlocks": "on or off",
    "lines": "that the error log grew by, over deadlocks",
    "bytes": "that it grew by, over deadlocks",
    "deadlocks": "rounds, in each of which one client got error 1213",
    "teller_cpu_us": "CPU time of the thread that tells of the deadlock, over deadlocks, microseconds; with the request itself up to "
    "8.0.15; empty where the server does not name its threads (5.6)",
    "teller": "which thread that is",
    "server": "version",
}
PRINT_VERSIONS = measured(since="5.7")
PRINT_COLUMNS = {
    "server": "version",
    "teller": COLUMNS["teller"],
    "print_bytes": "that the error log grew by per deadlock with the setting on, less with it off",
    "print_cpu_us": "CPU time of the telling thread per deadlock with the setting on, less with it off, microseconds",
    "print_server_cpu_us": "the same of all threads of the server",
    "print_wall_us": "median time from sending the request that closes the cycle to its error, with the setting on, less with it "
    "off, microseconds",
    "deadlocks": "rounds with the setting on, and as many with it off",
    "innodb_print_all_deadlocks": COLUMNS["innodb_print_all_deadlocks"],
    "bytes": COLUMNS["bytes"],
    "cpu_us": "CPU time of the telling thread per deadlock, microseconds; with the request itself up to 8.0.15",
    "server_cpu_us": "of all threads of the server",
    "wall_us": "median time from sending the request that closes the cycle to its error, microseconds",
}
_TABLE = (
    (
        "CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '',"
        " pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k)) ENGINE=InnoDB"
    ),
    f"INSERT INTO sbtest1 (k, c, pad) VALUES (1, '{'1' * 120}', '{'2' * 60}'), (2, '{'3' * 120}', '{'4' * 60}')",
)


def deadlock_log(*, deadlocks: int = 50, repeats: int = 3, versions: Sequence[str] = tuple(SERIES)) -> Run:
    """Count lines, bytes and CPU time per deadlock with `innodb_print_all_deadlocks` on and off."""
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for version in versions:
            with _filled(sitting, version) as server:
                for repeat, setting in in_turns(repeats, ("off", "on"), desc=f"MySQL {server.version}"):
                    server.execute(f"SET GLOBAL innodb_print_all_deadlocks = {setting.upper()}")
                    seen = _measured(server, deadlocks)
                    rows.append(
                        {
                            "innodb_print_all_deadlocks": setting,
                            "series": SERIES.get(version, version),
                            "repeat": repeat,
                            "server": server.version,
                            "lines": seen["lines"],
                            "bytes": seen["bytes"],
                            "deadlocks": deadlocks,
                            "teller_cpu_us": seen["cpu_us"],
                            "teller": seen["teller"],
                        }
                    )
    return sitting.run(
        "fig-7-16", rows, columns=COLUMNS, load="two sessions update two rows in opposite orders"
    )


def deadlock_print(
    *, deadlocks: int = 20, repeats: int = 20, versions: Sequence[str] = PRINT_VERSIONS
) -> Run:
    """What printing one deadlock costs: each server with the setting on and off in turns, and the difference of the two per repeat."""
    settings: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting, contextlib.ExitStack() as stack:
        servers = {}
        for version in versions:
            server = stack.enter_context(_filled(sitting, version))
            servers[server.version] = server
        for repeat, version in in_turns(repeats, servers, desc="printing"):
            of = {"series": version, "repeat": repeat, "server": version}
            seen = {}
            for setting in ("off", "on"):
                servers[version].execute(f"SET GLOBAL innodb_print_all_deadlocks = {setting.upper()}")
                seen[setting] = _with_cpu_time(servers[version], deadlocks)
                settings.append(of | {"innodb_print_all_deadlocks": setting, **seen[setting]})
            rows.append(of | cost_of_printing(**seen) | {"deadlocks": deadlocks})
    return sitting.run(
        "own-deadlock-print",
        rows,
        columns=PRINT_COLUMNS,
        tables={"settings": settings},
        load="two sessions update two rows in opposite orders",
    )


@contextlib.contextmanager
def _filled(sitting: LiveSitting, version: str) -> Iterator[Server]:
    with sitting.server(version, options={"transaction_isolation": "READ-COMMITTED"}) as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
        server.execute(*_TABLE, database=DATABASE)
        yield server


def cost_of_printing(*, off: Mapping[str, Any], on: Mapping[str, Any]) -> dict[str, Any]:
    """What a deadlock costs more with the setting on."""
    return {
        "teller": on["teller"],
        **{f"print_{name}": on[name] - off[name] for name in ("bytes", "cpu_us", "server_cpu_us", "wall_us")},
    }


def _with_cpu_time(server: Server, deadlocks: int) -> dict[str, Any]:
    seen = _measured(server, deadlocks)
    del seen["lines"]
    if None in (seen["cpu_us"], seen["server_cpu_us"]):
        raise EngineRoomError(
            f"the CPU time of MySQL {server.version} cannot be read",
            remedy="measure on Linux with a server from 5.7 on that runs as a process of this machine",
        )
    return seen


def _measured(server: Server, deadlocks: int) -> dict[str, Any]:
    """What each of so many deadlocks adds to the log and takes of the processors; empty where the server does not say."""
    with _Pair(server) as pair:
        pair.deadlock()  # the first one warms up
        log_before, tellers = server.log_tail(_ALL), _tellers(server, pair)
        server_before, before = server.cpu_seconds(), [_cpu_ns(server, each) for each in tellers.values()]
        wall_ns = [pair.deadlock() for _ in range(deadlocks)]
        cpu_ns = sum(_cpu_ns(server, each) for each in tellers.values()) - sum(before)
        server_after = server.cpu_seconds()
        written = server.log_tail(_ALL)[len(log_before) :]
    server_us = None
    if server_before is not None and server_after is not None:
        server_us = (server_after - server_before) * 1e6 / deadlocks
    return {
        "lines": written.count("\n") / deadlocks,
        "bytes": len(written.encode()) / deadlocks,
        "cpu_us": cpu_ns / deadlocks / 1000 if tellers else None,
        "teller": ", ".join(tellers),
        "server_cpu_us": server_us,
        "wall_us": statistics.median(wall_ns) / 1000,
    }


def _tellers(server: Server, pair: _Pair) -> Mapping[str, int]:
    """Name -> the system's thread: who would print, by this server's version."""
    columns = {
        name
        for (name,) in server.query(
            "SELECT COLUMN_NAME FROM information_schema.columns WHERE TABLE_SCHEMA = 'performance_schema'"
            " AND TABLE_NAME = 'threads'"
        )
    }
    if "THREAD_OS_ID" not in columns:
        return {}
    found = {
        str(name): int(thread)
        for name, thread in server.query(
            "SELECT NAME, THREAD_OS_ID FROM performance_schema.threads WHERE NAME LIKE '%lock_timeout%'"
        )
        if thread is not None
    }
    if server.supports("background_deadlock_detection"):
        return found
    ((thread,),) = server.query(
        f"SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {pair.requester_id}"
    )
    return {"session": int(thread)}


def _cpu_ns(server: Server, thread: int) -> int:
    text = Path(f"/proc/{server.pid}/task/{thread}/schedstat").read_text(encoding="ascii")
    return int(text.split()[0])


class _Pair:
    """Two sessions; the second closes the cycle."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def __enter__(self) -> Self:
        self._first, self._second = (self.server.connect(DATABASE) for _ in range(2))
        for connection in (self._first, self._second):
            connection.autocommit = False
        self._watch = self.server.connect(DATABASE)
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (self._first, self._second, self._watch):
            with contextlib.suppress(Exception):
                connection.close()

    @property
    def requester_id(self) -> int:
        """The session whose request finds the deadlock."""
        return int(self._second.connection_id)

    def deadlock(self) -> int:
        """One, counted by the errors of the clients; the time that the request which closes the cycle took, nanoseconds."""
        errors: list[int] = []
        _update(self._first, 1, errors)
        _update(self._second, 2, errors)
        waiting = threading.Thread(target=_update, args=(self._first, 2, errors))
        waiting.start()
        self._until_it_waits()
        start = time.perf_counter_ns()
        _update(self._second, 1, errors)
        wall_ns = time.perf_counter_ns() - start
        waiting.join(timeout=30)
        for connection in (self._first, self._second):
            connection.rollback()
        if errors != [1213]:
            raise EngineRoomError(
                f"two sessions that had to end in one deadlock got the errors {errors}",
                remedy="run it again on a machine that does nothing else",
            )
        return wall_ns

    def _until_it_waits(self) -> None:
        with contextlib.closing(self._watch.cursor()) as cursor:
            for _ in range(10_000):
                cursor.execute("SHOW STATUS LIKE 'Innodb_row_lock_current_waits'")
                if int(cursor.fetchall()[0][1]) == 1:
                    return
        raise EngineRoomError("a session that must wait for a row did not", remedy="run it again")


def _update(connection: Any, row: int, errors: list[int]) -> None:
    import mysql.connector

    try:
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(f"UPDATE sbtest1 SET k = k + 1 WHERE id = {row}")
    except mysql.connector.Error as error:
        errors.append(int(error.errno))
