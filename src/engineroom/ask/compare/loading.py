"""A reader's tables and rows on a throw-away server, loaded and read by an account without powers.

Schema, rows and statements may be anybody's. They run as an account that has rights on its own databases alone: no file, no plugin, no
setting of the server, no other account. What of a dump that account may not do is skipped, see `dumps`.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from engineroom.ask.compare import made_rows, repeating
from engineroom.ask.compare.dumps import SYSTEM, Dump, Line
from engineroom.ask.compare.server_statistics import TableStatistics
from engineroom.errors import EngineRoomError
from engineroom.progress import bar
from engineroom.servers.catalogue import release
from engineroom.servers.server import ONE_STATEMENT

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["DATABASE", "MadeRows", "Ready", "Session"]

DATABASE = "compared"
_ACCOUNT = "compared"
_RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, "
    "CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, TRIGGER"
)
_BATCH_ROWS = 500
_AFTER_LOADING = "foreign_key_checks = 1, unique_checks = 1, autocommit = 1"
# What only a lenient sql_mode takes: an invalid default, one of a BLOB, a column without one, an engine that is not there.
_STRICT = {1067, 1101, 1286, 1364}
_UNKNOWN_COLLATION = re.compile(r"Unknown (?:collation|character set): '(\w+)'")


@dataclass
class MadeRows:
    """Which made rows each table gets: the same on all servers, and no row that the first of them refused."""

    n: int
    statements: Sequence[str]
    holding_constants: bool
    told: Mapping[tuple[str, str], TableStatistics] = field(
        default_factory=dict
    )  # by a server of the reader's
    tables: list[made_rows.Table] | None = None
    asked: made_rows.Asked = field(default_factory=dict)
    homeless: list[str] = field(default_factory=list)
    dropped: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    seeded: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    short: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def refused(self) -> int:
        """How many rows no server gets, since one refused them."""
        return sum(map(len, self.dropped.values()))

    @property
    def remarks(self) -> list[str]:
        """What rows follow, and which tables have other ones than asked for."""
        return [
            *self.followed,
            *(f"{name} has rows of its own, and gets no made ones" for name in self.seeded),
            *self.short.values(),
        ]


class _Catalogue(NamedTuple):
    """What the databases hold; names are in lower case."""

    lasting: Mapping[str, str]  # engines that roll nothing back, by table
    routines: frozenset[str]
    views: Mapping[str, str]  # their texts
    tables: Mapping[str, str]  # as SQL has them: their names


class Session:
    """A session over the tables of a server, and what its runs have left behind."""

    is_own = False  # the reader's: nothing is made there

    def __init__(self, server: Server, about: Mapping[str, Any]) -> None:
        self.server = server
        self.about = about
        self.connection: Any = None
        self.remarks: dict[str, None] = {}
        self.load_s = 0.0
        self.unfilled: dict[
            str, str
        ] = {}  # tables with made rows on other servers, and why there are none here
        self._temporary: dict[str, str] = {}
        self._databases: list[str] = []
        self._is_spoilt = self._is_lost = False
        self._catalogue: _Catalogue | None = None

    def undo(self, statement: str) -> repeating.Undo:
        """What has to be done before this statement can be run again here."""
        known = self._known()
        return repeating.undo(
            statement,
            engines={**known.lasting, **self._temporary},
            routines=known.routines,
            views=known.views,
        )

    def state(self, statement: str) -> list[tuple[Any, ...]]:
        """What is the same before a run and after its ROLLBACK: a checksum of each table that the statement may change."""
        known = self._known()
        named = repeating.names(statement, known.views)
        chosen = [name for name, plain in known.tables.items() if known.routines & named or plain in named]
        return self.server.query(f"CHECKSUM TABLE {', '.join(chosen)}") if chosen else []

    def spoil(self, undo: repeating.Undo) -> None:
        """Note what a run has left behind."""
        self._is_spoilt |= undo.copy or (undo.session and bool(self._temporary))
        self._is_lost |= undo.session

    def clean(self) -> None:
        """Make tables and session what they were before the last run."""
        raise NotImplementedError

    def recover(self) -> None:
        """Go on after an error, with another session: that one may be gone, or in the midst of a result."""
        self.spoil(repeating.Undo(session=True))
        self.clean()

    def hang_up(self) -> None:
        """End the session."""
        if self.connection is not None:
            with contextlib.suppress(Exception):
                self.connection.close()

    def _names(self, sql: str) -> list[str]:
        """The one column that a query answers with."""
        return [_str(name) for (name,) in self.server.query(sql)]

    def _known(self) -> _Catalogue:
        if self._catalogue is None:
            of = f"({', '.join(map(_text, self._databases))})"
            tables = self.server.query(
                "SELECT table_schema, table_name, engine, COALESCE(transactions, 'NO') FROM information_schema.tables LEFT JOIN "
                f"information_schema.engines USING (engine) WHERE table_type = 'BASE TABLE' AND table_schema IN {of}"
            )
            routines = self._names(
                f"SELECT routine_name FROM information_schema.routines WHERE routine_schema IN {of}"
            )
            views = self.server.query(
                f"SELECT table_name, view_definition FROM information_schema.views WHERE table_schema IN {of}"
            )
            self._catalogue = _Catalogue(
                lasting={_str(row[1]).casefold(): _str(row[2]) for row in tables if _str(row[3]) != "YES"},
                routines=frozenset(map(str.casefold, routines)),
                views={_str(name).casefold(): _str(text) for name, text in views},
                tables={
                    f"{_quoted(_str(row[0]))}.{_quoted(_str(row[1]))}": _str(row[1]).casefold()
                    for row in tables
                },
            )
        return self._catalogue


class Ready(Session):
    """A server with the tables and rows, and a session of the account over them."""

    def __init__(self, server: Server, about: Mapping[str, Any], statements: Sequence[str]) -> None:
        super().__init__(server, about)
        self._statements = statements
        self._named = frozenset[str]().union(*map(repeating.names, statements))
        self._password = secrets.token_urlsafe(12) + ".1aA"
        self._database = DATABASE
        self._session: list[str] = []
        self._schema: Dump = Dump()
        self._data: Dump = Dump()
        self._rows: MadeRows | None = None
        self._more: Dump = Dump()
        server.execute(f"CREATE USER '{_ACCOUNT}'@'%' IDENTIFIED BY '{self._password}'")

    def load_tables(self, schema: Dump) -> None:
        """Make the databases and run the lines of the schema; mysql.connector.Error with the place for what the server refuses."""
        self._schema = schema
        began = time.monotonic()
        self._catalogue, first = None, DATABASE
        if not any(
            line.database for line in schema.lines
        ):  # a dump of one database does not name it, statements may
            asked = set[str]().union(*map(repeating.qualifiers, self._statements))
            asked = {name for name in asked if name.casefold() not in SYSTEM}
            first = asked.pop() if len(asked) == 1 else DATABASE
        self._session, self._database, self._temporary = [], first, {}
        self._make(first)
        self._connect()
        with self.connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0")  # tables stand in any order
        self._run(schema.lines, "schema")
        self.load_s = time.monotonic() - began

    def load_rows(self, data: Dump, rows: MadeRows | None) -> None:
        """Run the lines of the data and fill tables with made rows."""
        self._data, self._rows = data, rows
        began = time.monotonic()
        self._run(data.lines, "rows")
        if rows is not None:
            self._fill(rows)
        with self.connection.cursor() as cursor:
            cursor.execute("COMMIT")
            cursor.execute(f"SET {_AFTER_LOADING}")
        for name in self._known().tables:
            self.server.execute(f"ANALYZE TABLE {name}")
        self._run_late([*self._schema.late, *data.late])
        self._use_read_tables()
        self.load_s += time.monotonic() - began

    def _run_late(self, lines: Sequence[Line]) -> None:
        """Run what makes histograms; a version without them does without."""
        import mysql.connector

        with self.connection.cursor() as cursor:
            for line in lines:
                self.connection.cmd_init_db(line.database or self._database)
                try:
                    self._run_line(cursor, line)
                except mysql.connector.Error as error:
                    if not self.server.alive():
                        raise
                    self._remark(f"does without {line.place}: {error}")
        if lines:
            self.connection.cmd_init_db(self._database)

    def run_more(self, more: Dump) -> None:
        """Run the lines that this side alone has."""
        self._more = more
        began = time.monotonic()
        self._run(more.lines, "its own SQL")
        self._catalogue = None
        self.load_s += time.monotonic() - began

    def _use_read_tables(self) -> None:
        """Of several databases use the one with most of the tables that are read, where the last one of the files has fewer."""
        tables = self._known().tables
        read = Counter(name.rpartition(".`")[0] for name, plain in tables.items() if plain in self._named)
        most = max(self._databases, key=lambda each: (read[_quoted(each)], each == self._database))
        if most != self._database:
            self._database = most
            self._remark(f"runs the statements in the database {most}")
            self.connection.cmd_init_db(most)

    def clean(self) -> None:
        """Make tables and session what they were before the last run."""
        if self._is_spoilt:
            self.hang_up()  # with the locks that it holds
            for database in reversed(self._databases):
                self.server.execute(f"DROP DATABASE IF EXISTS {_quoted(database)}")
            self._databases = []
            self.load_tables(self._schema)
            self.load_rows(self._data, self._rows)
            if self._more.lines:
                self.run_more(self._more)
        elif self._is_lost:
            self._connect()
            with self.connection.cursor() as cursor:
                for sql in (*self._session, f"SET {_AFTER_LOADING}"):
                    cursor.execute(sql)
        self._is_spoilt = self._is_lost = False

    def close(self) -> None:
        """Drop what was made here and end the session, on a server that goes on."""
        self.hang_up()
        self.server.execute(
            *(f"DROP DATABASE IF EXISTS {_quoted(each)}" for each in reversed(self._databases)),
            f"DROP USER '{_ACCOUNT}'@'%'",
        )

    def _make(self, database: str, *, is_made_by_line: bool = False) -> None:
        """Give a database to the account, and make it; `dumps` names none of the server's own."""
        assert database.casefold() not in SYSTEM
        if database in self._databases:
            return
        pattern = re.sub(r"([_%\\])", r"\\\1", database)
        self.server.execute(
            f"GRANT {_RIGHTS} ON {_quoted(pattern)}.* TO '{_ACCOUNT}'@'%'",
            *([] if is_made_by_line else [f"CREATE DATABASE IF NOT EXISTS {_quoted(database)}"]),
        )
        self._databases.append(database)

    def _connect(self) -> None:
        self.hang_up()
        self.connection = self.server.connect(
            self._database,
            user=_ACCOUNT,
            password=self._password,
            allow_local_infile=False,
            client_flags=ONE_STATEMENT,
        )

    def _run(self, lines: Sequence[Line], what: str) -> None:
        import mysql.connector

        with self.connection.cursor() as cursor:
            for line in bar(lines, desc=f"MySQL {self.server.version}: {what}", unit="statement"):
                if line.database is not None:
                    self._make(line.database, is_made_by_line=line.sql[:6].upper() == "CREATE")
                try:
                    self._run_line(cursor, line)
                except mysql.connector.Error as error:
                    if (
                        what == "schema"
                        and line.table is not None
                        and line.table.casefold() not in self._named
                        and self.server.alive()
                    ):
                        self._remark(f"does without {line.place}: {error}")
                        continue
                    raise mysql.connector.Error(
                        msg=f"{error.msg} ({line.place})", errno=error.errno, sqlstate=error.sqlstate
                    ) from error
                if line.table and re.match(r"CREATE\s+TEMPORARY\b", line.sql, re.IGNORECASE):
                    self._temporary[line.table.casefold()] = "TEMPORARY"
                if line.sets:
                    self._session.append(line.sql)
                if line.sql.startswith("USE "):
                    self._database = str(line.database)

    def _run_line(self, cursor: Any, line: Line) -> None:
        """Run one line; again with another collation, or with a lenient sql_mode, where that is what is lacking."""
        import mysql.connector

        sql, tried = line.sql, set[str]()
        mode: str | None = None
        try:
            while True:
                try:
                    cursor.execute(sql.encode("utf-8", "surrogateescape"))
                    if cursor.with_rows:
                        cursor.fetchall()
                except mysql.connector.Error as error:
                    unknown = _UNKNOWN_COLLATION.search(str(error))
                    if unknown and unknown[1] not in tried:
                        tried.add(unknown[1])
                        other = _other_collation(unknown[1], self.server.version)
                        sql = re.sub(rf"\b{unknown[1]}\b", other, sql, flags=re.IGNORECASE)
                        self._remark(f"lacks {unknown[1]}, {other} stands for it")
                    elif mode is None and (error.errno in _STRICT or "'0000-" in str(error)):
                        mode = self._set_mode(cursor, "")
                        self._remark(f"takes {line.place} only with an empty sql_mode: {error}")
                    else:
                        raise
                else:
                    return
        finally:
            if mode is not None:
                self._set_mode(cursor, mode)

    @staticmethod
    def _set_mode(cursor: Any, mode: str) -> str:
        """Set the session's sql_mode; the one before."""
        cursor.execute("SELECT @@sql_mode")
        ((before,),) = cursor.fetchall()
        cursor.execute(f"SET sql_mode = {_text(mode)}")
        return _str(before)

    def _remark(self, said: str) -> None:
        self.remarks[f"MySQL {self.server.version} {said}"] = None

    def _fill(self, rows: MadeRows) -> None:
        import mysql.connector

        is_first = rows.tables is None
        if rows.tables is None:
            views = self._known().views
            named = frozenset[str]().union(*(repeating.names(each, views) for each in self._statements))
            relatives = any(repeating.verb(each) not in repeating.READS for each in self._statements)
            if not self._known().tables:
                raise EngineRoomError(
                    "the schema makes no table", remedy="put CREATE TABLE statements into --schema"
                )
            rows.tables = made_rows.read_tables(self.connection, self._databases, named, relatives=relatives)
            if rows.told:
                rows.tables, rows.followed = made_rows.following(rows.tables, rows.told)
            rows.asked, rows.homeless = made_rows.asked_for(
                rows.tables, self._statements if rows.holding_constants else ()
            )
            rows.seeded = [
                each.name for each in rows.tables if not each.is_filled and each.name.casefold() in named
            ]
        with self.connection.cursor() as cursor:
            mode = self._set_mode(cursor, "STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO")
            cursor.execute("SET foreign_key_checks = 0")
            for i, table in enumerate(rows.tables):
                if not table.is_filled:
                    continue
                try:
                    self._fill_table(cursor, table, rows)
                except (mysql.connector.Error, EngineRoomError) as error:
                    if not self.server.alive():
                        raise
                    cursor.execute("ROLLBACK")
                    why = f"no made rows in {table.name}: {getattr(error, 'problem', error)}"
                    self._remark(f"takes {why}")
                    if is_first:
                        rows.tables[i] = replace(table, is_filled=False)
                    else:
                        self.unfilled[table.name.casefold()] = why
            self._set_mode(cursor, mode)

    def _fill_table(self, cursor: Any, table: made_rows.Table, rows: MadeRows) -> None:
        """Insert the rows in batches, those of a batch that the server refuses one by one."""
        import mysql.connector

        assert rows.tables is not None
        insert = made_rows.insert_statement(table)
        dropped = rows.dropped.setdefault(table.key, set())
        size = made_rows.sizes(rows.tables, rows.n)[table.key]
        made = enumerate(made_rows.made(rows.tables, table, rows.n, rows.asked))
        chosen = ((number, row) for number, row in made if number not in dropped)
        before, why = len(dropped), "its keys have no more values"
        if table.most is not None and size >= table.most:
            why = "the statistics have no more"
        cursor.execute("START TRANSACTION")
        with bar(total=size, desc=f"MySQL {self.server.version}: rows of {table.name}", unit="row") as shown:
            while batch := list(itertools.islice(chosen, _BATCH_ROWS)):
                try:
                    cursor.executemany(insert, [row for _, row in batch])
                except mysql.connector.Error as error:
                    lost: dict[int, str] = {}
                    for number, row in batch:
                        try:
                            cursor.execute(insert, row)
                        except mysql.connector.Error as refused:
                            lost[number] = why = str(refused)
                    if batch[0][0] == 0 and len(lost) == len(batch):
                        raise error from None  # the others would fare no better
                    dropped.update(lost)
                shown.update(len(batch))
        cursor.execute("COMMIT")
        if (kept := size - len(dropped)) < rows.n and (len(dropped) > before or table.key not in rows.short):
            rows.short[table.key] = f"{table.name} has {kept:,} made rows, not {rows.n:,}: {why}"


def _other_collation(name: str, version: str) -> str:
    """What stands for a collation or a character set that a version lacks: the nearest of the same character set."""
    charset = name.partition("_")[0]
    if charset == "utf8mb3" and release(version) < (8, 0):
        return name.replace("utf8mb3", "utf8")
    if "_" not in name:
        return "utf8mb4"
    if name.endswith(("_bin", "_as_cs")):
        return f"{charset}_bin"
    return f"{charset}_unicode_520_ci" if charset == "utf8mb4" else f"{charset}_general_ci"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _str(value: Any) -> str:
    return value.decode() if isinstance(value, bytes | bytearray) else str(value)
