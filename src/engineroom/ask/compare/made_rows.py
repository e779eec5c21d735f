"""Rows for a reader's own tables: made from the columns' types, the same on every server and in every run.

A value is a pure function of table, column and row number. Numbers and texts that need not be unique are drawn from as many
values as the table has rows, so that two tables joined on such columns find about one partner a row. One nullable value in ten
is NULL. A foreign key repeats the values of a row of its parent.
"""

from __future__ import annotations

import datetime
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = ["Column", "ForeignKey", "Table", "insert_statement", "made", "read_tables"]

_EPOCH = datetime.datetime(2001, 1, 1)
_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext"}
_BYTES = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_LONGEST_TEXT, _LONGEST_LOB = 24, 64
_NULL_EVERY = 10
_MASK = (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as information_schema describes it; `is_unique` asks for another value in every row."""

    name: str
    kind: str
    full_type: str
    is_nullable: bool = False
    length: int | None = None
    precision: int | None = None
    scale: int = 0
    is_unique: bool = False


@dataclass(frozen=True, kw_only=True)
class ForeignKey:
    """Columns that repeat those of a row of `parent`, each row another one if `is_unique`."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    is_unique: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """What is needed to make rows: generated columns are left out, the server fills them."""

    name: str
    columns: tuple[Column, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique: tuple[tuple[str, ...], ...] = field(default=())


def read_tables(connection: Any, database: str) -> list[Table]:
    """The tables of a database, parents before children."""
    with connection.cursor() as cursor:

        def rows(sql: str, *of: str) -> list[list[Any]]:
            cursor.execute(sql, (database, *of))
            return [
                [each.decode() if isinstance(each, bytes | bytearray) else each for each in row]
                for row in cursor.fetchall()
            ]

        tables = {}
        for (name,) in rows(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE' "
            "ORDER BY table_name"
        ):
            columns = tuple(
                Column(
                    name=column,
                    kind=kind.lower(),
                    full_type=full,
                    is_nullable=nullable == "YES",
                    length=None if length is None else int(length),
                    precision=None if precision is None else int(precision),
                    scale=int(scale or 0),
                )
                for column, kind, full, nullable, length, precision, scale, extra in rows(
                    "SELECT column_name, data_type, column_type, is_nullable, character_maximum_length, numeric_precision, "
                    "numeric_scale, extra FROM information_schema.columns WHERE table_schema = %s AND table_name = %s "
                    "ORDER BY ordinal_position",
                    name,
                )
                if not re.search(r"(?i)(virtual|stored) generated", extra or "")
            )
            unique: dict[str, list[str]] = {}
            for index, column in rows(
                "SELECT index_name, column_name FROM information_schema.statistics WHERE table_schema = %s "
                "AND table_name = %s AND non_unique = 0 ORDER BY index_name = 'PRIMARY' DESC, index_name, seq_in_index",
                name,
            ):
                if column is not None:  # an index on an expression
                    unique.setdefault(index, []).append(column)
            foreign: dict[str, list[list[str]]] = {}
            for constraint, *parts in rows(
                "SELECT constraint_name, column_name, referenced_table_name, referenced_column_name "
                "FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s "
                "AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position",
                name,
            ):
                foreign.setdefault(constraint, []).append(parts)
            keys = tuple(
                ForeignKey(
                    columns=tuple(column for column, _, _ in parts),
                    parent=parts[0][1],
                    parent_columns=tuple(column for _, _, column in parts),
                )
                for parts in foreign.values()
            )
            tables[name] = _with_unique(
                Table(
                    name=name, columns=columns, foreign_keys=keys, unique=tuple(map(tuple, unique.values()))
                )
            )
    return [tables[name] for name in _parents_first(tables)]


def made(tables: list[Table], table: Table, n: int) -> Iterator[tuple[Any, ...]]:
    """`n` rows of `table`, one of `tables`; each of these has n rows."""
    known = {each.name: each for each in tables}
    makers = [_maker(known, table, column, n) for column in table.columns]
    for row in range(n):
        yield tuple(make(row) for make in makers)


def insert_statement(table: Table) -> str:
    """An INSERT with a placeholder for each column."""
    names = ", ".join(_quoted(column.name) for column in table.columns)
    return f"INSERT INTO {_quoted(table.name)} ({names}) VALUES ({', '.join(['%s'] * len(table.columns))})"


def _maker(known: dict[str, Table], table: Table, column: Column, n: int) -> Callable[[int], Any]:
    for key in table.foreign_keys:
        if column.name not in key.columns:
            continue
        parent = known.get(key.parent)
        if parent is None:
            raise EngineRoomError(
                f"{table.name}.{column.name} refers to {key.parent}, which is not in the schema",
                remedy="put both tables into the file of --schema",
            )
        if parent.name == table.name:
            if column.is_nullable and not column.is_unique:
                return lambda row: None  # noqa: ARG005
            return _own_maker(table, replace(_column(table, key.parent_columns[0]), is_nullable=False), n)
        there = _maker(
            known,
            parent,
            replace(_column(parent, key.parent_columns[key.columns.index(column.name)]), is_nullable=False),
            n,
        )
        if key.is_unique:
            return there
        salt = zlib.crc32(f"{table.name}.{key.columns}".encode())
        return lambda row: there(_mix(salt, row) % n)
    return _own_maker(table, column, n)


def _own_maker(table: Table, column: Column, n: int) -> Callable[[int], Any]:
    where = f"{table.name}.{column.name} ({column.full_type})"
    salt = zlib.crc32(f"{table.name}.{column.name}".encode())
    value, different = _of_number(column, where)
    if column.is_unique:
        if different < n:
            raise EngineRoomError(
                f"{where} is unique and has only {different} different values, and {n} rows were asked for",
                remedy=f"ask for --rows {different} at most, or give rows of your own with --data",
            )
        return lambda row: value(row + 1 if row + 1 < different else 0)
    among = min(different, max(n, 2))
    if column.is_nullable:
        return lambda row: None if _mix(salt + 1, row) % _NULL_EVERY == 0 else value(_mix(salt, row) % among)
    return lambda row: value(_mix(salt, row) % among)


def _of_number(column: Column, where: str) -> tuple[Callable[[int], Any], int]:
    """A function that turns a number into a value, another value for each number below the second result."""
    kind = column.kind
    if kind in _INTEGER_BITS:
        bits = _INTEGER_BITS[kind] - (0 if "unsigned" in column.full_type else 1)
        return int, 1 << bits
    if kind in ("decimal", "numeric"):
        return _decimal(column.scale), 10 ** min(column.precision or 10, 18)
    if kind in ("float", "double"):
        return float, 1 << 24
    if kind == "bit":
        return int, 1 << min(column.precision or 1, 63)
    if kind in ("enum", "set"):
        members = [text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", column.full_type)]
        return lambda number: members[number % len(members)], len(members)
    if kind == "year":
        return lambda number: 1901 + number, 255
    if kind == "date":
        return lambda number: (_EPOCH + datetime.timedelta(days=number)).date(), 2_900_000
    if kind in ("datetime", "timestamp"):
        # A timestamp ends in 2038.
        return lambda number: _EPOCH + datetime.timedelta(seconds=number), 1 << 30
    if kind == "time":
        return lambda number: datetime.timedelta(seconds=number), 24 * 3600
    if kind in _TEXTS or kind in _BYTES:
        is_lob = kind.endswith(("text", "blob"))
        longest = min(column.length or 0, _LONGEST_LOB if is_lob else _LONGEST_TEXT)
        if longest < 1:
            return lambda number: "", 1  # noqa: ARG005
        different = len(_LETTERS) ** min(longest, 12)
        return lambda number: _word(number, longest, fixed=kind in ("char", "binary")), different
    if kind == "json":
        return lambda number: f'{{"n": {number}}}', 1 << 53
    raise EngineRoomError(
        f"no rows can be made for {where}",
        remedy="give rows of your own with --data, or leave the column out",
    )


def _decimal(scale: int) -> Callable[[int], str]:
    """Turns a number into a decimal with `scale` digits behind the point: 1234 into 12.34."""
    if scale == 0:
        return str
    unit = 10**scale
    return lambda number: f"{number // unit}.{number % unit:0{scale}d}"


def _word(number: int, longest: int, *, fixed: bool) -> str:
    """The number in 36 digits, lowest first, then filler whose length depends on the number."""
    digits, rest = "", number
    while rest or not digits:
        digits += _LETTERS[rest % 36]
        rest //= 36
    if len(digits) >= longest:
        return digits[:longest]
    length = longest if fixed else len(digits) + 1 + _mix(7, number) % (longest - len(digits))
    # The filler starts with a sign that is no digit, so that two numbers never give one word.
    return (digits + "-" + "x" * longest)[:length]


def _mix(salt: int, row: int) -> int:
    """A fixed scrambling of (salt, row): the finaliser of SplitMix64."""
    x = (salt * 0x9E3779B97F4A7C15 + row * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return (x ^ (x >> 31)) >> 8


def _with_unique(table: Table) -> Table:
    """Mark one column, or one foreign key, of each unique key as the one that differs in every row."""
    columns = {column.name: column for column in table.columns}
    keys = list(table.foreign_keys)
    for names in table.unique:
        parts = [columns[name] for name in names if name in columns]
        foreign = {name for key in keys for name in key.columns}
        if any(part.is_unique and part.name not in foreign for part in parts) or any(
            key.is_unique and set(key.columns) <= set(names) for key in keys
        ):
            continue
        own = [part for part in parts if part.name not in foreign]
        if own:
            widest = max(own, key=lambda part: _of_number(part, table.name)[1])
            columns[widest.name] = replace(widest, is_unique=True)
        else:
            for i, key in enumerate(keys):
                if set(key.columns) <= set(names) and key.parent != table.name:
                    keys[i] = replace(key, is_unique=True)
                    break
    return replace(table, columns=tuple(columns.values()), foreign_keys=tuple(keys))


def _parents_first(tables: dict[str, Table]) -> list[str]:
    graph = {
        name: {key.parent for key in table.foreign_keys if key.parent != name and key.parent in tables}
        for name, table in tables.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise EngineRoomError(
            f"the foreign keys form a circle: {' -> '.join(error.args[1])}",
            remedy="give rows of your own with --data, or drop one of these foreign keys",
        ) from error


def _column(table: Table, name: str) -> Column:
    return next(column for column in table.columns if column.name.lower() == name.lower())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
