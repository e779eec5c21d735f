"""The anomalies that isolation levels are told apart by, as scripts: run on servers, and by the kernel.

A script is a list of steps of two or three sessions, in one order. Whoever would have to wait for a lock is refused and rolls back:
on a server the lock wait times out after a second. Afterwards the script says whether the anomaly was seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engineroom import _native
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.servers.catalogue import measured

LEVELS = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
VERSIONS = measured()
# What was seen, or why not: nothing odd was read, or somebody was refused.
Outcome = str
SEEN, NOT_SEEN, REFUSED = "seen", "not seen", "refused"
X, Y, Z = 1, 2, 3
COLUMNS = {
    "series": "whose server, or kernel",
    "level": "isolation level of all sessions",
    "anomaly": "the script",
    "outcome": "seen, not seen, or refused: a session would have had to wait, and was rolled back",
    "server": "version",
}


class Table(Protocol):
    """Rows of a key and a value, used by sessions with numbers. None: the session would have to wait."""

    def begin(self, session: int) -> None: ...
    def read(self, session: int, first: int, last: int) -> Sequence[tuple[int, int]] | None: ...
    def write(self, session: int, key: int, value: int) -> bool: ...
    def commit(self, session: int) -> None: ...
    def roll_back(self, session: int) -> None: ...


# (session, what, its arguments): "begin", "read" a key, "count" all rows, "write" a key and a value, "commit" or "rollback".
Step = tuple[Any, ...]
# The rows that each session read, in order, and the rows at the end.
Reads = Mapping[int, Sequence[Sequence[tuple[int, int]]]]
Rows = Mapping[int, int]


@dataclass(frozen=True)
class Anomaly:
    """Rows X and Y are there at the start, each 0; Z is not."""

    name: str
    steps: Sequence[Step]
    is_seen: Callable[[Reads, Rows], bool]
    says: str = field(default="")


def _values(rows: Sequence[tuple[int, int]]) -> list[int]:
    return [value for _, value in rows]


ANOMALIES = (
    Anomaly(
        "dirty read",
        [(1, "begin"), (2, "begin"), (1, "write", X, 7), (2, "read", X), (1, "rollback"), (2, "commit")],
        lambda reads, _rows: _values(reads[2][0]) == [7],
        "a read of what is rolled back later",
    ),
    Anomaly(
        "fuzzy read",
        [
            (1, "begin"),
            (1, "read", X),
            (2, "begin"),
            (2, "write", X, 7),
            (2, "commit"),
            (1, "read", X),
            (1, "commit"),
        ],
        lambda reads, _rows: reads[1][0] != reads[1][1],
        "a row that changes between two reads of a transaction",
    ),
    Anomaly(
        "phantom",
        [
            (1, "begin"),
            (1, "count"),
            (2, "begin"),
            (2, "write", Z, 7),
            (2, "commit"),
            (1, "count"),
            (1, "commit"),
        ],
        lambda reads, _rows: len(reads[1][0]) != len(reads[1][1]),
        "a row that appears between two reads of a transaction",
    ),
    Anomaly(
        "lost update",
        [
            *[(1, "begin"), (2, "begin"), (1, "read", X), (2, "read", X)],
            *[(2, "write", X, 1), (2, "commit"), (1, "write", X, 1), (1, "commit")],
        ],
        lambda _reads, rows: rows[X] == 1,
        "two transactions add 1 to what they read, and 1 is added",
    ),
    Anomaly(
        "write skew",
        [
            *[(1, "begin"), (2, "begin"), (1, "count"), (2, "count")],
            *[(1, "write", X, 1), (2, "write", Y, 1), (1, "commit"), (2, "commit")],
        ],
        lambda _reads, rows: rows[X] == 1 and rows[Y] == 1,
        "each of two transactions keeps a rule over two rows, and both together break it",
    ),
    Anomaly(
        "read-only anomaly",
        [
            *[(2, "begin"), (2, "count"), (1, "begin"), (1, "write", Y, 20), (1, "commit")],
            *[(3, "begin"), (3, "count"), (3, "commit"), (2, "write", X, -11), (2, "commit")],
        ],
        lambda reads, rows: _values(reads[3][0]) == [0, 20] and rows[X] == -11 and rows[Y] == 20,
        "a transaction that only reads sees a state that no order of the two others passes through",
    ),
)


def play(anomaly: Anomaly, table: Table) -> Outcome:
    """Run the script over `table`, whose sessions 1 to 3 are there, and 0 to look at the end."""
    reads: dict[int, list[Sequence[tuple[int, int]]]] = {1: [], 2: [], 3: []}
    ended: set[int] = set()
    for session, what, *given in anomaly.steps:
        if session in ended:
            continue
        was_refused = False
        if what == "begin":
            table.begin(session)
        elif what == "commit":
            table.commit(session)
        elif what == "rollback":
            table.roll_back(session)
        elif what == "write":
            was_refused = not table.write(session, *given)
        else:
            rows = table.read(session, *((X, Z) if what == "count" else (given[0], given[0])))
            was_refused = rows is None
            if rows is not None:
                reads[session].append([(int(key), int(value)) for key, value in rows])
        if was_refused:
            table.roll_back(session)
            ended.add(session)
    table.begin(0)
    rows_at_end = dict(table.read(0, X, Z) or ())
    table.commit(0)
    if ended:
        return REFUSED
    return SEEN if anomaly.is_seen(reads, rows_at_end) else NOT_SEEN


def by_kernel(anomaly: Anomaly, level: str) -> Outcome:
    """The same by the kernel's transaction system."""
    table = _native.read_views.Database(level)
    for _ in range(4):
        table.connect()
    table.begin(0)
    table.write(0, X, 0)
    table.write(0, Y, 0)
    table.commit(0)
    return play(anomaly, table)


