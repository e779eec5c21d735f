"""Idle sessions on live servers: what the closed views that they leave cost purge.

Each idle session has read once, in autocommit mode, and waits. One session then updates a row of its own, statement by statement,
and purge removes what that leaves. Processor time is the purge threads' own, by the system's count; batches and acquisitions of
trx_sys_mutex are the server's. Response time is not judged: on few processors purge's walk cannot stand in anybody's way for long.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.servers.catalogue import measured, release

VERSIONS = tuple(name for name in measured(since="5.7") if name != "8.0.15")
IDLE = (0, 1_000, 2_000, 4_000)
_OPTIONS = {
    "innodb_flush_log_at_trx_commit": "0",
    "performance_schema_instrument": "wait/synch/mutex/innodb/trx_sys_mutex=ON",
    "innodb_monitor_enable": "module_purge",
}
COLUMNS = {
    "idle_sessions": "sessions that have read once in autocommit mode and wait",
    "purge_us_per_transaction": "processor time of the purge threads (schedstat) over transactions",
    "purge_us_per_batch": "the same over purge_invoked",
    "mutex_us_per_transaction": "time that all threads waited for trx_sys_mutex or took to get it (performance_schema)",
    "transactions": "autocommit updates by one session",
    "batches": "purge_invoked, difference",
    "history_left": "History list length at the end",
    "server": "version",
}


def idle_sessions_live(
    *, idle: Sequence[int] = IDLE, repeats: int = 3, seconds: float = 1.5, versions: Sequence[str] = VERSIONS
) -> Run:
    """Purge's processor time per transaction, with ever more idle sessions; the servers in turns."""
    rows: list[dict[str, Any]] = []
    connections = max(idle) + 200
    _allow_files(connections + 1000)  # of which the server keeps 810 for itself
    with LiveSitting() as sitting, contextlib.ExitStack() as stack:
        loads = []
        for version in versions:
            options = {
                **_OPTIONS,
                "max_connections": str(connections),
                **({"disable_log_bin": "ON"} if release(version) >= (8, 0) else {}),
            }
            server = stack.enter_context(sitting.server(version, options=options))
            loads.append(_Load(version, server, stack))
        for n in sorted(idle):
            for load in loads:
                load.idle_up_to(n)
            for repeat, load in in_turns(repeats, loads, desc=f"{n} idle sessions"):
                rows.append(
                    {"idle_sessions": n, "series": load.series, "repeat": repeat, **load.updates(seconds)}
                )
    return sitting.run("own-read-views-idle", rows, seconds=seconds, columns=COLUMNS)


def _allow_files(needed: int) -> None:
    """Open files for this process and the servers that it starts: a connection takes one of either."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != hard < needed:
        raise EngineRoomError(
            f"so many idle sessions take {needed} open files, and this user may have {hard}",
            remedy="raise the hard limit of open files (nofile in /etc/security/limits.conf), or take fewer sessions",
        )
    if resource.RLIM_INFINITY != soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


class _Load:
    """One server, its idle sessions, its writer."""

    def __init__(self, series: str, server: Any, stack: contextlib.ExitStack) -> None:
        self.series = series
        self.server = server
        self._stack = stack
        self._idle: list[Any] = []
        self._writer = stack.enter_context(contextlib.closing(server.connect()))
        self._writer.autocommit = True
        self._cursor = self._writer.cursor(buffered=True)
        for text in (
            "CREATE DATABASE idle",
            "CREATE TABLE idle.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE = InnoDB",
            "INSERT INTO idle.t VALUES (1, 0), (2, 0)",
        ):
            self._cursor.execute(text)
        # Purge's threads, of the system: the coordinator and, in 5.7, its workers.
        self._cursor.execute(
            "SELECT thread_os_id FROM performance_schema.threads WHERE name LIKE '%/srv_purge_thread' "
            "OR name LIKE '%/srv_worker_thread'"
        )
        self._threads = [int(row[0]) for row in self._cursor.fetchall()]

    def idle_up_to(self, n: int) -> None:
        """So many idle sessions in all; each has read behind a write, so that its view is its own."""
        while len(self._idle) < n:
            connection = self._stack.enter_context(contextlib.closing(self.server.connect()))
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute("SELECT v FROM idle.t WHERE id = 2")
            cursor.fetchall()
            cursor.close()
            self._idle.append(connection)

    def updates(self, seconds: float) -> dict[str, Any]:
        """Update for so long, wait for purge, and say what it took."""
        before = self._seen()
        end = time.monotonic() + seconds
        done = 0
        while time.monotonic() < end:
            for _ in range(50):
                self._cursor.execute("UPDATE idle.t SET v = v + 1 WHERE id = 1")
            done += 50
        after = self._seen()
        moved = {name: after[name] - before[name] for name in after}
        return {
            "purge_us_per_transaction": moved["purge_ns"] / done / 1000,
            "purge_us_per_batch": moved["purge_ns"] / max(1, moved["batches"]) / 1000,
            "mutex_us_per_transaction": moved["mutex_ps"] / done / 1_000_000,
            "transactions": done,
            "batches": moved["batches"],
            "history_left": after["history"],
            "server": self.server.version,
        }

    def _seen(self) -> dict[str, int]:
        self._cursor.execute(
            "SELECT (SELECT count FROM information_schema.innodb_metrics WHERE name = 'purge_invoked'), "
            "(SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'), "
            "(SELECT sum_timer_wait FROM performance_schema.events_waits_summary_global_by_event_name "
            "WHERE event_name = 'wait/synch/mutex/innodb/trx_sys_mutex')"
        )
        batches, history, mutex_ps = (int(value) for value in self._cursor.fetchone())
        return {
            "purge_ns": sum(_cpu_ns(thread) for thread in self._threads),
            "batches": batches,
            "history": history,
            "mutex_ps": mutex_ps,
        }


def _cpu_ns(thread: int) -> int:
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[0])
