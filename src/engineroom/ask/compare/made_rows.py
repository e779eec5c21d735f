"""Rows for a reader's own tables: made from the columns' types, the same on every server and in every run.

A value is a pure function of table, column and row number. Numbers and texts that need not be unique are drawn from as many
values as the table has rows, so that two tables joined on such columns find about one partner a row. One nullable value in ten
is NULL. A foreign key repeats the values of a row of its parent. One row in four holds what a statement's conditions ask for. CHECKs that
compare one column with constants, and partitions, bound what is drawn. A key with fewer values than rows gives its table fewer rows.

Where a server's statistics tell how often a column has which value, made rows have it as often, and some rows alone hold what is asked for.
"""

from __future__ import annotations

import base64
import datetime
import itertools
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from engineroom.ask.compare.constants import Condition, conditions
from engineroom.ask.compare.server_statistics import Bucket, TableStatistics
from engineroom.ask.compare.spread import Drawn, Spread
from engineroom.errors import EngineRoomError

__all__ = [
    "Column",
    "ForeignKey",
    "Table",
    "asked_for",
    "following",
    "insert_statement",
    "made",
    "read_tables",
    "sizes",
]

_EPOCH = datetime.datetime(2001, 1, 1)
_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext"}
_BYTES = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SPATIAL = {"point": 1, "geometry": 1, "linestring": 2, "polygon": 3, "multipoint": 4, "multilinestring": 5, "multipolygon": 6, "geomcollection": 7, "geometrycollection": 7}  # fmt: skip
_LONGEST_TEXT, _LONGEST_LOB = 24, 64
_NULL_EVERY = 10
_ASKED_EVERY = 4
_ASKED_FIRST = 8
_TOLD = 8
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
    srid: int = 0
    is_unique: bool = False
    low: int | None = (
        None  # bounds and members, as a CHECK or the partitions have them; days of a date, seconds of a time
    )
    high: int | None = None
    among: tuple[Any, ...] = ()
    spread: Spread | None = None  # as a server's statistics have it


