"""A server's waits for row locks, from its own tables: those of 5.6 and 5.7, or those of 8.0 and later. Nothing is changed.

A lock names the transaction whose it is and, since 8.0, the thread that made its object, which for a row that was inserted or changed is
who came to wait. So sessions are found by their transactions.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from engineroom.ask.lock_waits.graph import LockWaits, Session, Wait
from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Session", "Wait", "read"]

# Access denied to a table, to a privilege, to a command.
_DENIED = {1044, 1142, 1227}
_SESSIONS = """
SELECT x.trx_id, x.trx_mysql_thread_id, p.USER, TIMESTAMPDIFF(SECOND, x.trx_started, NOW()), p.COMMAND, p.TIME,
 x.trx_rows_locked, x.trx_rows_modified, x.trx_isolation_level, x.trx_query, TIMESTAMPDIFF(SECOND, x.trx_wait_started, NOW())
FROM information_schema.innodb_trx x LEFT JOIN information_schema.processlist p ON p.ID = x.trx_mysql_thread_id
"""
_WAITS_8_0 = """
SELECT w.REQUESTING_ENGINE_TRANSACTION_ID, w.BLOCKING_ENGINE_TRANSACTION_ID, r.OBJECT_SCHEMA, r.OBJECT_NAME, r.INDEX_NAME, r.LOCK_DATA,
 r.LOCK_MODE, b.LOCK_MODE
FROM performance_schema.data_lock_waits w
JOIN performance_schema.data_locks r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID AND r.ENGINE = w.ENGINE
JOIN performance_schema.data_locks b ON b.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID AND b.ENGINE = w.ENGINE
"""
_WAITS_5_6 = """
SELECT w.requesting_trx_id, w.blocking_trx_id, '', r.lock_table, r.lock_index, r.lock_data, r.lock_mode, b.lock_mode
FROM information_schema.innodb_lock_waits w
JOIN information_schema.innodb_locks r ON r.lock_id = w.requested_lock_id
JOIN information_schema.innodb_locks b ON b.lock_id = w.blocking_lock_id
"""


def read(server: Server) -> LockWaits:
    """Who waits for whom at this moment.

    Between the two answers transactions may come and go: a wait whose session is not there any more is left out. Up to 5.7 both come
    from a copy that is up to a tenth of a second old, or older while somebody else reads it without a pause.
    Raises EngineRoomError for a server that does not let the account see this.
    """
    import mysql.connector

    waits_of = _WAITS_8_0 if server.supports("data_locks") else _WAITS_5_6
    with contextlib.closing(server.connect()) as connection:
        try:
            # In this order: whoever waits in the first answer has its transaction in the second, or has ended it.
            waits, sessions = _rows(connection, waits_of), _rows(connection, _SESSIONS)
        except mysql.connector.Error as error:
            if error.errno in _DENIED:
                raise EngineRoomError(
                    f"{server.user} may not see other sessions' locks: {error}",
                    remedy="GRANT PROCESS ON *.* and, from 8.0 on, GRANT SELECT ON performance_schema.* to the account, or use another",
                ) from error
            raise
    return made(server.version, waits, sessions)


def _rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def made(version: str, waits: list[tuple[Any, ...]], sessions: list[tuple[Any, ...]]) -> LockWaits:
    """The graph of the two answers. Each pair of sessions and record is there once, whatever number of locks is in the way."""
    by_trx: dict[str, Session] = {}
    waited_s: dict[str, int] = {}
    for trx, thread, user, age_s, command, time_s, locked, changed, isolation, statement, wait_s in sessions:
        by_trx[str(trx)] = Session(
            id=int(thread),
            user=str(user or "?"),
            transaction_s=int(age_s or 0),
            idle_s=int(time_s) if command == "Sleep" else None,
            rows_locked=int(locked),
            rows_changed=int(changed),
            isolation=str(isolation),
            statement=_text(statement),
        )
        waited_s[str(trx)] = int(wait_s or 0)
    found: dict[tuple[int, int, str, str], Wait] = {}
    for waiting, blocking, schema, table, index, data, asked, held in waits:
        one, other = by_trx.get(str(waiting)), by_trx.get(str(blocking))
        if one is None or other is None:
            continue
        name = _text(table).replace("`", "")
        wait = Wait(
            waiting=one.id,
            blocking=other.id,
            table=f"{_text(schema)}.{name}" if schema else name,
            index=_text(index).replace("`", ""),
            data=_text(data),
            asked=_text(asked),
            held=_text(held),
            waited_s=waited_s[str(waiting)],
        )
        found.setdefault((wait.waiting, wait.blocking, wait.index, wait.data), wait)
    waits_found = sorted(found.values(), key=lambda w: (w.waiting, w.blocking, w.index, w.data))
    named = {number for wait in waits_found for number in (wait.waiting, wait.blocking)}
    return LockWaits(
        version,
        {
            session.id: session
            for session in sorted(by_trx.values(), key=lambda s: s.id)
            if session.id in named
        },
        waits_found,
    )


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    return "" if value is None else str(value)
