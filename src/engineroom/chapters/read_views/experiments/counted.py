"""Instructions of read views in real servers: of making one beside open transactions, and of purge's walk over closed ones.

A statement at READ COMMITTED inside a transaction makes a view of its own. Other sessions each hold a transaction that has written, and the
view copies their ids. For the walk they have each read once in autocommit mode, and the view that each leaves is closed: purge passes it
in search of the oldest open one. Counted are the paths through the servers' own functions, whichever thread walks them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

from engineroom.chapters.read_views.experiments.statements import VERSIONS
from engineroom.measuring import instructions
from engineroom.measuring.callgrind import Part
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run

SESSIONS = (0, 50, 100, 200)
_STATEMENTS = 50
# 5.6 has functions where 5.7 and later have a class; 5.6 removes a view at once, so that nothing is walked over.
MAKES = re.compile(r"MVCC::view_open|read_view_open_now")
WALKS = re.compile(r"MVCC::clone_oldest_view|read_view_purge_open")
TABLE = (
    "CREATE DATABASE views",
    "CREATE TABLE views.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE = InnoDB",
    "INSERT INTO views.t VALUES (1, 0), (2, 0)",
)
COLUMNS = {
    "work": "make: a view beside open transactions; walk: purge's search for the oldest open view beside closed ones",
    "sessions": "other sessions: each with an open transaction that wrote, or with a closed view",
    "instructions": "per view or walk",
    "calls": "views or walks that were counted",
    "per_statement": "instructions of the connection's thread per statement",
    "server": "version",
}


def views_counted(*, versions: Sequence[str] = VERSIONS, sessions: Sequence[int] = SESSIONS) -> Run:
    """Instructions of making a view and of a walk on each server, by the number of other sessions."""
    rows: list[dict[str, Any]] = []
    with LiveSitting("instructions", seed=0) as sitting:
        for version in bar(versions, desc="views", unit="server"):
            options = {"max_connections": max(sessions) + 50, "innodb_flush_log_at_trx_commit": 0}
            with instructions.counting(version, options=options) as counted:
                sitting.note(counted.server)
                counted.server.execute(*TABLE)
                for work, others, run, finds in (
                    ("make", _writes, _reads, MAKES),
                    ("walk", _has_read, _updates, WALKS),
                ):
                    with ExitStack() as stack:
                        done = 0
                        for n in sorted(sessions):
                            for nth in range(done, n):
                                others(stack.enter_context(closing(counted.server.connect("views"))), nth)
                            done = n
                            profile = counted.measure(run, rows=_STATEMENTS, elsewhere=True)
                            found, calls = _through(profile, finds)
                            rows.append(
                                {"work": work, "sessions": n, "series": counted.server.version, "repeat": 0, "instructions": found / max(1, calls), "calls": calls, "per_statement": profile.per_row, "server": counted.server.version}
                            )  # fmt: skip
    return sitting.run("own-read-views-instructions", rows, columns=COLUMNS)


def _through(profile: instructions.Profile, functions: re.Pattern[str]) -> tuple[int, int]:
    """Instructions below these functions and the calls of them, over all threads."""
    found = calls = 0
    parts: list[instructions.Profile | Part] = [profile, *profile.elsewhere]
    for part in parts:
        for path, own in part.own.items():
            found += own[0] if any(map(functions.search, path)) else 0
        for path, n in part.calls.items():
            is_first = functions.search(path[-1]) and not any(map(functions.search, path[:-1]))
            calls += n if is_first else 0
    return found, calls


def _writes(connection: Any, nth: int) -> None:
    _do(connection, "START TRANSACTION", f"INSERT INTO t VALUES ({1_000 + nth}, 0)")


def _has_read(connection: Any, _nth: int) -> None:
    connection.autocommit = True
    _do(connection, "SELECT v FROM t WHERE id = 2")


def _reads(cursor: Any) -> None:
    cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    cursor.execute("START TRANSACTION")
    for _ in range(_STATEMENTS):
        cursor.execute("SELECT v FROM views.t WHERE id = 1")
        cursor.fetchall()
    cursor.execute("COMMIT")


def _updates(cursor: Any) -> None:
    for _ in range(_STATEMENTS):
        cursor.execute("UPDATE views.t SET v = v + 1 WHERE id = 1")
        cursor.execute("COMMIT")


def _do(connection: Any, *texts: str) -> None:
    with connection.cursor() as cursor:
        for text in texts:
            cursor.execute(text)
            if cursor.with_rows:
                cursor.fetchall()
