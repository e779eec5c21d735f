"""Figure 7-16 on live servers: what the report of one deadlock adds to the error log, and what writing it costs.

Two sessions update two rows of SysBench's table in opposite orders, so that each round is exactly one deadlock, and nothing else is
written meanwhile. Deadlocks are counted by the client: up to 8.0.15 the server's counter misses those whose victim is the requester.

A deadlock is told of while all queues are latched: until 8.0.18 by the session whose request closed the cycle, then by the thread
that looks for cycles. So its CPU time with the setting less that without is time for which nobody else gets a row lock. It is no
more than a lower bound: waiting for the log's own mutex and for the file is not in it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["COLUMNS", "SERIES", "deadlock_log"]

# The source's series by the version that stands for its 8.0.27: in both a thread of its own tells of deadlocks.
SERIES: Mapping[str, str] = {"5.6": "5.6", "5.7": "5.7", "8.0": "8.0", "9.7": "log_lines_per_deadlock"}
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
            with sitting.server(version, options={"transaction_isolation": "READ-COMMITTED"}) as server:
                server.execute(f"CREATE DATABASE {DATABASE}")
                server.execute(*_TABLE, database=DATABASE)
                for repeat, setting in in_turns(repeats, ("off", "on"), desc=f"MySQL {server.version}"):
                    server.execute(f"SET GLOBAL innodb_print_all_deadlocks = {setting.upper()}")
                    rows.append(
                        {
                            "innodb_print_all_deadlocks": setting,
                            "series": SERIES[version],
                            "repeat": repeat,
                            "server": server.version,
                            **_measured(server, deadlocks),
                        }
                    )
    return sitting.run(
        "fig-7-16", rows, columns=COLUMNS, load="two sessions update two rows in opposite orders"
    )


def _measured(server: Server, deadlocks: int) -> dict[str, Any]:
    with _Pair(server) as pair:
        pair.deadlock()  # the first one warms up
        before = server.log_tail(_ALL)
        tellers = _tellers(server, pair)
        cpu_before = {name: _cpu_ns(server, thread) for name, thread in tellers.items()}
        for _ in range(deadlocks):
            pair.deadlock()
        cpu_ns = {name: _cpu_ns(server, thread) - cpu_before[name] for name, thread in tellers.items()}
        written = server.log_tail(_ALL)[len(before) :]
    return {
        "lines": written.count("\n") / deadlocks,
        "bytes": len(written.encode()) / deadlocks,
        "deadlocks": deadlocks,
        "teller_cpu_us": sum(cpu_ns.values()) / deadlocks / 1000 if cpu_ns else None,
        "teller": ", ".join(tellers),
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

    def deadlock(self) -> None:
        """One, counted by the errors of the clients."""
        errors: list[int] = []
        _update(self._first, 1, errors)
        _update(self._second, 2, errors)
        waiting = threading.Thread(target=_update, args=(self._first, 2, errors))
        waiting.start()
        self._until_it_waits()
        _update(self._second, 1, errors)
        waiting.join(timeout=30)
        for connection in (self._first, self._second):
            connection.rollback()
        if errors != [1213]:
            raise EngineRoomError(
                f"two sessions that had to end in one deadlock got the errors {errors}",
                remedy="run it again on a machine that does nothing else",
            )

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
