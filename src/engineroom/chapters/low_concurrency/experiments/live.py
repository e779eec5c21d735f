"""One client against each server: what an operation costs it, and what a row of an INSERT takes in memory.

Rules, fixed before the first run with 8.0.31. `older` and `newer` of a figure are the servers nearest to the source's, and are named in
the run's column `server`: 5.7.22 for 5.7.44, 8.0.31 for 8.0.40; of the join, where the source has 8.0.27 and 8.0.40, 8.0.31 and 9.7.4.
8.0.15 stands for none of them: it does not have the kilobyte per row yet. No build with the sources' repairs runs here, so what asks
for `optimized` is missing from live runs and decided by kernels alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.ask.compare import AS_INSTALLED, EQUAL_SETTINGS
from engineroom.chapters.low_concurrency.settings import EQUAL, INSTALLED, NO_HASH_INDEX
from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.statement import measure
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.servers.catalogue import measured

if TYPE_CHECKING:
    from engineroom.servers import Server

_INSTALLED = {**AS_INSTALLED, "max_allowed_packet": "64M"}
OPTIONS: Mapping[str, Mapping[str, str | int | bool]] = {
    EQUAL: {**EQUAL_SETTINGS, "innodb_buffer_pool_size": "512M", "innodb_flush_log_at_trx_commit": 0},
    INSTALLED: _INSTALLED,
    NO_HASH_INDEX: {**_INSTALLED, "innodb_adaptive_hash_index": "OFF"},
}
VERSIONS = measured()
DATABASE = "one_client"
ROWS = 20_000
_INSERTED = 5_000
# Runs of each operation before its counters are read: pages are in memory then, and a hash index is built where there is one.
_WARM_RUNS = 4
COLUMNS = {
    "operation": "what one client asked for",
    "series": "the server",
    "server": "the server",
    "settings": "equal settings; as installed, each version's own; or as installed with the adaptive hash index off in all",
    "server_cpu_us": "CPU time of the whole server over operations, microseconds (best of the repeats counts)",
    "operations": "how many operations one measurement took",
    "rows_per_statement": "rows of one INSERT",
    "columns": "columns of each row",
    "target": "innodb, or blackhole, whose tables keep nothing: what is left is parsing and resolving",
}


@dataclass(frozen=True)
class Operation:
    """Statements whose CPU time is divided by `operations`: what one of them is says `unit`."""

    name: str
    unit: str
    operations: int
    statements: Callable[[], Iterator[str]]
    # Fields that the storage engine converts for the server, an operation; 0 where it is not counted.
    fields: int = 0


def _once(sql: str) -> Callable[[], Iterator[str]]:
    return lambda: iter([sql])


def values_list(rows: int, columns: int, *, key: bool = True) -> str:
    """A VALUES list of one-digit integers; the first column is a key where one is wanted."""
    rest = [",".join(str((row + column) % 10) for column in range(columns - key)) for row in range(10)]
    if not key:
        return ",".join(f"({rest[row % 10]})" for row in range(rows))
    return ",".join(f"({row},{rest[row % 10]})" if columns > 1 else f"({row})" for row in range(rows))


def _points(count: int, rows: int) -> Iterator[str]:
    for i in range(count):
        yield f"SELECT c1, c2, c3 FROM many WHERE id = {1 + i * 7919 % rows}"


def _updates(count: int, rows: int, column: str) -> Iterator[str]:
    for i in range(count):
        yield f"UPDATE many SET {column} = {column} + 1 WHERE id = {1 + i * 7919 % rows}"


def operations(
    *, rows: int = ROWS, inserted: int = _INSERTED, statements: int = 1000
) -> tuple[Operation, ...]:
    """Ten operations of one client. Each counts what its unit says, on tables of so many rows that stay in memory."""
    return (
        Operation(
            "parse values",
            "row of 5",
            inserted,
            lambda: iter([f"INSERT INTO nothing VALUES {values_list(inserted, 5)}"]),
        ),
        Operation(
            "insert rows",
            "row of 5",
            inserted,
            lambda: iter([f"INSERT INTO filled VALUES {values_list(inserted, 5)}"]),
        ),
        Operation("point select", "statement", statements, lambda: _points(statements, rows), fields=3),
        Operation(
            "range scan",
            "row",
            rows // 2,
            _once(f"SELECT SUM(c1 + c2) FROM many WHERE id BETWEEN 1 AND {rows // 2}"),
            fields=3,
        ),
        Operation(
            "full scan", "row", rows, _once("SELECT SUM(c1 + c2 + c3 + c4) FROM many WHERE c5 >= 0"), fields=5
        ),
        Operation(
            "join by index",
            "outer row",
            rows,
            _once(
                "SELECT STRAIGHT_JOIN SUM(i.c1 + i.c2 + i.c3) FROM many o JOIN many i FORCE INDEX (by_k) ON i.k = o.c6"
            ),
            fields=1 + 4,
        ),
        Operation(
            "join by primary key",
            "outer row",
            rows,
            _once("SELECT STRAIGHT_JOIN SUM(i.c1 + i.c2 + i.c3) FROM many o JOIN many i ON i.id = o.c6"),
            fields=1 + 4,
        ),
        Operation(
            "join without index",
            "outer row",
            1000,
            _once("SELECT STRAIGHT_JOIN COUNT(*) FROM few o JOIN few i ON i.c1 = o.c1"),
            fields=2,
        ),
        Operation(
            "update an indexed column",
            "statement",
            statements // 2,
            lambda: _updates(statements // 2, rows, "k"),
        ),
        Operation(
            "update another column",
            "statement",
            statements // 2,
            lambda: _updates(statements // 2, rows, "c1"),
        ),
    )


OPERATIONS = operations()


def load(connection: Any, *, rows: int = ROWS) -> None:
    """Make the tables of all operations."""
    six = ", ".join(f"c{i} INT NOT NULL" for i in range(1, 7))
    with connection.cursor() as cursor:
        for sql in (
            f"CREATE DATABASE {DATABASE}",
            f"USE {DATABASE}",
            f"CREATE TABLE many (id INT PRIMARY KEY, k INT NOT NULL, {six}, pad CHAR(60) NOT NULL, KEY by_k (k))",
            "CREATE TABLE few (id INT PRIMARY KEY, c1 INT NOT NULL)",
            "CREATE TABLE filled (id INT PRIMARY KEY, a INT, b INT, c INT, d INT)",
            "CREATE TABLE nothing (id INT, a INT, b INT, c INT, d INT) ENGINE=BLACKHOLE",
        ):
            cursor.execute(sql)
        for first in range(1, rows + 1, 1000):
            lines = (
                f"({i},{i},{i % 97},{i % 89},{i % 83},{i % 79},{i % 73},{1 + i * 7919 % rows},'x')"
                for i in range(first, first + 1000)
            )
            cursor.execute("INSERT INTO many VALUES " + ",".join(lines))
        cursor.execute("INSERT INTO few VALUES " + ",".join(f"({i},{i})" for i in range(1000)))
        cursor.execute("ANALYZE TABLE many, few")
        cursor.fetchall()


@contextlib.contextmanager
def _sides(
    sitting: LiveSitting, versions: Sequence[str], settings: Sequence[str]
) -> Iterator[list[tuple[str, Server, Any]]]:
    """A session of each version with each of the settings, all at the same time."""
    with contextlib.ExitStack() as stack:
        yield [
            (name, server, connection)
            for name in settings
            for server, connection in stack.enter_context(
                sitting.together(versions, options=OPTIONS[name], label=None if name == EQUAL else name)
            )
        ]


def operations_live(
    *,
    versions: Sequence[str] = VERSIONS,
    repeats: int = 21,
    only: Sequence[str] = (),
    settings: Sequence[str] = (EQUAL, INSTALLED, NO_HASH_INDEX),
) -> Run:
    """CPU time of ten operations, or of those in `only`, in each generation and with each of the settings, with the counters that each moves."""
    rows: list[dict[str, Any]] = []
    counted: list[dict[str, Any]] = []
    chosen = [operation for operation in OPERATIONS if not only or operation.name in only]
    statements = {operation.name: list(operation.statements()) for operation in chosen}
    with LiveSitting(seed=0) as sitting, _sides(sitting, versions, settings) as sides:
        for chosen_settings, server, connection in sides:
            load(connection)
            for operation in chosen:  # without the clock
                for _ in range(_WARM_RUNS):
                    moved = measure(
                        server, connection, *statements[operation.name], rolled_back=True
                    ).counters
                counted += [
                    {
                        "operation": operation.name,
                        "settings": chosen_settings,
                        "series": server.version,
                        "counter": name,
                        "per_operation": moved[name] / operation.operations,
                    }
                    for name in sorted(moved)
                    if moved[name] >= operation.operations / 10
                ]
        turns = in_turns(repeats, chosen, sides, desc="operations", unit="measurement")
        for repeat, operation, (chosen_settings, server, connection) in turns:
            spent = measure(server, connection, *statements[operation.name], rolled_back=True).cpu_s
            rows.append(
                {
                    "operation": operation.name,
                    "unit": operation.unit,
                    "settings": chosen_settings,
                    "series": server.version,
                    "repeat": repeat,
                    "server_cpu_us": 1e6 * spent / operation.operations,
                    "operations": operation.operations,
                }
            )
    return sitting.run(
        "own-low-concurrency-operations",
        rows,
        tables={"counters": counted},
        summary="min",
        columns=COLUMNS
        | {
            "unit": "what one operation is",
            "counter": "session status counter",
            "per_operation": "how far one operation moved it",
        },
    )


def insert_live(
    *,
    versions: Sequence[str] = VERSIONS,
    columns: Sequence[int] = (1, 2, 5, 20, 80),
    rows_per_statement: Sequence[int] = (1_000, 10_000, 100_000),
    repeats: int = 3,
    settings: Sequence[str] = (EQUAL, INSTALLED),
) -> Run:
    """CPU time per row of multi-row INSERTs, into InnoDB and into a table that keeps nothing, with each of the settings."""
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=0) as sitting, _sides(sitting, versions, settings) as sides:
        for _, _, connection in sides:
            with connection.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {DATABASE}")
                cursor.execute(f"USE {DATABASE}")
                for width in columns:
                    rest = "".join(f", c{i} TINYINT NOT NULL" for i in range(1, width))
                    for target in ("innodb", "blackhole"):
                        key = " PRIMARY KEY" if target == "innodb" else ""
                        cursor.execute(f"CREATE TABLE {target}_{width} (id INT{key}{rest}) ENGINE={target}")
        for width, n in bar(list(itertools.product(columns, rows_per_statement)), unit="size"):
            values = values_list(n, width)
            for repeat, (chosen_settings, server, connection), target in itertools.product(
                range(repeats), sides, ("innodb", "blackhole")
            ):
                insert = f"INSERT INTO {target}_{width} VALUES {values}"
                spent = measure(server, connection, insert, rolled_back=True).cpu_s
                if target == "innodb":
                    # A rollback leaves deleted records; an empty table is the same for every repeat.
                    with connection.cursor() as cursor:
                        cursor.execute(f"TRUNCATE TABLE {target}_{width}")
                rows.append(
                    {
                        "columns": width,
                        "rows_per_statement": n,
                        "target": target,
                        "settings": chosen_settings,
                        "series": server.version,
                        "repeat": repeat,
                        "server_cpu_us": 1e6 * spent / n,
                    }
                )
    return sitting.run("own-low-concurrency-insert", rows, summary="min", columns=COLUMNS)


def source_figures_live(*, repeats: int = 27) -> list[Run]:
    """Figures 1 and 2 of the degradation article and its statement on joins, from two short measurements.

    The join is the one by primary key: the optimisation that the source blames is one of joins by a unique key. Calls per second are those
    of a join that scans, as the source's rate means.
    Each turn is a repeat, as in every other run. Of CPU time the least counts, and of a rate of CPU time the most.
    """
    ran = operations_live(
        versions=("8.0.31", "9.7"),
        repeats=repeats,
        only=("join by primary key", "join without index"),
        settings=(EQUAL,),
    )
    timed = ran.table.sort_values(["series", "repeat"])
    joined, scanned = (
        timed[timed["operation"] == f"join {how}"] for how in ("by primary key", "without index")
    )
    old, new = sorted(set(joined["series"]))
    names = {old: "older", new: "newer"}
    join = pd.DataFrame(
        {
            "build": joined["series"].map(names),
            "series": "join_time",
            "repeat": joined["repeat"],
            "seconds": joined["server_cpu_us"] * joined["operations"] / 1e6,
            "server": joined["series"],
        }
    )
    filled = insert_live(
        versions=("5.7", "8.0.31"),
        columns=(2,),
        rows_per_statement=(10_000,),
        repeats=repeats,
        settings=(EQUAL,),
    )
    stored = filled.table[filled.table["target"] == "innodb"]
    bulk = pd.DataFrame(
        {
            "build": ["older" if server.startswith("5.7") else "newer" for server in stored["series"]],
            "series": "bulk_insert",
            "repeat": stored["repeat"],
            "statements_per_second": 1e6 / (stored["server_cpu_us"] * stored["rows_per_statement"]),
            "server": stored["series"],
        }
    )
    fields = next(operation.fields for operation in OPERATIONS if operation.name == "join without index")
    newest = scanned[scanned["series"] == new].reset_index(drop=True)
    calls = pd.DataFrame(
        {
            "build": "stock",
            "series": "hot_calls_per_second",
            "repeat": newest["repeat"],
            "value": 1e6 * fields / newest["server_cpu_us"],
            "server": new,
        }
    )
    columns = COLUMNS | {
        "build": "which side of the comparison; `server` says which server stands for it",
        "seconds": "CPU time of the server for one join, seconds",
        "statements_per_second": "INSERTs of 10000 rows of two columns over seconds of server CPU time",
        "value": "fields converted over seconds of server CPU time, counted from the rows that the join reads",
    }
    made = {"fig-deg-1": (join, ran), "fig-deg-2": (bulk, filled), "num-deg-2": (calls, ran)}
    return [
        dataclasses.replace(
            source,
            figure=figure,
            table=table.reset_index(drop=True),
            tables={},
            summary="min" if figure == "fig-deg-1" else "max",
            columns=columns,
        )
        for figure, (table, source) in made.items()
    ]


# Four outer rows in a row ask for the same inner row.
REPEATED_KEYS = "SELECT STRAIGHT_JOIN SUM(i.c1) FROM many o JOIN many i ON i.id = 1 + o.c1 DIV 4"


def repeated_keys_live(*, versions: Sequence[str] = (*VERSIONS, "8.0.33"), rows: int = 2000) -> Run:
    """How often a join by a unique key asks the engine for the inner row, when outer rows that follow each other want the same one."""
    found = []
    with LiveSitting() as sitting:
        for version in bar(versions, desc="servers", unit="server"):
            with sitting.session(version) as (server, connection):
                load(connection, rows=rows)
                seen = measure(server, connection, REPEATED_KEYS)
                found.append(
                    {
                        "series": server.version,
                        "repeat": 0,
                        "reads_per_row": seen.counters["Handler_read_key"] / rows,
                    }
                )
    return sitting.run(
        "own-low-concurrency-repeated-keys",
        found,
        queries={"join": REPEATED_KEYS},
        counts="reads that one statement asks of the engine",
        columns=COLUMNS | {"reads_per_row": "Handler_read_key over outer rows"},
    )


_TEXT_BYTES = 1 << 20  # every statement has this length, so that its text takes the same in each
# A session may take a block of 8 KiB more or less for reasons of its own, such as opening a table.
_LEAST_STEP_BYTES = 16_384
_INSTRUMENT = "memory/sql/THD::main_mem_root"


def memory_live(
    *, versions: Sequence[str] = measured(since="5.7"), columns: Sequence[int] = (1, 2, 5, 10, 20)
) -> Run:
    """Bytes that one more row of an INSERT takes in the statement's memory, exact.

    The memory is asked for in blocks, so its size steps up as rows grow. Between two steps lie as many rows as fill one block:
    the block's size (the height of the step at its beginning) over these rows is a row's bytes. A line through `columns` then parts
    what each row takes (containers) from what each value takes (items and their slots). 5.6 has no such instrument.
    """
    rows: list[dict[str, Any]] = []
    options = {**OPTIONS[EQUAL], "performance_schema_instrument": "memory/sql/%=ON"}
    with LiveSitting(seed=0) as sitting:
        for version in versions:
            with sitting.server(version, options=options) as server:
                server.execute(f"CREATE DATABASE {DATABASE}")
                for width in bar(columns, desc=f"MySQL {server.version}", unit="width"):
                    names = ", ".join(f"c{i} INT" for i in range(width))
                    server.execute(f"CREATE TABLE t{width} ({names}) ENGINE=BLACKHOLE", database=DATABASE)
                    block_bytes, between = _block(server, width)
                    rows.append(
                        {
                            "columns": width,
                            "series": server.version,
                            "repeat": 0,
                            "bytes_per_row_with_items": block_bytes / between,
                            "block_bytes": block_bytes,
                            "rows_in_block": between,
                        }
                    )
    table = pd.DataFrame(rows)
    fitted = []
    for series, mine in table.groupby("series", sort=False):
        inner = mine[mine["columns"] <= 64]  # beyond, a row of the deque takes a second block
        slope, intercept = _line(inner["columns"].tolist(), inner["bytes_per_row_with_items"].tolist())
        fitted.append({"series": series, "bytes_per_value": slope, "bytes_per_row": intercept})
    about_rows = pd.DataFrame(fitted)
    # Containers without items: what a row takes at no column, and in 5.7 the 16-byte node of each value, which is the
    # list's; the deque's slots lie in the block that is counted with the row.
    constant = about_rows.set_index("series")["bytes_per_row"]
    claimed = pd.DataFrame(
        [
            {
                "columns": width,
                "series": name,
                "repeat": 0,
                "bytes_per_row": float(constant[server]) + (16 * width if name == "list_5_7" else 0),
                "server": server,
            }
            for name, server in _standing_for(list(constant.index)).items()
            for width in columns
        ]
    )
    return sitting.run(
        "num-deg-1",
        claimed,
        tables={"measured": table, "fitted": about_rows},
        counts="bytes of one client's statement in memory",
        columns=COLUMNS
        | {
            "bytes_per_row": "bytes that the containers of a row take, items excluded",
            "bytes_per_row_with_items": "bytes that one more row takes in the statement's memory",
            "block_bytes": "size of the block of memory that was measured",
            "rows_in_block": "rows that fill it",
            "bytes_per_value": "slope of the line through the columns: an item and its slot or node",
        },
    )


def _standing_for(servers: Sequence[str]) -> dict[str, str]:
    old = next((server for server in servers if server.startswith("5.7")), None)
    new = next((server for server in servers if server.startswith("8.0.31")), None)
    return {name: server for name, server in (("list_5_7", old), ("deque_8_0", new)) if server}


def _line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    import numpy as np

    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)


def _block(server: Server, width: int) -> tuple[int, int]:
    """The size of a block of the statement's memory and the rows that fill it."""
    largest = min(30_000 // width, (_TEXT_BYTES - 100) // (2 * width + 2))
    start = max(2, largest // 8)
    sizes: dict[int, int] = {}

    def size(n: int) -> int:
        if n not in sizes:
            sizes[n] = min(_statement_memory(server, width, n) for _ in range(2))
        return sizes[n]

    def step_after(low: int) -> int:
        """The least number of rows above `low` that takes more memory than `low` does."""
        at, high = size(low), low + 1
        while size(high) - at < _LEAST_STEP_BYTES:
            low, high = high, min(high + max(1, high // 8), 4 * largest)
            if high >= 4 * largest:
                raise EngineRoomError(
                    f"MySQL {server.version} shows no step in {_INSTRUMENT} up to {high} rows",
                    remedy="this version asks for memory in another way; read its blocks with more rows",
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if size(middle) - at < _LEAST_STEP_BYTES else (low, middle)
        return high

    first = step_after(start)
    second = step_after(first)
    return size(first) - size(first - 1), second - first


def _statement_memory(server: Server, width: int, n: int) -> int:
    """High-water mark of the statement's memory in a fresh session, bytes."""
    head = f"INSERT INTO t{width} VALUES " + values_list(n, width, key=False)
    sql = head + " /*" + "x" * (_TEXT_BYTES - len(head) - 5) + "*/"
    with contextlib.closing(server.connect(DATABASE)) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        cursor.execute(
            "SELECT high_number_of_bytes_used FROM performance_schema.memory_summary_by_thread_by_event_name m "
            "JOIN performance_schema.threads t USING (thread_id) "
            f"WHERE t.processlist_id = CONNECTION_ID() AND m.event_name = '{_INSTRUMENT}'"
        )
        found = cursor.fetchone()
    if found is None or not int(found[0]):
        raise EngineRoomError(
            f"MySQL {server.version} has no numbers for {_INSTRUMENT}",
            remedy="enable memory instruments when the server starts",
        )
    return int(found[0])