@dataclass(frozen=True, kw_only=True)
class ForeignKey:
    """Columns that repeat those of a row of `parent`, each row another one if `is_unique`."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    is_unique: bool = False
    parent_database: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """What is needed to make rows: generated columns are left out, the server fills them."""

    name: str
    columns: tuple[Column, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique: tuple[tuple[str, ...], ...] = field(default=())
    database: str = ""
    is_filled: bool = True  # False for a parent whose keys are repeated, and for a table that has rows
    most: int | None = None  # rows that it has on a server, by the statistics of that

    @property
    def key(self) -> tuple[str, str]:
        """What tells it apart."""
        return self.database, self.name

    @property
    def quoted(self) -> str:
        """Its name as SQL has it."""
        return f"{_quoted(self.database)}.{_quoted(self.name)}" if self.database else _quoted(self.name)


def read_tables(
    connection: Any, databases: Sequence[str], wanted: Collection[str], *, relatives: bool = False
) -> list[Table]:
    """The tables of these databases whose name in lower case is `wanted`, and their parents, parents before children.

    With `relatives` also those that a change would look into: all parents and children are filled.
    """
    with connection.cursor() as cursor:

        def rows(sql: str, *of: str) -> list[list[Any]]:
            cursor.execute(sql, of)
            return [
                [each.decode() if isinstance(each, bytes | bytearray) else each for each in row]
                for row in cursor.fetchall()
            ]

        marks = ", ".join(["%s"] * len(databases))
        keys = [
            (database, name)
            for database, name in rows(
                f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ({marks}) "
                "AND table_type = 'BASE TABLE' ORDER BY table_schema, table_name",
                *databases,
            )
        ]
        foreign: dict[tuple[str, str], dict[str, list[list[str]]]] = {key: {} for key in keys}
        for database, name, constraint, *parts in rows(
            "SELECT table_schema, table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name, "
            f"referenced_column_name FROM information_schema.key_column_usage WHERE table_schema IN ({marks}) "
            "AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position",
            *databases,
        ):
            foreign[database, name].setdefault(constraint, []).append(parts)
        parents = {
            key: {(parts[0][1], parts[0][2]) for parts in each.values()} & set(keys)
            for key, each in foreign.items()
        }
        filled = {key for key in keys if key[1].casefold() in wanted}
        if relatives:
            both = {key: parents[key] | {each for each in keys if key in parents[each]} for key in keys}
            filled = _reached(filled, both)
        tables = {}
        for key in _reached(filled, parents):
            database, name = key
            columns = _columns(rows, database, name)
            unique: dict[str, list[str]] = {}
            for index, column in rows(
                "SELECT index_name, column_name FROM information_schema.statistics WHERE table_schema = %s "
                "AND table_name = %s AND non_unique = 0 ORDER BY index_name = 'PRIMARY' DESC, index_name, seq_in_index",
                *key,
            ):
                if column is not None:  # an index on an expression
                    unique.setdefault(index, []).append(column)
            table = Table(
                database=database,
                name=name,
                columns=columns,
                foreign_keys=tuple(
                    ForeignKey(
                        columns=tuple(part[0] for part in parts),
                        parent_database=parts[0][1],
                        parent=parts[0][2],
                        parent_columns=tuple(part[3] for part in parts),
                    )
                    for parts in foreign[key].values()
                ),
                unique=tuple(map(tuple, unique.values())),
                is_filled=key in filled,
            )
            cursor.execute(f"SELECT * FROM {table.quoted} LIMIT 1000")
            names, own = cursor.column_names, cursor.fetchall()
            if own:  # rows of its own are repeated by its children
                held = dict(zip(names, zip(*own, strict=True), strict=True))
                columns = tuple(replace(each, among=tuple(held[each.name])) for each in table.columns)
                table = replace(table, columns=columns, is_filled=False, unique=())
            tables[key] = _with_unique(table)
    return [tables[key] for key in _parents_first(tables)]


def _reached(
    start: Iterable[tuple[str, str]], graph: Mapping[tuple[str, str], set[tuple[str, str]]]
) -> set[tuple[str, str]]:
    """All that can be reached in a graph."""
    found, todo = set[tuple[str, str]](), list(start)
    while todo:
        if (key := todo.pop()) not in found:
            found.add(key)
            todo += graph.get(key, ())
    return found


def _columns(rows: Callable[..., list[list[Any]]], database: str, name: str) -> tuple[Column, ...]:
    """The columns that are not generated, bounded by CHECKs and partitions."""
    known = {
        each.casefold()
        for (each,) in rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema' "
            "AND (LOWER(table_name), LOWER(column_name)) IN (('columns', 'srs_id'), ('check_constraints', 'check_clause'))"
        )
    }
    columns = {
        column.casefold(): Column(
            name=column,
            kind=kind.lower(),
            full_type=full,
            is_nullable=nullable == "YES",
            length=None if length is None else int(length),
            precision=None if precision is None else int(precision),
            scale=int(scale or 0),
            srid=int(srid or 0),
        )
        for column, kind, full, nullable, length, precision, scale, extra, srid in rows(
            "SELECT column_name, data_type, column_type, is_nullable, character_maximum_length, numeric_precision, "
            f"numeric_scale, extra, {'srs_id' if 'srs_id' in known else 'NULL'} FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            *(database, name),
        )
        if not re.search(r"(?i)(virtual|stored) generated", extra or "")
    }
    texts = []
    if "check_clause" in known:
        clauses = rows(
            "SELECT check_clause FROM information_schema.check_constraints AS c JOIN information_schema.table_constraints AS t "
            "USING (constraint_schema, constraint_name) WHERE t.table_schema = %s AND t.table_name = %s AND enforced = 'YES'",
            *(database, name),
        )
        texts += [clause.replace("\\'", "'") for (clause,) in clauses]
    parts = rows(
        "SELECT partition_method, partition_expression, partition_description FROM information_schema.partitions "
        "WHERE table_schema = %s AND table_name = %s AND partition_description IS NOT NULL ORDER BY partition_ordinal_position",
        *(database, name),
    )
    if parts:
        method, expression, last = parts[-1]
        if method.startswith("LIST"):
            texts.append(f"{expression} IN ({', '.join(part[2] for part in parts)})")
        elif last != "MAXVALUE":
            least = f" AND {expression} >= {parts[0][2]} - 1" if method == "RANGE" else ""
            texts.append(f"{expression} < {last}{least}")
    for text in texts:
        columns = _bounded(columns, text)
    return tuple(columns.values())


def _bounded(columns: dict[str, Column], text: str) -> dict[str, Column]:
    """The columns within what a CHECK or a partition says; what it says of several at once is left to the server."""
    text = re.sub(
        r"(?i)\b(?:to_days|to_seconds|unix_timestamp|year)\s*\(\s*(`?\w+`?)\s*\)\s*(<|>=)\s*(\d+)(?: - (1))?",
        _dated,
        text,
    )
    if re.search(r"(?i)\bor\b", text):
        return columns
    if "json_valid" in text.lower():
        names = {each.strip("`").casefold() for each in re.findall(r"(?i)json_valid\s*\(\s*(`?\w+`?)", text)}
        return {name: replace(each, kind="json") if name in names else each for name, each in columns.items()}
    found = dict(columns)
    for each in conditions(f"SELECT 1 FROM t WHERE {text}"):
        if (column := found.get(each.column)) is None:
            continue
        number = _number_of(column, each.value)
        if each.op == "=":
            found[each.column] = replace(column, among=(*column.among, each.value))
        elif each.op == "like":
            found[each.column] = replace(column, among=(_fitting(column, each),))
        elif number is not None and each.op in (">", ">="):
            low = number + (each.op == ">")
            found[each.column] = replace(column, low=low if column.low is None else max(low, column.low))
        elif number is not None and each.op in ("<", "<="):
            high = number - (each.op == "<")
            found[each.column] = replace(column, high=high if column.high is None else min(high, column.high))
    return found


def _dated(found: re.Match[str]) -> str:
    """A bound of a partition by days, years or seconds as a bound of its column."""
    number, one = int(found[3]), bool(found[4])
    if "year" in found[0].lower():
        at = datetime.date(min(max(number - one, 1), 9999), 1, 1)
    elif "to_" in found[0].lower():
        number //= 86_400 if "to_seconds" in found[0].lower() else 1
        at = datetime.date.fromordinal(min(max(number - 365 - 28 * one, 1), 3_650_000))
    else:
        at = datetime.date(1970, 1, 1) + datetime.timedelta(seconds=number - 86_400 * one)
    return f"{found[1]} {found[2]} '{at.isoformat()}'"


def _number_of(column: Column, value: Any) -> int | None:
    """A bound as the number that `_of_number` counts from."""
    try:
        if column.kind in (*_INTEGER_BITS, "decimal", "float", "double"):
            return int(float(value) * 10**column.scale) if column.kind == "decimal" else int(float(value))
        if column.kind == "year":
            return int(value) - 1901
        if column.kind in ("date", "datetime", "timestamp"):
            passed = datetime.datetime.fromisoformat(str(value)) - _EPOCH
            return passed.days if column.kind == "date" else int(passed.total_seconds())
    except (TypeError, ValueError, OverflowError):
        pass
    return None


def sizes(tables: Sequence[Table], n: int) -> dict[tuple[str, str], int]:
    """How many rows each table can hold, at most n: no more than it has there, and than its keys, and the parents that these repeat, have values."""
    found = {table.key: n if table.most is None else min(n, max(1, table.most)) for table in tables}
    for table in tables:
        for column in table.columns:
            if column.is_unique and not any(column.name in key.columns for key in table.foreign_keys):
                found[table.key] = min(found[table.key], _variety(column))
    for _ in tables:
        for table in tables:
            for key in table.foreign_keys:
                if key.is_unique and (parent := (key.parent_database, key.parent)) in found:
                    found[table.key] = min(found[table.key], found[parent])
    return found


Asked = Mapping[tuple[str, str], Sequence[Mapping[str, Sequence[Any]]]]


def asked_for(tables: Sequence[Table], statements: Iterable[str]) -> tuple[Asked, list[str]]:
    """By table and statement, the values that each column's conditions ask for; and the constants that no column can hold."""
    found: dict[tuple[str, str], list[dict[str, list[Any]]]] = {table.key: [] for table in tables}
    homeless: dict[str, None] = {}
    known = {table.key: table for table in tables}
    for statement in statements:
        asked = conditions(statement)
        of_statement: dict[tuple[str, str], dict[str, list[Any]]] = {}
        homeless |= dict.fromkeys(repr(each.value) for each in asked if each.value is not None)
        for each, table in itertools.product(asked, tables):
            if not _is_of(each, table):
                continue
            column = _column(table, each.column)
            value = _fitting(column, each)
            if value is None and not (each.value is None and column.is_nullable):
                continue
            homeless.pop(repr(each.value), None)
            of_statement.setdefault(table.key, {}).setdefault(column.name, []).append(value)
            for key in table.foreign_keys:  # the parent has it as well
                parent = known.get((key.parent_database, key.parent))
                if key.columns == (column.name,) and parent is not None and parent.key != table.key:
                    of_statement.setdefault(parent.key, {}).setdefault(key.parent_columns[0], []).append(
                        value
                    )
        for place, columns in of_statement.items():
            found[place].append(columns)
    return found, list(homeless)


