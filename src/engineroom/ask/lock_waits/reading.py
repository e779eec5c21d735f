"""A server's waits for locks, from its own tables, by what its version has. Nothing is changed.

A lock names the transaction whose it is and, since 8.0, the thread that made its object, which for a row that was inserted or changed is
who came to wait. So sessions are found by their transactions.

Each waiter on a hot row waits for all before it: of N there are N * N / 2 pairs, and a server takes seconds for those of 1,000. So it is
asked for the pairs whose blocker was granted its lock, and for one of the others where there is none such; of a crowd for locks alone.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from engineroom.ask.lock_waits import innodb_status, metadata
from engineroom.ask.lock_waits.graph import LockWaits, Session, Wait
from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Session", "Wait", "read"]

# The locks of a transaction with more rows are not read: the server would build them all while it holds up who wants one.
MANY_ROWS = 100_000
# Access denied to a table, to a privilege, to a command; to the prepared transactions.
_DENIED = {1044, 1142, 1227, 1401}
_TRANSACTIONS = """
SELECT trx_id, trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, NOW()), trx_rows_locked, trx_rows_modified, trx_isolation_level,
 trx_query, trx_state, trx_requested_lock_id, TIMESTAMPDIFF(SECOND, trx_wait_started, NOW())
FROM information_schema.innodb_trx
"""
_PROCESSES = "SELECT ID, USER, HOST, COMMAND, TIME, STATE, INFO FROM information_schema.processlist WHERE ID <> CONNECTION_ID()"
# Names of: the table of waits; its lock that is asked for, its transaction, the lock in the way; the table of locks.
_NAMES_8_0 = {
    "waits": "performance_schema.data_lock_waits",
    "asked": "REQUESTING_ENGINE_LOCK_ID",
    "held": "BLOCKING_ENGINE_LOCK_ID",
    "blocking": "BLOCKING_ENGINE_TRANSACTION_ID",
    "locks": "SELECT ENGINE_LOCK_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_DATA, LOCK_MODE,"
    " ENGINE_TRANSACTION_ID, LOCK_STATUS FROM performance_schema.data_locks",
    "of": "ENGINE_TRANSACTION_ID",
}
_NAMES_5_6 = {
    "waits": "information_schema.innodb_lock_waits",
    "asked": "requested_lock_id",
    "held": "blocking_lock_id",
    "blocking": "blocking_trx_id",
    "locks": "SELECT lock_id, '', lock_table, lock_index, lock_data, lock_mode, lock_trx_id, '' FROM"
    " information_schema.innodb_locks",
    "of": "lock_trx_id",
}
_LAST_STATEMENTS = """
SELECT t.PROCESSLIST_ID, e.SQL_TEXT FROM performance_schema.threads t
JOIN performance_schema.events_statements_current e ON e.THREAD_ID = t.THREAD_ID
WHERE t.PROCESSLIST_ID IN ({}) ORDER BY e.EVENT_ID DESC
"""
# Who sleeps after a statement that takes locks besides those of rows.
_SUSPECTS = """
SELECT t.PROCESSLIST_ID, e.SQL_TEXT FROM performance_schema.threads t
JOIN performance_schema.events_statements_current e ON e.THREAD_ID = t.THREAD_ID
WHERE t.PROCESSLIST_COMMAND = 'Sleep' AND e.SQL_TEXT REGEXP '^[[:space:]]*(LOCK|FLUSH)[[:space:]]'
"""
_PROGRAMS = """
SELECT PROCESSLIST_ID, ATTR_VALUE FROM performance_schema.session_connect_attrs
WHERE ATTR_NAME IN ('program_name', '_client_name', '_connector_name') AND PROCESSLIST_ID IN ({}) ORDER BY ATTR_NAME
"""  # the last one counts: a program's own name
_MDL = "wait/lock/metadata/sql/mdl"
_INSTRUMENT = f"SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME = '{_MDL}'"
_THREADS = "SELECT THREAD_ID, PROCESSLIST_ID FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL"
# Numbers for transactions that no session has, and for owners of metadata locks that are gone.
_WITHOUT_SESSION, _GONE = -2, -1_000_000
# Of so many blockers the last statement and the program are asked for.
_ASKED_FOR = 100
# Of more waiters than this the pairs are not asked for; and no more than so many pairs.
_CROWD, _PAIRS = 100, 20_000

Rows = list[tuple[Any, ...]]


def read(server: Server, *, history: bool = False, all_locks: bool = False) -> LockWaits:
    """Who waits for whom at this moment; with `history` also whose view holds the history list.

    Between the answers transactions may come and go: a wait whose session is not there any more is left out. Up to 5.7 the answers about
    rows come from a copy that is up to a tenth of a second old, or older while somebody else reads it without a pause. `all_locks` reads the
    locks also of transactions with more than `MANY_ROWS`.
    Raises EngineRoomError for a server that does not let the account see this.
    """
    import mysql.connector

    with contextlib.closing(server.connect()) as connection:
        try:
            return _Reading(server, connection, history=history, all_locks=all_locks).made()
        except mysql.connector.Error as error:
            if error.errno in _DENIED:
                raise EngineRoomError(
                    f"{server.user} may not see other sessions' locks: {error}",
                    remedy="GRANT PROCESS ON *.* and, from 8.0 on, GRANT SELECT ON performance_schema.* to the account, or use another",
                ) from error
            raise


class _Reading:
    """One look at a server."""

    def __init__(self, server: Server, connection: Any, *, history: bool, all_locks: bool) -> None:
        self._server, self._connection = server, connection
        self._history, self._all_locks = history, all_locks
        self._remarks: list[str] = []

    def made(self) -> LockWaits:
        transactions = self._rows(_TRANSACTIONS)
        waits, locks = self._row_locks(transactions)
        processes = self._rows(_PROCESSES)
        alone = {str(row[0]) for row in transactions if not row[1] and row[7] != "ROLLING BACK"}
        xids = self._xids(has_some=bool(alone))
        status = self._status() if self._history or xids or alone else None
        prepared: Collection[str] = ()
        if status:
            # The report ends after 1 MB: what is not in it and has no session was prepared, if anything was.
            prepared = status.prepared | (alone - status.has_view.keys() if xids else set())
        sessions, key_of = sessions_of(transactions, processes, xids, prepared)
        found = row_waits(waits, locks, transactions, key_of)
        others, holds, unseen = metadata.waits(self._metadata_locks(processes, sessions, xids), processes)
        others += self._user_locks(unseen, processes, holds)
        if not self._rows("SELECT @@performance_schema")[0][0]:
            if not waits:  # up to 5.7 those for rows are seen without it
                unseen |= {key_of[str(row[0])]: "row lock" for row in transactions if row[8]}
            if unseen:
                self._remarks.append(
                    "performance_schema is off: who holds metadata locks is not recorded, from 8.0 on no lock"
                )
        if unseen:
            waiting = {w.waiting for w in [*found, *others]}
            free = {number: session for number, session in sessions.items() if number not in waiting}
            rows = self._rows_if_allowed(_SUSPECTS, "")
            suspects = {int(number): _text(statement) for number, statement in rows if number in free}
            sessions[metadata.UNSEEN], more = metadata.behind_unseen(unseen, processes, free, suspects)
            others += more
        found = [w for w in [*found, *others] if {w.waiting, w.blocking} <= sessions.keys()]
        found.sort(key=lambda w: (w.waiting, w.blocking, w.index, w.data))
        for number in holds.keys() & sessions.keys():
            sessions[number] = replace(sessions[number], holds=tuple(sorted(holds[number])))
        by_age = sorted(transactions, key=lambda row: -int(row[2] or 0))
        trx = status.holder((row[0], row[5], row[6]) for row in by_age) if status and self._history else None
        holder = key_of[trx] if trx else None
        self._tell_more(sessions, {w.blocking for w in found} - {w.waiting for w in found} | {holder})
        history = None
        if status and self._history:
            held_by = None if holder is None else asdict(sessions[holder])
            history = {"length": status.history_length, "purged_to": status.purged_to, "holder": held_by}
        named = sorted({number for wait in found for number in (wait.waiting, wait.blocking)})
        return LockWaits(
            self._server.version,
            {number: sessions[number] for number in named},
            found,
            self._remarks,
            history,
        )

    def _rows(self, sql: str, *, raw: bool = False) -> Rows:
        with contextlib.closing(
            self._connection.cursor(raw=True) if raw else self._connection.cursor()
        ) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _rows_if_allowed(self, sql: str, lacks: str, *, raw: bool = False) -> Rows:
        """Like `_rows`; where the account may not, or the server has no such table, a remark says what is missing."""
        import mysql.connector

        try:
            return self._rows(sql, raw=raw)
        except mysql.connector.Error as error:
            if error.errno not in _DENIED:
                raise
            if lacks:
                self._remarks.append(f"{self._server.user} may not see {lacks}")
            return []

    def _row_locks(self, transactions: Rows) -> tuple[Rows, dict[str, tuple[str, ...]]]:
        """Waits as (lock asked for, lock in the way, its transaction or None), and each lock's table, index, data and mode."""
        asked_of = {str(row[8]): str(row[0]) for row in transactions if row[8]}
        if not asked_of:
            return [], {}
        names = _NAMES_8_0 if self._server.supports("data_locks") else _NAMES_5_6
        size = {str(row[0]): int(row[3]) for row in transactions}
        # Up to 5.7 the table has only those that wait or are in the way.
        is_costly = names is _NAMES_8_0 and sum(size.values()) > MANY_ROWS and not self._all_locks
        if len(asked_of) > _CROWD and not is_costly:
            locks = [tuple(_text(value) for value in row) for row in self._rows(names["locks"])]
            return of_crowd(locks, asked_of), {lock[0]: lock[1:6] for lock in locks}
        columns = "{asked}, {held}, {blocking}".format(**names)
        found = f"SELECT {columns} FROM {names['waits']} WHERE {names['held']} NOT IN ({_listed(asked_of)})"
        waits = self._rows(f"{found} LIMIT {_PAIRS}")
        if rest := asked_of.keys() - {str(row[0]) for row in waits}:
            waits += self._rows(
                "SELECT {asked}, MIN({held}), NULL FROM {waits} WHERE {asked} IN (".format(**names)
                + _listed(rest)
                + ") GROUP BY {asked}".format(**names)
            )
        waits = [(*row[:2], row[2] or asked_of.get(str(row[1]))) for row in waits]
        wanted = names["locks"]
        if is_costly:
            of = {str(row[2]) for row in waits} | set(asked_of.values())
            large = {trx for trx in of if size.get(trx, 0) > MANY_ROWS}
            wanted += f" WHERE {names['of']} IN ({_listed(of - large) or 'NULL'})"
            if large:
                self._remarks.append(
                    f"not read: the locks of {len(large)} of these transactions, on {sum(size[trx] for trx in large):,} rows; the server would"
                    " build a row for each and hold up who wants a lock meanwhile. --all-locks reads them"
                )
        return waits, {str(row[0]): tuple(map(_text, row[1:6])) for row in self._rows(wanted)}

    def _xids(self, *, has_some: bool) -> list[str]:
        lacks = (
            "the XIDs of prepared transactions: GRANT XA_RECOVER_ADMIN ON *.* shows them" if has_some else ""
        )
        rows = self._rows_if_allowed("XA RECOVER", lacks, raw=True)
        return [xid(int(row[0]), int(row[1]), bytes(row[3])) for row in rows]

    def _status(self) -> innodb_status.Status | None:
        return innodb_status.parsed(_text(self._rows("SHOW ENGINE INNODB STATUS")[0][2]))

    def _metadata_locks(self, processes: Rows, sessions: dict[int, Session], xids: Sequence[str]) -> Rows:
        """Rows of `metadata.QUERY` with sessions for owners; a session for what nobody owns any more."""
        if not any(metadata.is_waiting(process) for process in processes):
            return []
        if not self._server.supports("metadata_locks"):
            self._remarks.append(f"MySQL {self._server.version} does not show who holds metadata locks")
            return []
        lacks = "who holds metadata locks: GRANT SELECT ON performance_schema.* shows it"
        enabled = self._rows_if_allowed(_INSTRUMENT, lacks)
        if enabled and enabled[0][0] != "YES":
            self._remarks.append(
                "this server does not record who holds metadata locks. From when on it shall:"
                f" UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = '{_MDL}'"
            )
        rows = self._rows_if_allowed(metadata.QUERY, lacks) if enabled else []
        number_of: dict[Any, Any] = dict(self._rows(_THREADS)) if rows else {}
        gone = [number for number, session in sessions.items() if number < 0 and session.does == "prepared"]
        found = []
        for *lock, thread in rows:
            number = number_of.get(thread)
            if number is None:
                # Locks stay with a prepared transaction when its session ends.
                number = gone[0] if len(gone) == 1 else _GONE - int(thread or 0)
                sessions.setdefault(number, Session(id=number, does="prepared", xids=tuple(xids)))
            found.append((*lock, int(number)))
        return found

    def _user_locks(self, unseen: dict[int, str], processes: Rows, holds: dict[int, set[str]]) -> list[Wait]:
        """Waits for GET_LOCK that no table shows: each server tells who has a lock of a name."""
        found = []
        owner_of: dict[str, Any] = {}
        for process in processes:
            call = re.search(r"GET_LOCK\s*\(\s*(['\"])(.{1,64}?)\1", _text(process[6]), re.IGNORECASE)
            if unseen.get(int(process[0])) != "user level lock" or call is None:
                continue
            name = call[2]
            if name not in owner_of:
                ((owner_of[name],),) = self._rows(f"SELECT IS_USED_LOCK({_quoted(name)})")
            if owner_of[name] is not None:
                del unseen[int(process[0])]
                holds.setdefault(int(owner_of[name]), set()).add(f"GET_LOCK('{name}')")
                found.append(metadata.wait(process, int(owner_of[name]), "user level lock", table=name))
        return found

    def _tell_more(self, sessions: dict[int, Session], numbers: Collection[int | None]) -> None:
        """The last statement and the program of those that others wait for."""
        asked = sorted(number for number in numbers if number is not None and number > 0)[:_ASKED_FOR]
        if not asked:
            return
        lacks = (
            "other sessions' last statements and programs: GRANT SELECT ON performance_schema.* shows them"
        )
        those = ", ".join(map(str, asked))
        last = self._rows_if_allowed(_LAST_STATEMENTS.format(those), lacks)
        programs: dict[Any, Any] = dict(self._rows_if_allowed(_PROGRAMS.format(those), lacks)) if last else {}
        for number, statement in last:
            sessions[number] = replace(
                sessions[number], last_statement=_text(statement), program=_text(programs.get(number))
            )


