"""What a script comes to after each of its statements, on a server and in the kernel, in the same words."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Self

from engineroom._native import lock_sys as kernel
from engineroom.ask.lock_waits.reading import excludes
from engineroom.chapters.lock_sys.experiments.scripts import (
    COLUMNS,
    INDEXES,
    ROWS,
    Script,
    Statement,
    table_sql,
)

if TYPE_CHECKING:
    from engineroom.servers import Server

DATABASE = "lock_sys"
_SETTLED_S = 0.004
_CACHED_S = 0.11  # 5.x shows its locks as they were up to a tenth of a second ago


@dataclass(frozen=True, order=True)
class LockSeen:
    """A lock on one record, or on the table (index "")."""

    session: int
    index: str
    mode: str
    data: str
    is_waiting: bool


@dataclass(frozen=True)
class Seen:
    """What there is after one statement. Of 5.x only the locks that wait or that somebody waits for."""

    results: tuple[str, ...]  # of each session's last statement: "ok", "waits", "duplicate", "deadlock"
    locks: frozenset[LockSeen]
    waits: frozenset[tuple[int, int]]

    def differences(self, other: Seen) -> list[str]:
        """What only one of the two has, `self`'s with a minus and `other`'s with a plus."""
        found = []
        if self.results != other.results:
            found += [f"-results {self.results}", f"+results {other.results}"]
        for name in ("waits", "locks"):
            mine, theirs = getattr(self, name), getattr(other, name)
            found += [f"-{name} {each}" for each in sorted(mine - theirs)]
            found += [f"+{name} {each}" for each in sorted(theirs - mine)]
        return found


def in_kernel(script: Script, design: str) -> list[Seen]:
    """The script in the kernel, by "5.7", "8.0.15" or "9.7"."""
    playground = kernel.Playground(
        design=design,
        reads_committed=list(script.reads_committed),
        columns=len(COLUMNS),
        secondary=[(COLUMNS.index(column), is_unique) for _, column, is_unique in INDEXES[1:]],
        rows=[list(row) for row in ROWS],
    )
    sessions = range(len(script.reads_committed))
    seen = []
    for statement in script.statements:
        if playground.result(statement.session) == "waits":
            continue
        statement.run(playground)
        results = tuple(playground.result(session) for session in sessions)
        waits = frozenset(playground.waits())
        locks = [
            LockSeen(session, "" if index < 0 else INDEXES[index][0], mode, data, is_waiting)
            for session, index, mode, data, is_waiting in playground.locks()
        ]
        if design == "5.7":
            locks = _as_5_7_shows(locks, waits)
        if design in {"5.7", "8.0.15"}:
            locks = [_without_primary_key(each) for each in locks]
        seen.append(Seen(results, frozenset(locks), waits))
    return seen


def _as_5_7_shows(locks: list[LockSeen], waits: frozenset[tuple[int, int]]) -> list[LockSeen]:
    """Only what waits or is waited for, with shorter modes."""

    def short(mode: str) -> str:
        return mode.split(",", maxsplit=1)[0] + (",GAP" if ",GAP" in mode else "")

    shown = []
    for waiting in locks:
        if not waiting.is_waiting:
            continue
        ahead = {blocking for waits_for, blocking in waits if waits_for == waiting.session}
        shown.append(waiting)
        # Of a session's locks on one record the server shows one: both would have the same lock_id.
        of_session = {
            each.session: each
            for each in locks
            if each.session in ahead
            and (each.index, each.data) == (waiting.index, waiting.data)
            and excludes(each.mode, waiting.mode, data=waiting.data)
        }
        shown += of_session.values()
    return [replace(each, mode=short(each.mode), is_waiting=False) for each in shown]


def _without_primary_key(lock: LockSeen) -> LockSeen:
    """Of a record of a unique index, up to 8.0.15, what makes it unique."""
    is_unique = any(name == lock.index and is_unique for name, _, is_unique in INDEXES)
    return replace(lock, data=lock.data.split(", ", maxsplit=1)[0]) if is_unique else lock


def _has_circle(waits: frozenset[tuple[int, int]]) -> bool:
    ahead: dict[int, set[int]] = {}
    for waiting, blocking in waits:
        ahead.setdefault(waiting, set()).add(blocking)
    try:
        TopologicalSorter(ahead).prepare()
    except CycleError:
        return True
    return False


@dataclass
class _Session:
    connection: Any
    id: int
    result: str = "ok"
    thread: threading.Thread | None = None

    def is_busy(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


@dataclass
class LiveSessions:
    """Sessions of a server over one table, each of whose statements may wait."""

    server: Server
    table: str
    reads_committed: tuple[bool, ...]
    sessions: list[_Session] = field(default_factory=list)
    _watch: Any = None
    _old: Any = None

    def __enter__(self) -> Self:
        self._watch = self.server.connect(DATABASE)
        self._fill()
        for reads_committed in self.reads_committed:
            connection = self.server.connect(DATABASE)
            level = "READ COMMITTED" if reads_committed else "REPEATABLE READ"
            with contextlib.closing(connection.cursor()) as cursor:
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
                cursor.execute("SET SESSION optimizer_switch = 'index_condition_pushdown=off,mrr=off'")
                cursor.execute("SET SESSION innodb_lock_wait_timeout = 50, autocommit = 0")
            self.sessions.append(_Session(connection, connection.connection_id))
        return self

    def __exit__(self, *_: object) -> None:
        for session in self.sessions:
            if session.is_busy():
                self._rows(f"KILL {session.id}")
        for session in self.sessions:
            if session.thread is not None:
                session.thread.join(timeout=20)
            with contextlib.suppress(Exception):
                session.connection.close()
        self._watch.close()
        self._old.close()

    def _fill(self) -> None:
        self._rows(f"DROP TABLE IF EXISTS {self.table}")
        for sql in table_sql(self.table):
            self._rows(sql)
        # What is deleted stays, marked, as long as a read view may need it: purge comes when it likes.
        self._old = self.server.connect(DATABASE)
        with contextlib.closing(self._old.cursor()) as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            cursor.execute(f"SELECT COUNT(*) FROM {self.table}")
            cursor.fetchall()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(self._watch.cursor()) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.with_rows else []

    def run(self, statement: Statement) -> Seen:
        """One statement, until everything that it starts ends or waits."""
        session = self.sessions[statement.session]
        session.result = "waits"
        session.thread = threading.Thread(target=_run, args=(session, statement.sql(self.table)), daemon=True)
        session.thread.start()
        self._settle()
        return self._look()

    def _settle(self) -> None:
        """Until each session has ended its statement or waits for a lock, and nobody waits in a circle: a server ends that."""
        deadline = time.monotonic() + 20
        session_ids = {session.id for session in self.sessions}
        for session in self.sessions:
            if session.thread is not None:
                session.thread.join(timeout=_SETTLED_S)
        calm = 0
        while calm < 2:
            busy = {session.id for session in self.sessions if session.is_busy()}
            if not busy:
                return
            time.sleep(_CACHED_S if self._shows_copies() else _SETTLED_S)
            waiting = {thread for (thread,) in self._rows(self._who_waits())} & session_ids
            still = {session.id for session in self.sessions if session.is_busy()}
            calm = calm + 1 if still and waiting == still == busy else 0
            if calm == 2 and _has_circle(self._look().waits):
                calm = 0
            if time.monotonic() > deadline:
                raise TimeoutError(f"sessions {still} neither end nor wait: {waiting}")

    def _shows_copies(self) -> bool:
        return not self.server.supports("data_locks")

    def _who_waits(self) -> str:
        # information_schema's tables show a copy that is made anew only when nobody has read it for a tenth of a second.
        if self._shows_copies():
            return (
                "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
            )
        return (
            "SELECT t.PROCESSLIST_ID FROM performance_schema.data_locks l JOIN performance_schema.threads t"
            " ON t.THREAD_ID = l.THREAD_ID WHERE l.LOCK_STATUS = 'WAITING'"
        )

    def _look(self) -> Seen:
        look = self._look_5_7 if self._shows_copies() else self._look_8_0
        locks, waits = look()
        return Seen(tuple(session.result for session in self.sessions), frozenset(locks), frozenset(waits))

    def _numbers(self) -> dict[int, int]:
        return {session.id: number for number, session in enumerate(self.sessions)}

    def _look_8_0(self) -> tuple[set[LockSeen], set[tuple[int, int]]]:
        numbers = self._numbers()
        shown = self._rows(
            "SELECT l.ENGINE_TRANSACTION_ID, t.PROCESSLIST_ID, l.INDEX_NAME, l.LOCK_TYPE, l.LOCK_MODE, l.LOCK_STATUS,"
            " l.LOCK_DATA FROM performance_schema.data_locks l JOIN performance_schema.threads t"
            f" ON t.THREAD_ID = l.THREAD_ID WHERE l.OBJECT_NAME = '{self.table}'"
        )
        # A record's lock may have been made by the thread of another session, for whom it was in the way; a table's never.
        trxs = {
            trx: numbers[thread]
            for trx, thread, _, kind, *_ in shown
            if kind == "TABLE" and thread in numbers
        }
        locks = {
            LockSeen(trxs[trx], index or "", mode, data or "", status == "WAITING")
            for trx, _, index, _, mode, status, data in shown
            if trx in trxs
        }
        waits = {
            (trxs[waiting], trxs[blocking])
            for waiting, blocking in self._rows(
                "SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID"
                " FROM performance_schema.data_lock_waits"
            )
            if waiting in trxs and blocking in trxs
        }
        return locks, waits

    def _look_5_7(self) -> tuple[set[LockSeen], set[tuple[int, int]]]:
        # All three tables are read from one copy, which is made anew a tenth of a second after the last.
        time.sleep(_CACHED_S)
        numbers = self._numbers()
        trxs = {
            trx: numbers[thread]
            for trx, thread in self._rows(
                "SELECT trx_id, trx_mysql_thread_id FROM information_schema.innodb_trx"
            )
            if thread in numbers
        }
        locks = {
            LockSeen(trxs[trx], (index or "").strip("`"), mode, data or "", is_waiting=False)
            for trx, index, mode, data in self._rows(
                "SELECT lock_trx_id, lock_index, lock_mode, lock_data FROM information_schema.innodb_locks"
            )
            if trx in trxs
        }
        waits = {
            (trxs[waiting], trxs[blocking])
            for waiting, blocking in self._rows(
                "SELECT requesting_trx_id, blocking_trx_id FROM information_schema.innodb_lock_waits"
            )
            if waiting in trxs and blocking in trxs
        }
        return locks, waits


def _run(session: _Session, sql: str) -> None:
    import mysql.connector

    try:
        with contextlib.closing(session.connection.cursor()) as cursor:
            cursor.execute(sql)
            if cursor.with_rows:
                cursor.fetchall()
        session.result = "ok"
    except mysql.connector.Error as error:
        session.result = {1062: "duplicate", 1213: "deadlock", 1205: "timed out"}.get(error.errno, str(error))


def on_server(server: Server, script: Script, *, table: str = "t") -> list[Seen]:
    """The script on a running server, whose database `lock_sys` is there. The table is made anew."""
    seen = []
    with LiveSessions(server, table, script.reads_committed) as live:
        for statement in script.statements:
            if live.sessions[statement.session].result == "waits":
                continue
            seen.append(live.run(statement))
    return seen