def anomalies_live(*, versions: Sequence[str] = VERSIONS) -> Run:
    """Each script at each level on each server, and by the kernel, whose version is `kernel`."""
    scripts = [(level, anomaly) for level in LEVELS for anomaly in ANOMALIES]
    outcomes = [("kernel", "", level, each, by_kernel(each, level)) for level, each in scripts]
    with LiveSitting() as sitting:
        for version in bar(versions, desc="servers", unit="server"):
            with sitting.server(version, options={"innodb_lock_wait_timeout": "1"}) as server:
                for level, each in scripts:
                    with contextlib.closing(_ServerTable(server, level)) as table:
                        outcomes.append((version, server.version, level, each, play(each, table)))
    rows = [
        {
            "series": series,
            "level": level,
            "anomaly": each.name,
            "repeat": 0,
            "outcome": outcome,
            "server": server_version,
        }
        for series, server_version, level, each, outcome in outcomes
    ]
    return sitting.run(
        "own-read-views-anomalies",
        rows,
        columns=COLUMNS,
        counts="outcomes of scripts in which one session acts at a time",
    )


class _ServerTable:
    """Rows on a server, and four sessions."""

    def __init__(self, server: Any, level: str) -> None:
        self._connections = [server.connect() for _ in range(4)]
        self._cursors = [connection.cursor(buffered=True) for connection in self._connections]
        first = self._cursors[0]
        for text in (
            "CREATE DATABASE IF NOT EXISTS anomalies",
            "CREATE TABLE IF NOT EXISTS anomalies.t (k INT PRIMARY KEY, v INT NOT NULL) ENGINE = InnoDB",
            "DELETE FROM anomalies.t",
            f"INSERT INTO anomalies.t VALUES ({X}, 0), ({Y}, 0)",
            "COMMIT",
        ):
            first.execute(text)
        for cursor in self._cursors:
            cursor.execute("SET SESSION binlog_format = 'ROW'")
            cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")

    def begin(self, session: int) -> None:
        self._cursors[session].execute("START TRANSACTION")

    def read(self, session: int, first: int, last: int) -> Sequence[tuple[int, int]] | None:
        sql = f"SELECT k, v FROM anomalies.t WHERE k BETWEEN {first} AND {last} ORDER BY k"
        return self._cursors[session].fetchall() if self._done(session, sql) else None

    def write(self, session: int, key: int, value: int) -> bool:
        return self._done(
            session, f"INSERT INTO anomalies.t VALUES ({key}, {value}) ON DUPLICATE KEY UPDATE v = {value}"
        )

    def commit(self, session: int) -> None:
        self._cursors[session].execute("COMMIT")

    def roll_back(self, session: int) -> None:
        self._cursors[session].execute("ROLLBACK")

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _done(self, session: int, sql: str) -> bool:
        from mysql.connector import errors

        try:
            self._cursors[session].execute(sql)
        except errors.DatabaseError as error:
            if error.errno not in (1205, 1213):  # lock wait timeout, deadlock
                raise
            return False
        return True
