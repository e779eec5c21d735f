"""The TPC-C database: all nine tables, deterministic by seed, written for bulk speed.

Rows follow the initial population of the TPC-C standard specification (`tpcc_rows`). Each column is generated as one NumPy
array; a table becomes one block of text without a Python loop over rows (`tpcc_columns`), which the server reads by LOAD DATA
LOCAL INFILE, or gets as multi-row INSERTs where that is not allowed. Same seed, same rows, on every server version.

`scale` shrinks customers, orders and items together; districts stay ten, and the consistency conditions of the
specification (clause 3.3.2) hold at every scale.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import mysql.connector

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.progress import bar
from engineroom.workloads.tpcc_columns import Column, as_text
from engineroom.workloads.tpcc_rows import DISTRICTS, TABLES, Size, columns_of, integers, text, warehouses_of

__all__ = ["DISTRICTS", "Loaded", "Size", "add_order_line_district_index", "integers", "load", "text"]

_INSERT_BYTES = 1_000_000  # below every version's default max_allowed_packet


class Server(Protocol):
    """What the loader needs of a server: a connection that accepts the connector's options."""

    def connect(self, database: str | None = None, **options: Any) -> Any: ...


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
    wanted = list(TABLES if tables is None else tables)
    if unknown := [table for table in wanted if table not in TABLES]:
        raise EngineRoomError(
            f"TPC-C has no table {', '.join(map(repr, unknown))}",
            remedy=f"choose from {', '.join(TABLES)}",
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
    jobs = {table: warehouses_of(table, size) for table in tables}
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
                        rows[table] += put(cursor, table, columns_of(table, size, warehouse, seed))
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
        path.write_bytes(as_text(columns))
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
    values = as_text(columns, insert=True).split(b"\n")[:-1]
    average = max(1, sum(map(len, values)) // len(values) + 1)
    step = max(1, _INSERT_BYTES // (average + 1) // 2)
    head = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
    for first in range(0, len(values), step):
        cursor.execute(head + b",".join(values[first : first + step]).decode("ascii"))
    return len(values)