def _is_of(condition: Condition, table: Table) -> bool:
    return condition.table in (None, table.name.casefold()) and any(
        column.name.casefold() == condition.column for column in table.columns
    )


def _fitting(column: Column, condition: Condition) -> Any:
    """A value of the column for which the condition holds; None where it cannot have one."""
    value: Any = condition.value
    step = {">": 1, "<": -1}.get(condition.op, 0)
    if value is None:
        return None
    if condition.op == "like":
        value = str(value).replace("%", "").replace("_", "a")
    number = _number_of(column, value)
    if column.kind in ("decimal", "float", "double"):
        return None if number is None else float(value) + step
    if number is not None:
        if column.kind in _INTEGER_BITS:
            bits = _INTEGER_BITS[column.kind]
            least, most = (
                (0, 1 << bits) if "unsigned" in column.full_type else (-1 << bits - 1, 1 << bits - 1)
            )
            return number + step if least <= number + step < most else None
        if column.kind == "timestamp" and not -978_307_199 <= number < 1_169_000_000:
            return None
        return _of_number(replace(column, low=None, high=None, among=()), "")[0](number + step)
    if column.kind in ("enum", "set"):
        return value if str(value).casefold() in map(str.casefold, _members(column)) else None
    if column.kind in _TEXTS | _BYTES and len(str(value)) <= (column.length or 0):
        return f"{value}z" if step > 0 and len(str(value)) < (column.length or 0) else str(value)
    return None