def of_crowd(locks: Collection[tuple[str, ...]], asked_of: Collection[str]) -> Rows:
    """The waits that follow from locks: of each that is asked for, those granted on its record that exclude it, or one asked for before."""
    granted: defaultdict[tuple[str, ...], Rows] = defaultdict(list)
    asks = []
    for lock in locks:
        if lock[0] in asked_of:
            asks.append(lock)
        elif lock[7] != "WAITING":
            granted[lock[1:5]].append(lock)
    found: Rows = []
    first: dict[tuple[str, ...], tuple[str, ...]] = {}
    alone = []
    for lock in asks:
        before = [
            each
            for each in granted[lock[1:5]]
            if each[6] != lock[6] and excludes(each[5], lock[5], data=lock[4])
        ]
        found += [(lock[0], each[0], each[6]) for each in before]
        if before:
            first.setdefault(lock[1:5], lock)
        else:
            alone.append(lock)
    return found + [
        (lock[0], first[lock[1:5]][0], first[lock[1:5]][6]) for lock in alone if lock[1:5] in first
    ]


def excludes(held: str, asked: str, *, data: str) -> bool:
    """Whether a request that waits may wait for a lock on the same record or table, both modes as the server writes them."""
    of_table = {held.split(",", maxsplit=1)[0], asked.split(",", maxsplit=1)[0]}
    if "INSERT_INTENTION" in held or (held[:1] == asked[:1] == "S") or of_table <= {"IS", "S"}:
        return False
    if of_table <= {"IS", "IX", "AUTO_INC"}:
        return of_table == {"AUTO_INC"}
    of_gap = ["GAP" in mode.replace("REC_NOT_GAP", "") for mode in (held, asked)]
    # Only who inserts waits for a gap; up to 5.7 the mode does not say that it inserts.
    if "INSERT_INTENTION" in asked or of_gap[1] or data == "supremum pseudo-record":
        return "REC_NOT_GAP" not in held
    return not of_gap[0]


