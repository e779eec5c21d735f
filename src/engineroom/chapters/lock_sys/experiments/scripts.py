"""Scripts of two or three sessions over a small table: one definition for the server and for the kernel.

The table has a primary key, a unique and an ordinary secondary index, and a column without one. A statement waits or ends; the next
one belongs to a session that does not wait. Which session must wait, and which locks everybody then has, is compared after each statement.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

COLUMNS = ("id", "u", "k", "v")
# Name, column and whether it is unique; the primary key is the first.
INDEXES = (("PRIMARY", "id", True), ("u", "u", True), ("k", "k", False))
ROWS = ((10, 10, 10, 0), (20, 20, 10, 0), (30, 30, 30, 0), (40, 40, 30, 0), (50, 50, 50, 0))


def table_sql(name: str) -> tuple[str, str]:
    """The statements that make the table and its rows."""
    values = ", ".join(str(row) for row in ROWS)
    return (
        (
            f"CREATE TABLE {name} (id INT PRIMARY KEY, u INT NOT NULL, k INT NOT NULL, v INT NOT NULL,"
            " UNIQUE KEY u (u), KEY k (k)) ENGINE=InnoDB"
        ),
        f"INSERT INTO {name} VALUES {values}",
    )


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What one session does: a locking read, a change, or the end of its transaction."""

    session: int
    verb: str  # read, share, update, delete, insert, commit, rollback
    index: int = 0
    low: int | None = None
    high: int | None = None
    has_low: bool = True
    has_high: bool = True
    column: int = 3
    more: int = 1
    row: tuple[int, ...] = ()

    def sql(self, table: str) -> str:
        """The statement as the server is to get it."""
        if self.verb in ("commit", "rollback"):
            return self.verb.upper()
        if self.verb == "insert":
            return f"INSERT INTO {table} VALUES {self.row}"
        index, column, _ = INDEXES[self.index]
        where = self._where(column)
        if self.verb == "delete":
            return f"DELETE FROM {table}{where}"
        hint = f"{table} FORCE INDEX ({index})"
        if self.verb == "update":
            changed = COLUMNS[self.column]
            return f"UPDATE {hint} SET {changed} = {changed} + {self.more}{where}"
        lock = "LOCK IN SHARE MODE" if self.verb == "share" else "FOR UPDATE"
        return f"SELECT * FROM {hint}{where} {lock}"

    def _where(self, column: str) -> str:
        if self.low is not None and self.low == self.high:
            return f" WHERE {column} = {self.low}"
        bounds = []
        if self.low is not None:
            bounds.append(f"{column} {'>=' if self.has_low else '>'} {self.low}")
        if self.high is not None:
            bounds.append(f"{column} {'<=' if self.has_high else '<'} {self.high}")
        return f" WHERE {' AND '.join(bounds)}" if bounds else ""

    def run(self, playground: Any) -> str:
        """What it comes to in the kernel."""
        ends = {"low": self.low, "high": self.high, "has_low": self.has_low, "has_high": self.has_high}
        if self.verb == "commit":
            return str(playground.commit(self.session))
        if self.verb == "rollback":
            return str(playground.rollback(self.session))
        if self.verb == "insert":
            return str(playground.insert(self.session, list(self.row)))
        if self.verb == "delete":
            return str(playground.delete(self.session, index=self.index, **ends))
        if self.verb == "update":
            return str(playground.update(self.session, self.column, self.more, index=self.index, **ends))
        return str(playground.read(self.session, index=self.index, for_share=self.verb == "share", **ends))


@dataclass(frozen=True)
class Script:
    """Sessions with an isolation level each, and candidates for their statements.

    Whoever runs it leaves out the statements of a session that waits, so that a script never depends on what it is to find out.
    """

    number: int
    reads_committed: tuple[bool, ...]
    statements: tuple[Statement, ...]

    def text(self) -> str:
        """One line for each statement."""
        levels = ["READ COMMITTED" if each else "REPEATABLE READ" for each in self.reads_committed]
        lines = [f"session {i}: {level}" for i, level in enumerate(levels)]
        lines += [f"{each.session}: {each.sql('t')}" for each in self.statements]
        return "\n".join(lines)


def scripts(n: int, *, seed: int = 1) -> Iterator[Script]:
    """`n` scripts; each depends on the seed and its own number only."""
    for number in range(n):
        yield _script(number, random.Random(seed * 1_000_003 + number))


def _script(number: int, draw: random.Random) -> Script:
    sessions = draw.choice((2, 2, 3))
    levels = tuple(draw.random() < 0.3 for _ in range(sessions))
    statements = []
    for i in range(draw.randint(sessions, sessions + 3)):
        session = i if i < sessions else draw.randrange(sessions)
        statements.append(_statement(session, draw))
    return Script(number, levels, tuple(statements))


def _statement(session: int, draw: random.Random) -> Statement:
    verb = draw.choices(
        ("read", "share", "update", "delete", "insert", "commit", "rollback"), (28, 14, 18, 10, 22, 3, 5)
    )[0]
    if verb in ("commit", "rollback"):
        return Statement(session=session, verb=verb)
    if verb == "insert":
        return Statement(session=session, verb=verb, row=_row(draw))
    index = draw.choices((0, 1, 2), (5, 2, 3))[0]
    if verb == "delete":
        value = draw.choice(_VALUES)
        return Statement(session=session, verb=verb, index=draw.choice((0, 0, 1)), low=value, high=value)
    column, more = 3, 1
    if verb == "update" and draw.random() < 0.4:
        # Another column than that of the index which finds the rows: the server would look for all of them first.
        index, column, more = 0, draw.choice((1, 2)), draw.choice((5, 10, -10))
    low, high, has_low, has_high = _range(draw)
    return Statement(
        session=session,
        verb=verb,
        index=index,
        low=low,
        high=high,
        has_low=has_low,
        has_high=has_high,
        column=column,
        more=more,
    )


_VALUES: Sequence[int] = (5, 10, 20, 25, 30, 40, 50, 60)


def _row(draw: random.Random) -> tuple[int, ...]:
    return (
        draw.choice((5, 15, 20, 25, 35, 45, 55)),
        draw.choice((7, 17, 20, 27, 37, 47, 57)),
        draw.choice((10, 20, 30, 60)),
        0,
    )


def _range(draw: random.Random) -> tuple[int | None, int | None, bool, bool]:
    if draw.random() < 0.5:
        value = draw.choice(_VALUES)
        return value, value, True, True
    low, high = sorted(draw.sample(_VALUES, 2))
    has_low, has_high = draw.random() < 0.5, draw.random() < 0.5
    open_end = draw.random()
    if open_end < 0.2:
        return None, high, True, has_high
    if open_end < 0.4:
        return low, None, has_low, True
    return low, high, has_low, has_high