def made(tables: list[Table], table: Table, n: int, asked: Asked | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of `table`, one of `tables`: n, or as many as its keys can have."""
    known = {each.key: each for each in tables}
    maker = _Maker(known, sizes(tables, n), asked or {})
    makers = [maker.of(table, column) for column in table.columns]
    for row in range(maker.sizes[table.key]):
        yield tuple(make(row) for make in makers)


def insert_statement(table: Table) -> str:
    """An INSERT with a placeholder for each column."""
    names = ", ".join(_quoted(column.name) for column in table.columns)
    return f"INSERT INTO {table.quoted} ({names}) VALUES ({', '.join(['%s'] * len(table.columns))})"


@dataclass
class _Maker:
    """Functions from a row's number to a value, for tables of known sizes."""

    known: Mapping[tuple[str, str], Table]
    sizes: Mapping[tuple[str, str], int]
    asked: Asked

    def of(self, table: Table, column: Column, via: tuple[Any, ...] = ()) -> Callable[[int], Any]:
        """The function of a column: a parent's values, or its own, with those that are asked for."""
        for key in table.foreign_keys:
            if column.name not in key.columns:
                continue
            parent = self.known.get((key.parent_database, key.parent))
            if parent is None or parent.key == table.key or (table.key, column.name) in via:
                break  # its own values, also where foreign keys form a circle
            theirs = _column(parent, key.parent_columns[key.columns.index(column.name)])
            there = self.of(parent, replace(theirs, is_nullable=False), (*via, (table.key, column.name)))
            if key.is_unique:
                return there
            salt, size = zlib.crc32(f"{table.name}.{key.columns}".encode()), self.sizes[parent.key]
            drawn = None
            if column.spread is not None and len(key.columns) == 1:
                drawn = Drawn(column.spread, self.sizes[table.key], is_nullable=column.is_nullable)
            repeated = _drawn(there, salt, size, drawn)
            return self._as_asked(table, column, repeated) if len(key.columns) == 1 else repeated
        if column.is_nullable and not column.is_unique and _refers_to_itself(table, column):
            return lambda row: None  # noqa: ARG005
        asked = [value for each in self.asked.get(table.key, ()) for value in each.get(column.name, ())]
        return self._as_asked(table, column, _own_maker(table, column, self.sizes[table.key], asked))

    def _as_asked(self, table: Table, column: Column, plain: Callable[[int], Any]) -> Callable[[int], Any]:
        """One row in four holds, in all its columns, what one of the statements asks for; in a key each value stands once.

        Of a column whose statistics say how often a value is there, the first rows alone.
        """
        asked, size = self.asked.get(table.key, ()), self.sizes[table.key]
        if not any(column.name in each for each in asked):
            return plain
        first = _ASKED_FIRST * len(asked)
        at_key = {
            value - 1: each
            for each in asked
            for other in table.columns
            for value in each.get(other.name, ())
            if other.is_unique and isinstance(value, int) and 0 < value <= size
        }
        if column.is_unique:
            known = {str(plain(row)).casefold() for row in range(size)}
            placed: dict[int, Any] = {}
            for i, each in enumerate(asked):
                new = [value for value in each.get(column.name, ()) if str(value).casefold() not in known]
                placed |= {
                    row: value
                    for row, value in zip(range(i, min(first, size), len(asked)), new, strict=False)
                    if row not in at_key
                }
                known |= {str(value).casefold() for value in new}
            return lambda row: placed[row] if row in placed else plain(row)
        salt, own = zlib.crc32(table.name.encode()), zlib.crc32(column.name.encode())

        def make(row: int) -> Any:
            some = at_key.get(row)
            if some is None and row < first:
                some = asked[row % len(asked)]
            elif some is None and column.spread is None and _mix(salt, row) % _ASKED_EVERY == 0:
                some = asked[_mix(salt + 1, row) % len(asked)]
            values = some.get(column.name) if some else None
            return values[_mix(own, row) % len(values)] if values else plain(row)

        return make


def _drawn(
    there: Callable[[int], Any], salt: int, size: int, drawn: Drawn | None = None
) -> Callable[[int], Any]:
    if drawn is None:
        return lambda row: there(_mix(salt, row) % size)
    return _spread_out(drawn, salt, lambda nth, place: there((drawn.starts[nth] + place) % size))


def _refers_to_itself(table: Table, column: Column) -> bool:
    return any(
        (key.parent_database, key.parent) == table.key and column.name in key.columns
        for key in table.foreign_keys
    )


def _own_maker(table: Table, column: Column, n: int, asked: Sequence[Any]) -> Callable[[int], Any]:
    where = f"{table.name}.{column.name} ({column.full_type})"
    salt = zlib.crc32(f"{table.name}.{column.name}".encode())
    try:
        value, different = _of_number(column, where)
    except EngineRoomError:
        if column.is_nullable:
            return lambda row: None  # noqa: ARG005
        raise
    if column.is_unique:
        return lambda row: value(row + 1 if row + 1 < different else 0)
    if column.spread is not None:
        return _as_spread(
            column, column.spread, lambda number: value(number % different), n, salt=salt, asked=asked
        )
    among = min(different, max(n, 2))
    if column.is_nullable and not column.among:
        return lambda row: None if _mix(salt + 1, row) % _NULL_EVERY == 0 else value(_mix(salt, row) % among)
    return lambda row: value(_mix(salt, row) % among)


def _spread_out(drawn: Drawn, salt: int, value: Callable[[int, int], Any]) -> Callable[[int], Any]:
    """Values by bucket and place, each as often as its bucket says."""

    def make(row: int) -> Any:
        place = drawn.place(_mix(salt + 1, row) / (_MASK >> 8), _mix(salt, row))
        return None if place is None else value(*place)

    return make


def _as_spread(
    column: Column, spread: Spread, plain: Callable[[int], Any], n: int, *, salt: int, asked: Sequence[Any]
) -> Callable[[int], Any]:
    """Values of the buckets, or any where their number alone is known; what a statement asks for is among those of its bucket."""
    drawn = Drawn(spread, n, is_nullable=column.is_nullable)
    held: dict[tuple[int, int], Any] = {}
    for wanted in dict.fromkeys(asked):
        for nth, bucket in enumerate(spread.buckets):
            place = sum(other == nth for other, _ in held)
            if place < drawn.sizes[nth] and _is_within(column, bucket, wanted):
                held[nth, place] = wanted
                break

    def value(nth: int, place: int) -> Any:
        bucket = spread.buckets[nth]
        if (nth, place) in held:
            return held[nth, place]
        if bucket.low is None:
            return plain(drawn.starts[nth] + place)
        return _between(column, bucket, place, drawn.sizes[nth])

    return _spread_out(drawn, salt, value)


def _is_within(column: Column, bucket: Bucket, value: Any) -> bool:
    if bucket.low is None or value is None:
        return value is not None
    low, high = bucket.low, bucket.high
    if column.kind == "enum":
        value = [each.casefold() for each in _members(column)].index(str(value).casefold()) + 1
    elif column.kind in _TEXTS:
        low, high, value = (each.casefold() for each in (low, high, str(value)))
    try:
        return bool(low <= value <= high)
    except TypeError:  # such as a text in a column of bytes
        return False


def _between(column: Column, bucket: Bucket, place: int, size: int) -> Any:
    """One of `size` values from a bucket's low to its high."""
    low, high = bucket.low, bucket.high
    if column.kind in _TEXTS:
        longer = f"{low}-{_word(place, 12, fixed=False)}"
        return low if place == 0 or len(longer) > (column.length or 0) else longer
    if place == 0 or column.kind in _BYTES:
        return _shown_member(column, low)
    if isinstance(low, int):
        return _shown_member(column, low + (high - low) * place // (size - 1))
    return low + (high - low) * (place / (size - 1))


def _shown_member(column: Column, value: Any) -> Any:
    """An ENUM's or SET's member, which histograms count; other values as they are."""
    members = _members(column) if column.kind in ("enum", "set") else []
    if column.kind == "enum":
        return members[value - 1]
    if column.kind == "set":
        return ",".join(each for bit, each in enumerate(members) if value >> bit & 1)
    return value


def following(
    tables: Sequence[Table], told: Mapping[tuple[str, str], TableStatistics]
) -> tuple[list[Table], list[str]]:
    """The tables with what a server tells of them, and remarks; EngineRoomError where it tells nothing of any."""
    found, followed, remarks = list[Table](), list[str](), list[str]()
    for table in tables:
        of = {database: each for (database, name), each in told.items() if name == table.name.casefold()}
        one = of.get(table.database.casefold(), next(iter(of.values())) if len(of) == 1 else None)
        if one is None:
            if of:
                remarks.append(
                    f"statistics of {table.name} are not followed: {', '.join(sorted(of))} have such a table each"
                )
            found.append(table)
            continue
        # What differs in each row, or comes with other columns of a parent, is not drawn.
        bound = {
            name
            for key in table.foreign_keys
            if key.is_unique or len(key.columns) > 1
            for name in key.columns
        }
        columns = []
        for column in table.columns:
            is_drawn = not column.is_unique and column.name not in bound
            try:
                spread = _spread_of(column, one) if is_drawn else None
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                remarks.append(f"statistics of {table.name}.{column.name} are not followed: {error}")
                spread = None
            followed += [f"{table.name}.{column.name}"] if spread else []
            columns.append(replace(column, spread=spread))
        followed += [] if one.rows is None else [f"rows of {table.name}"]
        found.append(replace(table, columns=tuple(columns), most=one.rows))
    if not followed and not remarks:
        names = ", ".join(table.name for table in tables)
        raise EngineRoomError(
            f"the statistics tell nothing of {names or 'a table'}",
            remedy="give those of the tables that the statement names, or leave --statistics out",
        )
    more = f" and {len(followed) - _TOLD} more" if len(followed) > _TOLD else ""
    remarks[:0] = (
        [f"made rows follow the statistics: {', '.join(followed[:_TOLD])}{more}"] if followed else []
    )
    return found, remarks


def _spread_of(column: Column, of: TableStatistics) -> Spread | None:
    """What statistics tell of a column; ValueError and its like for bounds that it cannot have."""
    buckets = of.columns.get(column.name.casefold())
    if buckets is None or not (buckets or column.is_nullable):
        return None
    if buckets and buckets[0].low is None:
        share = 1 - 1 / _NULL_EVERY if column.is_nullable else 1.0
        return Spread((replace(buckets[0], end=share),), of.rows)
    typed = (replace(each, low=_typed(column, each.low), high=_typed(column, each.high)) for each in buckets)
    return Spread(tuple(typed), of.rows)


def _typed(column: Column, bound: Any) -> Any:
    """A bound of a histogram as the column has values; of an ENUM or SET its number."""
    kind = column.kind
    if kind in _TEXTS | _BYTES:
        data = base64.b64decode(bound.rpartition(":")[2], validate=True) if bound[:7] == "base64:" else bound
        value = data if kind in _BYTES or isinstance(data, str) else data.decode()
        if len(value) > (column.length or 0):
            raise ValueError(f"{value!r:.40} is longer than {column.full_type}")
        return value
    if kind in ("enum", "set"):
        most = len(_members(column)) if kind == "enum" else (1 << len(_members(column))) - 1
        if not (kind == "enum") <= int(bound) <= most:
            raise ValueError(f"{bound!r:.40} is no member of {column.full_type}")
        return int(bound)
    if kind in _INTEGER_BITS or kind in ("year", "bit"):
        return int(bound)
    if kind in ("decimal", "numeric", "float", "double"):
        return float(bound)
    if kind in ("datetime", "timestamp"):
        return datetime.datetime.fromisoformat(bound)
    if kind == "date":
        return datetime.date.fromisoformat(bound[:10])
    raise ValueError(f"a column of {column.full_type} is not spread by a histogram")


def _of_number(column: Column, where: str) -> tuple[Callable[[int], Any], int]:
    """A function that turns a number into a value, another value for each number below the second result."""
    if column.among:
        return lambda number: column.among[number % len(column.among)], len(column.among)
    value, different = _of_type(column, where)
    low, high = column.low, column.high
    if low is None and (high is None or high >= different):
        return value, different
    low = max(0, high + 1 - different) if low is None and high is not None and high >= 0 else low
    low = (high or 0) - 1000 if low is None else low
    return lambda number: value(low + number), max(1, (low + different if high is None else high + 1) - low)


def _of_type(column: Column, where: str) -> tuple[Callable[[int], Any], int]:
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
        members = _members(column)
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
    if kind in _SPATIAL:
        return lambda number: struct.pack("<I", column.srid) + _shape(_SPATIAL[kind], number), 80 * 80
    raise EngineRoomError(
        f"no rows can be made for {where}",
        remedy="give rows of your own with --data, or leave the column out",
    )


def _members(column: Column) -> list[str]:
    return [text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", column.full_type)]


def _shape(kind: int, number: int) -> bytes:
    """A point, line, square, or a collection of one, as the server keeps it: well-known binary."""
    x, y = float(number % 80), float(number // 80 % 80)
    corners = {
        1: [(x, y)],
        2: [(x, y), (x + 1, y + 1)],
        3: [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1), (x, y)],
    }
    head = struct.pack("<BI", 1, kind)
    if kind > 3:
        return head + struct.pack("<I", 1) + _shape(kind - 3 if kind < 7 else 1, number)
    count = {1: b"", 2: struct.pack("<I", 2), 3: struct.pack("<II", 1, 5)}[kind]
    return head + count + b"".join(struct.pack("<dd", *corner) for corner in corners[kind])


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
            widest = max(own, key=_variety)
            columns[widest.name] = replace(widest, is_unique=True)
        else:
            for i, key in enumerate(keys):
                if set(key.columns) <= set(names):
                    if (key.parent_database, key.parent) == table.key:
                        for name in key.columns:
                            columns[name] = replace(columns[name], is_unique=True)
                    keys[i] = replace(key, is_unique=True)
                    break
    return replace(table, columns=tuple(columns.values()), foreign_keys=tuple(keys))


def _variety(column: Column) -> int:
    """How many values a column has; none where no value can be made."""
    try:
        return _of_number(column, column.name)[1]
    except EngineRoomError:
        return 0


def _parents_first(tables: Mapping[tuple[str, str], Table]) -> list[tuple[str, str]]:
    graph = {
        key: {
            parent
            for each in table.foreign_keys
            if (parent := (each.parent_database, each.parent)) != key and parent in tables
        }
        for key, table in sorted(tables.items())
    }
    while True:
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:  # the server is told not to look at foreign keys
            child, parent = error.args[1][1], error.args[1][0]
            graph[child].discard(parent)


def _column(table: Table, name: str) -> Column:
    return next(column for column in table.columns if column.name.lower() == name.lower())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