def sessions_of(
    transactions: Rows, processes: Rows, xids: Sequence[str] = (), prepared: Collection[str] = ()
) -> tuple[dict[int, Session], dict[str, int]]:
    """All sessions by number, and each transaction's session; those without one get numbers below 0."""
    sessions: dict[int, Session] = {}
    key_of: dict[str, int] = {}
    for number, user, host, command, seconds, _, statement in processes:
        sessions[int(number)] = Session(
            id=int(number),
            user=_text(user) or "?",
            host=_text(host),
            idle_s=int(seconds or 0) if command == "Sleep" else None,
            statement=_text(statement),
            does="killed" if command == "Killed" else "",
            xids=tuple(xids) if command == "Sleep" else (),
        )
    for trx, thread, age_s, locked, changed, isolation, statement, state, *_ in transactions:
        number = int(thread) or _WITHOUT_SESSION - len(key_of)
        key_of[str(trx)] = number
        is_prepared = str(trx) in prepared
        does = "prepared" if is_prepared else "" if thread else "recovered"
        # Whose session has ended while it is there is about to roll back.
        if state == "ROLLING BACK" or (thread and number not in sessions):
            does = "rolls back"
        session = sessions.get(number) or Session(id=number, user="?" if thread else "")
        sessions[number] = replace(
            session,
            transaction_s=int(age_s or 0),
            rows_locked=int(locked),
            rows_changed=int(changed),
            isolation=str(isolation),
            statement=session.statement or _text(statement),
            does=does or session.does,
            xids=tuple(xids) if is_prepared else (),
        )
    return sessions, key_of


