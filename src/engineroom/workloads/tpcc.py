"""The TPC-C database: all nine tables, deterministic by seed, written for bulk speed.

Rows follow the initial population of the TPC-C standard specification (clause 4.3.3). Each column is generated as one NumPy
array; a table becomes one block of text without a Python loop over rows (see `_text`), which the server reads by LOAD DATA
LOCAL INFILE, or gets as multi-row INSERTs where that is not allowed. Same seed, same rows, on every server version.

`scale` shrinks customers, orders and items together; districts stay ten, and the consistency conditions of the
specification (clause 3.3.2) hold at every scale.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import mysql.connector
import numpy as np
import numpy.typing as npt

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.progress import bar

__all__ = [
    "DISTRICTS",
    "Loaded",
    "Size",
    "add_order_line_district_index",
    "integers",
    "load",
    "text",
]

DISTRICTS = 10
_LAST_NAME_PARTS = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_WHEN = b"2024-01-01 00:00:00"  # fixed: the date of loading would make two loads differ
_INSERT_BYTES = 1_000_000  # below every version's default max_allowed_packet

Bytes = npt.NDArray[np.uint8]  # a column of text: one row a value, NUL where the value is shorter
Ints = npt.NDArray[np.int64]


class Server(Protocol):
    """What the loader needs of a server: a connection that accepts the connector's options."""

    def connect(self, database: str | None = None, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Size:
    """How many rows a database has: the specification's numbers at `scale` 1."""

    warehouses: int = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.warehouses < 1:
            raise EngineRoomError(f"warehouses is {self.warehouses}", remedy="ask for one warehouse or more")
        if not 0.001 <= self.scale <= 1:
            raise EngineRoomError(
                f"scale is {self.scale}",
                remedy="use a scale from 0.001 to 1; for more data ask for more warehouses",
            )

    @property
    def customers(self) -> int:
        """Customers of a district, and as many orders: each customer starts with one."""
        return round(3000 * self.scale)

    @property
    def delivered(self) -> int:
        """Orders of a district that are delivered; the rest, three in ten, are in `new_order`."""
        return self.customers - round(900 * self.scale)

    @property
    def items(self) -> int:
        """Rows of `item`, and of `stock` for each warehouse."""
        return round(100_000 * self.scale)


@dataclass(frozen=True)
class Loaded:
    """What `load` did: rows per table, in how many seconds, by which statement."""

    database: str
    size: Size
    seed: int
    rows: Mapping[str, int]
    seconds: float
    method: str


def load(
    server: Server,
    *,
    database: str = "tpcc",
    warehouses: int = 1,
    scale: float = 1.0,
    seed: int = 0,
    tables: Collection[str] | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Loaded:
    """Create and fill a TPC-C database; refuse one that already has tables, unless `replace` drops it first.

    All nine tables are created. `tables` limits which are filled, for an experiment that reads only some.
    """
    size = Size(warehouses, scale)
    wanted = list(_GENERATORS if tables is None else tables)
    if unknown := [table for table in wanted if table not in _GENERATORS]:
        raise EngineRoomError(
            f"TPC-C has no table {', '.join(map(repr, unknown))}",
            remedy=f"choose from {', '.join(_GENERATORS)}",
        )
    start = time.perf_counter()
    created, indexes = _statements()
    with (
        closing(server.connect(allow_local_infile=True)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        _make_room(cursor, database, replace=replace)
        cursor.execute(f"USE `{database}`")
        for statement in created.values():
            cursor.execute(statement)
        with _local_infile(cursor) as by_file:
            rows = _fill(server, database, size, seed, wanted, by_file=by_file, progress=progress)
        for _, statement in indexes:
            cursor.execute(statement)
        cursor.execute(f"ANALYZE TABLE {', '.join(created)}")
        cursor.fetchall()
    return Loaded(
        database=database,
        size=size,
        seed=seed,
        rows=rows,
        seconds=time.perf_counter() - start,
        method="LOAD DATA LOCAL INFILE" if by_file else "INSERT",
    )


def add_order_line_district_index(connection: Any) -> None:
    """Add the index on the order line's district number that the query of figure 7-22 needs; it is not TPC-C's."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("CREATE INDEX order_line_district ON order_line (ol_d_id)")
        cursor.execute("ANALYZE TABLE order_line")
        cursor.fetchall()


def integers(table: str, column: str, size: Size, *, seed: int = 0) -> Ints:
    """One integer column of a table as `load` fills it, in the order of the primary key."""
    values = []
    for warehouse in _warehouses(table, size):
        digits = _columns(table, size, warehouse, seed)[column].text
        number = np.zeros(len(digits), np.int64)
        for digit in digits.T:  # NUL before the first digit of a shorter number
            number = np.where(digit, 10 * number + digit - ord("0"), number)
        values.append(number)
    return np.concatenate(values)


def text(table: str, size: Size, *, warehouse: int = 1, seed: int = 0) -> bytes:
    """The rows of one table and warehouse as LOAD DATA reads them: tab between columns, `\\N` for NULL, newline after each."""
    return _text(_columns(table, size, warehouse, seed))


# The way into the server


def _statements() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The CREATE TABLE statement of each table, and each index with its table, from `data/workloads/tpcc.sql`."""
    source = (paths.data() / "workloads" / "tpcc.sql").read_text(encoding="utf-8")
    statements = [part.strip() for part in re.sub(r"--.*", "", source).split(";") if part.strip()]
    tables = {part.split()[2]: part for part in statements if part.startswith("CREATE TABLE")}
    indexes = [(part.split()[4], part) for part in statements if part.startswith("CREATE INDEX")]
    return tables, indexes


def _make_room(cursor: Any, database: str, *, replace: bool) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", database):
        raise EngineRoomError(
            f"{database!r} cannot name a database here", remedy="use letters, digits and underscores"
        )
    cursor.execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = %s", (database,))
    ((found,),) = cursor.fetchall()
    if found and not replace:
        raise EngineRoomError(
            f"the database {database!r} already has {found} tables; nothing was changed",
            remedy="load into another database, or pass replace=True to drop this one first",
        )
    if found:
        cursor.execute(f"DROP DATABASE `{database}`")
    cursor.execute(f"CREATE DATABASE IF NOT EXISTS `{database}`")


@contextmanager
def _local_infile(cursor: Any) -> Iterator[bool]:
    """Allow LOAD DATA LOCAL for the block and put the setting back; yield whether it is allowed."""
    cursor.execute("SELECT @@GLOBAL.local_infile")
    ((before,),) = cursor.fetchall()
    changed = False
    if not before:
        try:
            cursor.execute("SET GLOBAL local_infile = ON")
            changed = True
        except mysql.connector.Error:  # an account without the privilege: INSERT serves it
            yield False
            return
    try:
        yield True
    finally:
        if changed:
            cursor.execute("SET GLOBAL local_infile = OFF")


def _fill(
    server: Server,
    database: str,
    size: Size,
    seed: int,
    tables: list[str],
    *,
    by_file: bool,
    progress: bool,
) -> dict[str, int]:
    """Fill the tables, two at a time. One connection fills one table in key order, so that its pages are always alike."""
    rows = dict.fromkeys(tables, 0)
    jobs = {table: _warehouses(table, size) for table in tables}
    hidden = {} if progress else {"disable": True}
    with (
        bar(total=sum(map(len, jobs.values())), desc="loading TPC-C", unit="part", **hidden) as shown,
        ThreadPoolExecutor(max_workers=2) as pool,
    ):

        def fill(table: str) -> None:
            with closing(server.connect(database, allow_local_infile=True)) as connection:
                put = _put_by_file if by_file else _put_by_insert
                with closing(connection.cursor()) as cursor:
                    cursor.execute("SET unique_checks = 0, foreign_key_checks = 0")
                    for warehouse in jobs[table]:
                        rows[table] += put(cursor, table, _columns(table, size, warehouse, seed))
                        connection.commit()
                        shown.update()

        try:
            for done in as_completed([pool.submit(fill, table) for table in jobs]):
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return rows


def _put_by_file(cursor: Any, table: str, columns: Mapping[str, Column]) -> int:
    with tempfile.TemporaryDirectory(prefix="engineroom-") as folder:
        path = Path(folder) / f"{table}.tsv"
        path.write_bytes(_text(columns))
        cursor.execute(
            f"LOAD DATA LOCAL INFILE '{path.as_posix()}' INTO TABLE {table} CHARACTER SET latin1"
            f" ({', '.join(columns)})"
        )
        loaded: int = cursor.rowcount
    cursor.execute("SHOW WARNINGS LIMIT 1")
    warnings = cursor.fetchall()
    expected = len(next(iter(columns.values())).text)
    if warnings or loaded != expected:
        raise EngineRoomError(
            f"{table}: the server took {loaded} of {expected} rows and said {warnings}",
            remedy="report this: the generator and the schema disagree",
        )
    return loaded


def _put_by_insert(cursor: Any, table: str, columns: Mapping[str, Column]) -> int:
    values = _text(columns, insert=True).split(b"\n")[:-1]
    average = max(1, sum(map(len, values)) // len(values) + 1)
    step = max(1, _INSERT_BYTES // (average + 1) // 2)
    head = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
    for first in range(0, len(values), step):
        cursor.execute(head + b",".join(values[first : first + step]).decode("ascii"))
    return len(values)


# Columns and text


@dataclass(frozen=True)
class Column:
    """One generated column: its text, one row of bytes a value, and how INSERT must write it."""

    text: Bytes
    quoted: bool = True
    null: npt.NDArray[np.bool_] | None = None


def _text(columns: Mapping[str, Column], *, insert: bool = False) -> bytes:
    """All rows as text. Columns stand side by side as bytes, NUL where a value is shorter; dropping the NULs joins them."""
    n = len(next(iter(columns.values())).text)
    quote, null = (b"'", b"NULL") if insert else (b"", b"\\N")
    begin, between, end = (b"(", b",", b")\n") if insert else (b"", b"\t", b"\n")
    blocks: list[Bytes] = [_constant(begin, n)] if begin else []
    for index, column in enumerate(columns.values()):
        if index:
            blocks.append(_constant(between, n))
        block = column.text
        if column.quoted and quote:
            block = np.hstack([_constant(quote, n), block, _constant(quote, n)])
        if column.null is not None:
            block = np.hstack([block, np.zeros((n, max(0, len(null) - block.shape[1])), np.uint8)])
            block[column.null] = 0
            block[column.null, : len(null)] = np.frombuffer(null, np.uint8)
        blocks.append(block)
    blocks.append(_constant(end, n))
    flat = np.hstack(blocks).ravel()
    text: bytes = flat[flat != 0].tobytes()
    return text


def _constant(value: bytes, n: int) -> Bytes:
    return np.broadcast_to(np.frombuffer(value, np.uint8), (n, len(value)))


def _same(value: bytes, n: int, *, quoted: bool = True) -> Column:
    return Column(_constant(value, n), quoted)


def _number(values: npt.ArrayLike, *, decimals: int = 0) -> Column:
    """Non-negative integers, or fixed-point numbers given as integers of their last decimal."""
    left = np.asarray(values, np.int64)
    width = max(decimals + 1, len(str(left.max(initial=0))))
    digits = np.zeros((len(left), width), np.uint8)
    for place in range(width - 1, -1, -1):
        # A leading zero stays NUL, unless it stands just before the point or is the number itself.
        shown = (left > 0) | (place >= width - 1 - decimals)
        left, digit = np.divmod(left, 10)
        digits[:, place] = np.where(shown, digit + ord("0"), 0)
    if decimals:
        point = _constant(b".", len(left))
        digits = np.hstack([digits[:, :-decimals], point, digits[:, -decimals:]])
    return Column(digits, quoted=False)


_ALPHANUMERIC = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", np.uint8)


def _a_string(rng: np.random.Generator, n: int, shortest: int, longest: int) -> Column:
    """Random alphanumeric text of a random length (clause 4.3.2.2)."""
    drawn = _ALPHANUMERIC[rng.integers(0, len(_ALPHANUMERIC), (n, longest), np.uint8)]
    if shortest < longest:
        lengths = rng.integers(shortest, longest + 1, n)
        drawn[np.arange(longest) >= lengths[:, None]] = 0
    return Column(drawn)


def _letters(rng: np.random.Generator, n: int, length: int) -> Column:
    return Column(_ALPHANUMERIC[rng.integers(0, 26, (n, length), np.uint8)])


def _digits(rng: np.random.Generator, n: int, length: int, *, tail: bytes = b"") -> Column:
    drawn = rng.integers(ord("0"), ord("9") + 1, (n, length), np.uint8)
    return Column(np.hstack([drawn, _constant(tail, n)]) if tail else drawn)


def _maybe_original(rng: np.random.Generator, n: int) -> Column:
    """Text of 26 to 50 characters; one in ten holds the word ORIGINAL somewhere (clause 4.3.3.1)."""
    column = _a_string(rng, n, 26, 50)
    chosen = rng.permutation(n)[: n // 10]
    lengths = (column.text[chosen] != 0).sum(axis=1)
    places = rng.integers(0, lengths - 7)
    column.text[chosen[:, None], places[:, None] + np.arange(8)] = np.frombuffer(b"ORIGINAL", np.uint8)
    return column


def _address(rng: np.random.Generator, n: int, prefix: str) -> dict[str, Column]:
    return {
        f"{prefix}_street_1": _a_string(rng, n, 10, 20),
        f"{prefix}_street_2": _a_string(rng, n, 10, 20),
        f"{prefix}_city": _a_string(rng, n, 10, 20),
        f"{prefix}_state": _letters(rng, n, 2),
        f"{prefix}_zip": _digits(rng, n, 4, tail=b"11111"),
    }


def _nurand(rng: np.random.Generator, n: int, *, a: int, low: int, high: int, c: int) -> Ints:
    """The specification's non-uniform random numbers (clause 2.1.6)."""
    uneven = rng.integers(0, a + 1, n) | rng.integers(low, high + 1, n)
    return (uneven + c) % (high - low + 1) + low


def _last_names(numbers: Ints) -> Column:
    """The three syllables for the three digits of each number (clause 4.3.2.3)."""
    parts = np.zeros((10, max(map(len, _LAST_NAME_PARTS))), np.uint8)
    for index, part in enumerate(_LAST_NAME_PARTS):
        parts[index, : len(part)] = np.frombuffer(part.encode(), np.uint8)
    return Column(np.hstack([parts[numbers // 100], parts[numbers // 10 % 10], parts[numbers % 10]]))


# The nine tables. Each generator returns the columns of one warehouse (item: of the whole database).


def _columns(table: str, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    """A stream of its own for each table and warehouse: warehouse 3 is the same, however many others there are."""
    number = list(_GENERATORS).index(table)
    return _GENERATORS[table](np.random.default_rng([seed, number, warehouse]), size, warehouse, seed)


def _warehouses(table: str, size: Size) -> range:
    return range(1, 2) if table == "item" else range(1, size.warehouses + 1)


def _by_district(size: Size, warehouse: int) -> tuple[Ints, Ints, Ints]:
    """Row number in the district, district, warehouse, for tables of one row a customer or order, in key order."""
    within = np.tile(np.arange(1, size.customers + 1), DISTRICTS)
    district = np.repeat(np.arange(1, DISTRICTS + 1), size.customers)
    return within, district, np.full(len(within), warehouse)


def _lines_per_order(size: Size, warehouse: int, seed: int) -> Ints:
    """5 to 15 lines for each order; `orders` and `order_line` both ask, and must hear the same."""
    rng = np.random.default_rng([seed, len(_GENERATORS), warehouse])
    return rng.integers(5, 16, DISTRICTS * size.customers)


def _warehouse(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    return {
        "w_id": _number([warehouse]),
        "w_name": _a_string(rng, 1, 6, 10),
        **_address(rng, 1, "w"),
        "w_tax": _number(rng.integers(0, 2001, 1), decimals=4),
        "w_ytd": _number([DISTRICTS * size.customers * 1000], decimals=2),
    }


def _district(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = DISTRICTS
    return {
        "d_id": _number(np.arange(1, n + 1)),
        "d_w_id": _number(np.full(n, warehouse)),
        "d_name": _a_string(rng, n, 6, 10),
        **_address(rng, n, "d"),
        "d_tax": _number(rng.integers(0, 2001, n), decimals=4),
        # Each customer has paid 10.00 (see _history), so 30000.00 a district at scale 1.
        "d_ytd": _number(np.full(n, size.customers * 1000), decimals=2),
        "d_next_o_id": _number(np.full(n, size.customers + 1)),
    }


def _customer(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    c_load = int(np.random.default_rng([seed, len(_GENERATORS)]).integers(256))
    # The first thousand of a district have each last name once, the rest by the uneven draw.
    names = np.where(within <= 1000, within - 1, _nurand(rng, n, a=255, low=0, high=999, c=c_load))
    credit = np.where(rng.permutation(n)[:, None] < n // 10, *map(_letters_of, (b"BC", b"GC")))
    return {
        "c_id": _number(within),
        "c_d_id": _number(district),
        "c_w_id": _number(w),
        "c_first": _a_string(rng, n, 8, 16),
        "c_middle": _same(b"OE", n),
        "c_last": _last_names(names),
        **_address(rng, n, "c"),
        "c_phone": _digits(rng, n, 16),
        "c_since": _same(_WHEN, n),
        "c_credit": Column(credit),
        "c_credit_lim": _same(b"50000.00", n, quoted=False),
        "c_discount": _number(rng.integers(0, 5001, n), decimals=4),
        "c_balance": _same(b"-10.00", n, quoted=False),
        "c_ytd_payment": _same(b"10.00", n, quoted=False),
        "c_payment_cnt": _same(b"1", n, quoted=False),
        "c_delivery_cnt": _same(b"0", n, quoted=False),
        "c_data": _a_string(rng, n, 300, 500),
    }


def _letters_of(value: bytes) -> Bytes:
    return np.frombuffer(value, np.uint8)


def _history(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    return {
        "h_c_id": _number(within),
        "h_c_d_id": _number(district),
        "h_c_w_id": _number(w),
        "h_d_id": _number(district),
        "h_w_id": _number(w),
        "h_date": _same(_WHEN, n),
        "h_amount": _same(b"10.00", n, quoted=False),
        "h_data": _a_string(rng, n, 12, 24),
    }


def _new_order(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    within, district, w = (column[_is_open(size)] for column in _by_district(size, warehouse))
    return {"no_o_id": _number(within), "no_d_id": _number(district), "no_w_id": _number(w)}


def _is_open(size: Size) -> npt.NDArray[np.bool_]:
    """Which orders of a warehouse are not yet delivered: the last three in ten of each district."""
    return np.tile(np.arange(1, size.customers + 1) > size.delivered, DISTRICTS)


def _orders(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    # Each customer has one order, in an order of its own in each district.
    customer = rng.permuted(within.reshape(DISTRICTS, -1), axis=1).ravel()
    return {
        "o_id": _number(within),
        "o_d_id": _number(district),
        "o_w_id": _number(w),
        "o_c_id": _number(customer),
        "o_entry_d": _same(_WHEN, n),
        "o_carrier_id": Column(_number(rng.integers(1, 11, n)).text, quoted=False, null=_is_open(size)),
        "o_ol_cnt": _number(_lines_per_order(size, warehouse, seed)),
        "o_all_local": _same(b"1", n, quoted=False),
    }


def _order_line(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    lines = _lines_per_order(size, warehouse, seed)
    n = int(lines.sum())
    order, district, w = (np.repeat(column, lines) for column in _by_district(size, warehouse))
    is_open = np.repeat(_is_open(size), lines)
    first = np.repeat(np.cumsum(lines) - lines, lines)
    return {
        "ol_o_id": _number(order),
        "ol_d_id": _number(district),
        "ol_w_id": _number(w),
        "ol_number": _number(np.arange(n) - first + 1),
        "ol_i_id": _number(rng.integers(1, size.items + 1, n)),
        "ol_supply_w_id": _number(w),
        "ol_delivery_d": Column(_constant(_WHEN, n), null=is_open),
        "ol_quantity": _same(b"5", n, quoted=False),
        "ol_amount": _number(np.where(is_open, rng.integers(1, 1_000_000, n), 0), decimals=2),
        "ol_dist_info": _a_string(rng, n, 24, 24),
    }


def _item(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = size.items
    return {
        "i_id": _number(np.arange(1, n + 1)),
        "i_im_id": _number(rng.integers(1, 10_001, n)),
        "i_name": _a_string(rng, n, 14, 24),
        "i_price": _number(rng.integers(100, 10_001, n), decimals=2),
        "i_data": _maybe_original(rng, n),
    }


def _stock(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = size.items
    return {
        "s_i_id": _number(np.arange(1, n + 1)),
        "s_w_id": _number(np.full(n, warehouse)),
        "s_quantity": _number(rng.integers(10, 101, n)),
        **{f"s_dist_{d:02}": _a_string(rng, n, 24, 24) for d in range(1, DISTRICTS + 1)},
        "s_ytd": _same(b"0", n, quoted=False),
        "s_order_cnt": _same(b"0", n, quoted=False),
        "s_remote_cnt": _same(b"0", n, quoted=False),
        "s_data": _maybe_original(rng, n),
    }


# The largest first, so that the two loading connections end together.
_GENERATORS: dict[str, Callable[[np.random.Generator, Size, int, int], dict[str, Column]]] = {
    "stock": _stock,
    "order_line": _order_line,
    "customer": _customer,
    "history": _history,
    "orders": _orders,
    "item": _item,
    "new_order": _new_order,
    "district": _district,
    "warehouse": _warehouse,
}