def row_waits(
    waits: Rows, locks: Mapping[str, tuple[str, ...]], transactions: Rows, key_of: Mapping[str, int]
) -> list[Wait]:
    """The waits for rows. Each pair of sessions and record is there once, whatever number of locks is in the way."""
    asks = {str(row[8]): row for row in transactions if row[8]}
    found: dict[tuple[int, int, str, str], Wait] = {}
    for asked, held, blocking in waits:
        row = asks.get(str(asked))
        if row is None or str(blocking) not in key_of:
            continue
        schema, table, index, data, mode = locks.get(str(asked), ("",) * 5)
        name = table.replace("`", "")
        wait = Wait(
            waiting=key_of[str(row[0])],
            blocking=key_of[str(blocking)],
            table=f"{schema}.{name}" if schema else name,
            index=index.replace("`", ""),
            data=data,
            asked=mode,
            held=locks[str(held)][4] if str(held) in locks else "",
            waited_s=int(row[9] or 0),
        )
        found.setdefault((wait.waiting, wait.blocking, wait.index, wait.data), wait)
    return list(found.values())


def xid(form: int, length: int, data: bytes) -> str:
    """A transaction's name as XA COMMIT takes it."""
    parts = [data[:length], data[length:]]
    written = [
        f"'{part.decode()}'" if re.fullmatch(rb"[\w .:,;/+@#-]*", part) else f"X'{part.hex()}'"
        for part in parts
    ]
    if form == 1:
        return ",".join(written if parts[1] else written[:1])
    return ",".join([*written, str(form)])


def _listed(values: Collection[str]) -> str:
    return ", ".join(_quoted(value) for value in values)


def _quoted(text: str) -> str:
    """As a literal that means the same in every sql_mode."""
    return f"CONVERT(X'{text.encode().hex()}' USING utf8)" if re.search(r"[^\w:]", text) else f"'{text}'"


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    return "" if value is None else str(value)
