"""The hash join chapter's experiments: the sources' query in each plan, a join without an index, and the join buffer.

The sources compare an index nested loop on 5.7 with a hash join on 8.0 in which the tables also change places. Here
version, order and algorithm are changed one at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.statement import measure, plan
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run, provenance
from engineroom.runs.sitting import Sitting
from engineroom.servers.catalogue import measured

if TYPE_CHECKING:
    from engineroom.servers import Server

INDEX = "order_line_district"
ALL_IN_MEMORY = {"innodb_buffer_pool_size": "1G"}  # CPU is compared, not disks
# The published query counts the join on the district number alone, so every order line meets each warehouse's district.
_JOIN = "ol_d_id = d_id"
QUERIES = {
    "index_nested_loop": (
        f"SELECT STRAIGHT_JOIN COUNT(*) FROM district JOIN order_line FORCE INDEX ({INDEX}) ON {_JOIN}"
    ),
    "hash_join": f"SELECT /*+ JOIN_ORDER(order_line, district) */ COUNT(*) FROM district JOIN order_line ON {_JOIN}",
    # Without the index and in the order of 5.7: the same algorithm, with the small table hashed.
    "hash_join_on_district": (
        f"SELECT /*+ JOIN_ORDER(district, order_line) */ COUNT(*) FROM district "
        f"JOIN order_line IGNORE INDEX ({INDEX}) ON {_JOIN}"
    ),
    # NO_BNL forbids the hash join from 8.0.20 on; before that STRAIGHT_JOIN alone gives a block nested loop.
    "reversed_order_without_hash": (
        "SELECT /*+ JOIN_ORDER(order_line, district) NO_BNL(order_line, district) */ COUNT(*) "
        f"FROM district JOIN order_line ON {_JOIN}"
    ),
    "reversed_order_with_bnl": f"SELECT STRAIGHT_JOIN COUNT(*) FROM order_line JOIN district ON {_JOIN}",
}
VERSIONS = measured(since="5.7")
COLUMNS = {
    "server": "the MySQL version, or the word kernel for our own C++ kernels",
    "server_cpu_s": "CPU time of the whole server during the statement (of the calling thread for a kernel), seconds",
    "answer": "the number that the statement counted",
    "plan": "the plan as the server explained it",
    "warehouses": "TPC-C warehouses; a warehouse has 10 districts and about 300000 order lines",
}


def source_query_live(
    *, warehouses: int = 10, repeats: int = 3, versions: Sequence[str] = VERSIONS, seed: int = 1
) -> Run:
    """Measure the query of figures 7-22 and 7-23 in every plan that each version can run.

    Returns one row a server, plan and repeat with `server_cpu_s`; the table `counters` holds what the statement moved.
    Raises EngineRoomError when a server chose another plan than the one asked for, or two plans disagree on the count.
    """
    rows: list[dict[str, Any]] = []
    counted: list[dict[str, Any]] = []
    with LiveSitting(seed=seed) as sitting:
        for version in versions:
            with sitting.session(version, options=ALL_IN_MEMORY) as (server, connection):
                _load(server, connection, warehouses, seed)
                asked = _plans_of(server)
                explained = {series: _checked_plan(server, connection, series) for series in asked}
                desc = f"MySQL {server.version}"
                for repeat, series in in_turns(repeats, asked, desc=desc, unit="statement"):
                    seen = measure(server, connection, QUERIES[_query_of(server, series)])
                    where = {"server": server.version, "series": series, "repeat": repeat}
                    rows.append(
                        {
                            **where,
                            "server_cpu_s": seen.cpu_s,
                            "answer": int(seen.answer[0][0]),
                            "warehouses": warehouses,
                            "plan": explained[series],
                        }
                    )
                    counted += [{**where, "counter": k, "value": v} for k, v in sorted(seen.counters.items())]
    table = pd.DataFrame(rows)
    if table["answer"].nunique() != 1:
        raise EngineRoomError(
            f"the plans disagree on the count: {table.groupby(['server', 'series'])['answer'].unique().to_dict()}",
            remedy="this is a bug in the load or in a server; keep the datadirs and report it",
        )
    return sitting.run(
        "fig-7-22",
        table,
        tables={"counters": counted},
        queries=QUERIES,
        summary="min",
        columns=COLUMNS
        | {"counter": "session status counter", "value": "its value after the statement, from zero"},
    )


def _plans_of(server: Server) -> list[str]:
    plans = ["index_nested_loop", "reversed_order_without_hash"]
    return [*plans, "hash_join", "hash_join_on_district"] if server.supports("hash_join") else plans


def _query_of(server: Server, series: str) -> str:
    if series == "reversed_order_without_hash" and not server.supports("hash_join"):
        return "reversed_order_with_bnl"
    return series


def _checked_plan(server: Server, connection: Any, series: str) -> str:
    text = plan(server, connection, QUERIES[_query_of(server, series)])
    wanted = {
        "index_nested_loop": ("Nested loop" in text or "ref" in text)
        and INDEX in text
        and "ash join" not in text,
        "hash_join": _hashed_table(text) == "order_line",
        "hash_join_on_district": _hashed_table(text) == "district",
        "reversed_order_without_hash": "ash join" not in text
        and text.find("order_line") < text.find("district"),
    }
    if not wanted[series]:
        raise EngineRoomError(
            f"MySQL {server.version} did not choose the plan {series}, but:\n{text}",
            remedy="compare the plan with the hints in engineroom.chapters.hash_join.experiments.QUERIES",
        )
    return text


def _hashed_table(tree: str) -> str | None:
    """The table under the plan's Hash node: the build side. It is the first table of the join order."""
    found = re.search(r"-> Hash\n.* on (\w+)", tree)
    return found[1] if found and "hash join" in tree else None


def _load(server: Server, connection: Any, warehouses: int, seed: int, *, replace: bool = False) -> None:
    """Fill both tables, and read them and the index once, so that no plan pays for the first read of a page."""
    from engineroom.workloads import tpcc

    tpcc.load(server, warehouses=warehouses, seed=seed, tables=("district", "order_line"), replace=replace)
    connection.database = "tpcc"
    tpcc.add_order_line_district_index(connection)
    with connection.cursor() as cursor:
        for sql in (
            "ANALYZE TABLE district, order_line",
            f"SELECT COUNT(ol_d_id) FROM order_line FORCE INDEX ({INDEX})",
            "SELECT COUNT(ol_quantity) FROM order_line IGNORE INDEX (PRIMARY)",
            "SELECT COUNT(d_id) FROM district",
        ):
            cursor.execute(sql)
            cursor.fetchall()


def warehouses_live(*, warehouses: Sequence[int] = (1, 2, 4, 8, 12), repeats: int = 3, seed: int = 1) -> Run:
    """Measure the plans of the sources' query on 9.7 as warehouses grow: the index loop reads each order line once a warehouse.

    Its reads grow with the square of the warehouses, the hash join's with their number.
    """
    rows: list[dict[str, Any]] = []
    with (
        LiveSitting(seed=seed) as sitting,
        sitting.session("9.7", options=ALL_IN_MEMORY) as (server, connection),
    ):
        for count in bar(warehouses, desc=f"MySQL {server.version}", unit="size"):
            _load(server, connection, count, seed, replace=True)
            for series in ("index_nested_loop", "hash_join", "hash_join_on_district"):
                _checked_plan(server, connection, series)
                for repeat in range(repeats):
                    seen = measure(server, connection, QUERIES[series])
                    rows.append(
                        {
                            "warehouses": count,
                            "series": series,
                            "repeat": repeat,
                            "server_cpu_s": seen.cpu_s,
                            "rows_read": seen.counters["Handler_read_next"],
                            "answer": int(seen.answer[0][0]),
                        }
                    )
    return sitting.run(
        "own-hash-join-warehouses",
        rows,
        queries=QUERIES,
        summary="min",
        columns=COLUMNS
        | {"rows_read": "Handler_read_next: rows that the executor asked of the storage engine in order"},
    )


def no_index(
    *,
    sizes: Sequence[int] = (500, 1000, 2000, 4000),
    repeats: int = 3,
    versions: Sequence[str] = VERSIONS,
) -> Run:
    """Join two tables of n rows on a column without an index, in each version.

    Every key occurs once on each side, so a join finds n matches; a block nested loop makes n*n comparisons for them.
    """
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=0) as sitting:
        for version in versions:
            with sitting.session(version) as (server, connection):
                for n in bar(sizes, desc=f"MySQL {server.version}", unit="size"):
                    _pair_of_tables(connection, n)
                    algorithm = (
                        "hash join"
                        if "ash join" in plan(server, connection, _NO_INDEX)
                        else "block nested loop"
                    )
                    for repeat in range(repeats):
                        seen = measure(server, connection, _NO_INDEX)
                        _expect(seen.answer[0][0], n, server)
                        rows.append(
                            {
                                "rows_per_table": n,
                                "series": server.version,
                                "repeat": repeat,
                                "server_cpu_s": seen.cpu_s,
                                "algorithm": algorithm,
                                "rows_read": seen.counters.get("Handler_read_rnd_next", 0),
                            }
                        )
    return sitting.run(
        "own-hash-join-no-index",
        rows,
        queries={"join": _NO_INDEX},
        summary="min",
        columns=COLUMNS
        | {
            "rows_per_table": "rows in each of the two tables",
            "algorithm": "what the plan says",
            "rows_read": "Handler_read_rnd_next: rows that the executor asked of the storage engine in scans",
        },
    )


_NO_INDEX = "SELECT COUNT(*) FROM left_rows JOIN right_rows ON left_rows.k = right_rows.k"
_WIDE = "SELECT COUNT(*), MAX(left_rows.pad), MAX(right_rows.pad) FROM left_rows JOIN right_rows ON left_rows.k = right_rows.k"
# With LIMIT and neither grouping nor order the server does not spill: it refills the table and reads the probe side again.
_NO_SPILL = "SELECT left_rows.pad, right_rows.pad FROM left_rows JOIN right_rows ON left_rows.k = right_rows.k LIMIT {}"
BUFFER_BYTES = (16384, 32768, 65536, 131072, 262144, 1048576, 4194304)


def buffer_sweep(
    *,
    n: int = 4000,
    repeats: int = 3,
    buffer_bytes: Sequence[int] = BUFFER_BYTES,
    bnl_version: str | None = "5.7",
) -> Run:
    """Vary `join_buffer_size` under one join and count what it changes: rows read, temporary files, bytes in them.

    Series: `spill` (hash join), `refill` (the same under LIMIT, which may not spill) on 9.7, and `block_nested_loop` on
    `bnl_version` (None leaves it out: its 16 million comparisons take minutes).
    """
    rows: list[dict[str, Any]] = []
    series_of: dict[str, tuple[tuple[str, str], ...]] = {
        "9.7": (("spill", _WIDE), ("refill", _NO_SPILL.format(n - 1)))
    }
    if bnl_version:
        series_of[bnl_version] = (("block_nested_loop", _WIDE),)
    with LiveSitting(seed=0) as sitting:
        for version, statements in series_of.items():
            with sitting.session(version) as (server, connection):
                _pair_of_tables(connection, n)
                turns = in_turns(
                    repeats, buffer_bytes, statements, desc=f"MySQL {server.version}", unit="statement"
                )
                for repeat, size, (series, sql) in turns:
                    with _session(connection, join_buffer_size=size):
                        granted = _granted_buffer(connection)
                        files = _hash_join_files(connection) if server.supports("hash_join") else None
                        seen = measure(server, connection, sql)
                        moved = _difference(files, _hash_join_files(connection)) if files else {}
                    rows.append(
                        {
                            "join_buffer_bytes": granted,
                            "series": series,
                            "repeat": repeat,
                            "rows_read": seen.counters.get("Handler_read_rnd_next", 0),
                            "temporary_files": seen.counters.get("Created_tmp_files", 0),
                            "writes": moved.get("writes", 0),
                            "bytes_written": moved.get("bytes_written", 0),
                            "bytes_read": moved.get("bytes_read", 0),
                            "server_cpu_s": seen.cpu_s,
                            "server": server.version,
                        }
                    )
    return sitting.run(
        "own-hash-join-buffer",
        rows,
        queries={"spill": _WIDE, "refill": _NO_SPILL.format(n - 1)},
        rows_per_table=n,
        summary="min",
        columns=COLUMNS
        | {
            "join_buffer_bytes": "join_buffer_size of the session",
            "rows_read": "Handler_read_rnd_next",
            "temporary_files": "Created_tmp_files",
            "writes": "write calls to hash join chunk files (performance_schema)",
            "bytes_written": "bytes written to chunk files",
            "bytes_read": "bytes read from chunk files",
        },
    )


# Where a hash join is said to gain: tables that the buffer pool does not hold, and conditions on both tables.
POOLS = {"in memory": "512M", "not in memory": "8M"}
PARTS = {"all rows": 100, "a tenth of either table": 10, "a hundredth of either table": 1}
_PART = "SELECT STRAIGHT_JOIN COUNT(*), MAX(r.pad) FROM l JOIN r {} INDEX (k) ON l.k = r.k WHERE l.part < {} AND r.part < {}"
PLANS = {"index_nested_loop": "FORCE", "hash_join": "IGNORE"}
WHERE_COLUMNS = COLUMNS | {
    "pool": "whether the buffer pool holds both tables",
    "rows_kept": "of either table, by a condition that no index serves",
    "page_requests": "Innodb_buffer_pool_read_requests, difference",
    "page_reads": "Innodb_buffer_pool_reads, difference: pages that were not in the pool",
}


def where(
    *, n: int = 100_000, repeats: int = 2, versions: Sequence[str] = measured(since="8.0.31"), seed: int = 1
) -> Run:
    """An index nested loop and a hash join over the same rows: all of them or few, in memory or not. Pages are counts."""
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=seed) as sitting:
        for version, (pool, size) in itertools.product(versions, POOLS.items()):
            options = {"innodb_buffer_pool_size": size, "innodb_buffer_pool_instances": 1}
            with sitting.session(version, options=options, label=pool) as (server, connection):
                _two_parts(connection, n, seed)
                for repeat, kept, series in in_turns(repeats, PARTS, PLANS, desc=f"{version}, {pool}"):
                    sql = _PART.format(PLANS[series], PARTS[kept], PARTS[kept])
                    if ("ash join" in plan(server, connection, sql)) != (series == "hash_join"):
                        raise EngineRoomError(
                            f"MySQL {server.version} joins otherwise than by {series}: {sql}",
                            remedy="compare its plan with PLANS in engineroom.chapters.hash_join.experiments",
                        )
                    seen = measure(server, connection, sql)
                    rows.append({
                        "pool": pool, "rows_kept": kept, "series": series, "repeat": repeat, "server": server.version,
                        "server_cpu_s": seen.cpu_s, "answer": int(seen.answer[0][0]),
                        "page_requests": seen.counters.get("Innodb_buffer_pool_read_requests", 0),
                        "page_reads": seen.counters.get("Innodb_buffer_pool_reads", 0),
                    })  # fmt: skip
    return sitting.run("own-hash-join-where", rows, summary="min", rows_of_a_table=n, columns=WHERE_COLUMNS)


def _two_parts(connection: Any, n: int, seed: int) -> None:
    """Tables l and r: n rows each, every key once in random order, and a number from 0 to 99 by which a part of them is kept."""
    rng = np.random.default_rng(seed)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE parts")
        connection.database = "parts"
        cursor.execute("SET SESSION join_buffer_size = 67108864")
        for name in ("l", "r"):
            cursor.execute(
                f"CREATE TABLE {name} (id INT PRIMARY KEY, k INT NOT NULL, part INT NOT NULL, pad CHAR(100) NOT NULL, KEY k (k)) CHARSET=latin1"
            )
            table = np.column_stack([np.arange(n), rng.permutation(n), rng.integers(0, 100, n)])
            for some in np.array_split(table, max(1, n // 1000)):
                cursor.execute(
                    f"INSERT INTO {name} VALUES "
                    + ",".join(f"({i}, {k}, {part}, REPEAT('x', 100))" for i, k, part in some)
                )
            connection.commit()
            cursor.execute(f"ANALYZE TABLE {name}")
            cursor.fetchall()


def why_not(*, version: str = "9.7", n: int = 1000) -> Run:
    """Ask one server for the plan of the same join under each reason for which a hash join is used or not.

    Its rows have reason, statement, is_hash_join and plan; a statement that the version refuses has the refusal as plan.
    """
    import mysql.connector

    index = "ALTER TABLE right_rows ADD INDEX k_index (k)"
    drop = "ALTER TABLE right_rows DROP INDEX k_index"
    off = "SET SESSION optimizer_switch = '{}=off'"
    cases = [
        ("no index, equality", [], _NO_INDEX, []),
        ("an index on the join column", [index], _NO_INDEX, [drop]),
        (
            "the index, hidden from this join",
            [index],
            _NO_INDEX.replace("right_rows ON", "right_rows IGNORE INDEX (k_index) ON"),
            [drop],
        ),
        ("no equality in the condition", [], _NO_INDEX.replace(" = ", " < "), []),
        ("an expression on one side", [], _NO_INDEX.replace("left_rows.k = ", "left_rows.k + 1 = "), []),
        ("hint NO_BNL", [], _NO_INDEX.replace("SELECT", "SELECT /*+ NO_BNL(left_rows, right_rows) */"), []),
        (
            "hint NO_HASH_JOIN",
            [],
            _NO_INDEX.replace("SELECT", "SELECT /*+ NO_HASH_JOIN(left_rows, right_rows) */"),
            [],
        ),
        (
            "block_nested_loop=off",
            [off.format("block_nested_loop")],
            _NO_INDEX,
            ["SET SESSION optimizer_switch=DEFAULT"],
        ),
        ("hash_join=off", [off.format("hash_join")], _NO_INDEX, ["SET SESSION optimizer_switch=DEFAULT"]),
    ]
    found = []
    with LiveSitting(seed=0) as sitting, sitting.session(version) as (server, connection):
        _pair_of_tables(connection, n)
        for reason, before, sql, after in cases:
            done: list[str] = []
            try:
                with connection.cursor() as cursor:
                    for setting in before:
                        cursor.execute(setting)
                        done.append(setting)
                text = plan(server, connection, sql)
            except mysql.connector.Error as refused:
                text = f"refused: {refused.msg}"
            finally:
                with connection.cursor() as cursor:
                    for setting in after if len(done) == len(before) else []:
                        cursor.execute(setting)
            found.append(
                {
                    "reason": reason,
                    "series": server.version,
                    "repeat": 0,
                    "statement": sql,
                    "is_hash_join": "ash join" in text,
                    "plan": text,
                }
            )
        analyzed = _analyzed(connection, _NO_INDEX)
    return sitting.run(
        "own-hash-join-why-not",
        found,
        tables={"analyzed": [{"series": server.version, "statement": _NO_INDEX, "analyzed": analyzed}]},
        columns={
            "reason": "what was changed for this join",
            "series": "the server",
            "statement": "the statement, after its setting",
            "is_hash_join": "whether the plan has a hash join",
            "analyzed": "what the server did, with times in milliseconds (EXPLAIN ANALYZE)",
            "plan": "the plan as explained, or the refusal",
        },
    )


def _pair_of_tables(connection: Any, n: int) -> None:
    """Tables left_rows and right_rows: n rows each, every key once, in another order on each side."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS join_lab")
        connection.database = "join_lab"
        for name, keys in zip(("left_rows", "right_rows"), _pair_of_keys(n), strict=True):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(
                f"CREATE TABLE {name} (k INT NOT NULL, pad CHAR(100) NOT NULL) ENGINE=InnoDB CHARSET=latin1"
            )
            for part in np.array_split(keys, max(1, n // 1000)):
                cursor.execute(
                    f"INSERT INTO {name} VALUES " + ",".join(f"({k}, REPEAT('x', 100))" for k in part)
                )
            cursor.execute(f"ANALYZE TABLE {name}")
            cursor.fetchall()


def _pair_of_keys(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Keys of left_rows, which is the build side of every join here, and of right_rows, in the order of insertion."""
    return np.random.default_rng(0).permutation(n), np.random.default_rng(1).permutation(n)


def _expect(answer: Any, n: int, server: Server) -> None:
    if int(answer) != n:
        raise EngineRoomError(
            f"MySQL {server.version} counted {answer} matches instead of {n}",
            remedy="somebody else writes to the table join_lab: use a server of your own",
        )


@contextlib.contextmanager
def _session(connection: Any, **settings: int) -> Iterator[None]:
    with connection.cursor() as cursor:
        for name, value in settings.items():
            cursor.execute(f"SET SESSION {name} = {int(value)}")
        try:
            yield
        finally:
            for name in settings:
                cursor.execute(f"SET SESSION {name} = DEFAULT")


def _granted_buffer(connection: Any) -> int:
    """The session's join buffer: a server rounds what it was asked for down to a multiple of 128."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@SESSION.join_buffer_size")
        return int(cursor.fetchone()[0])


def _hash_join_files(connection: Any) -> dict[str, int]:
    """What the server has written to and read from hash join chunk files so far."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_NUMBER_OF_BYTES_READ "
            "FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/hash_join'"
        )
        row = cursor.fetchone() or (0, 0, 0)
    return dict(zip(("writes", "bytes_written", "bytes_read"), map(int, row), strict=True))


def _difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after}


def source_query_kernel(*, warehouses: int = 10, repeats: int = 3, seed: int = 1) -> Run:
    """Join the very keys of the sources' query with our kernels, in the order in which a server's plan reads them.

    That is the order of the index on the district number where the plan scans it, and the primary key's else. The count
    is the server's.
    """
    from engineroom._native import hash_join as kernel
    from engineroom.workloads import tpcc

    size = tpcc.Size(warehouses)
    districts = tpcc.integers("district", "d_id", size, seed=seed)
    order_lines = tpcc.integers("order_line", "ol_d_id", size, seed=seed)
    by_index = np.sort(order_lines)
    plans: dict[str, Callable[[], Any]] = {
        "index_nested_loop": lambda: kernel.index_nested_loop(order_lines, districts, output="count"),
        "hash_join": lambda: kernel.hybrid(by_index, districts, output="count"),
        "hash_join_on_district": lambda: kernel.hybrid(districts, order_lines, output="count"),
        "reversed_order_without_hash": lambda: kernel.block_nested_loop(districts, by_index, output="count"),
    }
    rows, counted = [], []
    with Sitting("kernel", seed=seed) as sitting:
        for repeat, series in in_turns(repeats, plans, desc="kernels", unit="join"):
            cpu_s, result = _cpu_of(plans[series])
            where = {"server": "kernel", "series": series, "repeat": repeat}
            rows.append({**where, "server_cpu_s": cpu_s, "answer": result.count, "warehouses": warehouses})
            counted += [{**where, "counter": k, "value": v} for k, v in sorted(result.counters.items()) if v]
    return sitting.run(
        "fig-7-22",
        rows,
        tables={"counters": counted},
        keys="tpcc.integers of district.d_id and order_line.ol_d_id, as loaded into the servers",
        summary="min",
        columns=COLUMNS | {"counter": "the kernel's counter", "value": "its value"},
    )


def kernel_sizes(
    *, sizes: Sequence[int] = (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000), repeats: int = 3
) -> Run:
    """CPU time a probe row of each join kernel, n build and n probe rows with unique keys in random order.

    The two quadratic loops stop where they would run for more than a few seconds.
    """
    from engineroom._native import hash_join as kernel

    joins: dict[str, tuple[int, Callable[..., Any]]] = {
        "nested_loop": (16_000, kernel.nested_loop),
        "block_nested_loop": (16_000, kernel.block_nested_loop),
        "index_nested_loop": (max(sizes), kernel.index_nested_loop),
        "hybrid_256_kib": (max(sizes), kernel.hybrid),
        "hybrid_in_memory": (
            max(sizes),
            lambda *keys, **kw: kernel.hybrid(*keys, join_buffer_bytes=1 << 30, **kw),
        ),
        "fast": (max(sizes), kernel.fast),
    }
    rows = []
    with Sitting("kernel", seed=0) as sitting:
        for n in bar(sizes, desc="kernels", unit="size"):
            build, probe = (np.random.default_rng(seed).permutation(n) for seed in (0, 1))
            for repeat in range(repeats):
                for series, (largest, join) in joins.items():
                    if n <= largest:
                        cpu_s, result = _cpu_of(functools.partial(join, build, probe, output="count"))
                        rows.append(
                            {
                                "rows": n,
                                "series": series,
                                "repeat": repeat,
                                "cpu_ns_per_probe_row": 1e9 * cpu_s / n,
                            }
                            | {
                                name: result.counters.get(name, 0)
                                for name in ("comparisons", "hash_probes", "bytes_written")
                            }
                        )
    return sitting.run(
        "own-hash-join-kernels",
        rows,
        summary="min",
        columns={
            "rows": "rows on each side",
            "cpu_ns_per_probe_row": "CPU time of the process during the join over probe rows, nanoseconds",
            "comparisons": "key comparisons that the kernel counted",
            "hash_probes": "look-ups in a hash table",
            "bytes_written": "bytes written to chunk files",
        },
    )


# A packed row of left_rows or right_rows: INT in 4 bytes, CHAR(100) as its length in 1 byte and 100 characters.
PAIR_ROW_BYTES = 4 + 1 + 100


def server_against_kernel(run: Run) -> pd.DataFrame:
    """Run the kernel on the keys of a `buffer_sweep` and put its chunk files beside those of the server.

    Nothing is fitted: the row's size follows from the table's columns.
    """
    from engineroom._native import hash_join as kernel

    spill = run.table.query("series == 'spill' and repeat == 0").set_index("join_buffer_bytes")
    build, probe = _pair_of_keys(int(run.provenance["rows_per_table"]))
    rows = []
    for size in spill.index:
        done = kernel.hybrid(
            build, probe, join_buffer_bytes=int(size), row_bytes=PAIR_ROW_BYTES, output="count"
        ).counters
        for counted, server, ours in (
            ("chunk files", "temporary_files", "chunk_files"),
            ("bytes written", "bytes_written", "bytes_written"),
            ("bytes read", "bytes_read", "bytes_read"),
            ("writes", "writes", "file_writes"),
        ):
            rows.append(
                {
                    "join_buffer_bytes": int(size),
                    "counted": counted,
                    "server": int(spill.loc[size, server]),
                    "kernel": int(done[ours]),
                }
            )
    return pd.DataFrame(rows)


def phases(*, build_rows: int = 24, probe_rows: int = 16, row_bytes: int = 2048) -> Run:
    """Trace one small inner join whose buffer holds only some of its build rows, step by step.

    The rows are made large (`row_bytes`), so that the smallest buffer the server accepts is full after a few.
    """
    from engineroom._native import hash_join as kernel

    build = np.random.default_rng(3).permutation(build_rows)
    probe = np.random.default_rng(4).permutation(probe_rows)
    with Sitting("kernel", seed=3) as sitting:
        result = kernel.hybrid(
            build, probe, join_buffer_bytes=16384, row_bytes=row_bytes, max_chunks=4, trace=10_000
        )
    trace = pd.DataFrame(result.trace)
    steps = {int(step): step.name for step in kernel.Step}
    table = trace.assign(step=trace["step"].map(steps), order=range(len(trace)), series="hybrid", repeat=0)
    return sitting.run(
        "own-hash-join-phases",
        table,
        counters=result.counters,
        columns={
            "order": "the place of the step in the trace",
            "step": "what happened to the row",
            "chunk": "the chunk pair, -1 for none",
            "pass": "fillings of the hash table so far",
            "build_row": "number of the build row, -1 for none",
            "probe_row": "number of the probe row, -1 for none",
        },
    )


def panel(build_rows: int = 20_000, skew: float = 0.0, join_buffer_bytes: int = 262_144) -> Run:
    """Counted work by phase of one hash join; probe rows are four times the build rows, keys as skewed as asked."""
    from engineroom._native import hash_join as kernel

    rng = np.random.default_rng(0)
    weights = 1.0 / np.arange(1, build_rows + 1) ** skew
    build = rng.choice(build_rows, size=build_rows, p=weights / weights.sum())
    probe = rng.integers(0, build_rows, size=4 * build_rows)
    result = kernel.hybrid(build, probe, join_buffer_bytes=join_buffer_bytes, output="count")
    work = {
        name.removeprefix("work_"): value
        for name, value in result.counters.items()
        if name.startswith("work_")
    }
    return Run(
        figure="own-hash-join-panel",
        method="kernel",
        table=pd.DataFrame(
            {"phase": list(work), "series": "hybrid", "repeat": 0, "work": list(work.values())}
            | {
                name: result.counters[name]
                for name in ("chunk_files", "bytes_written", "bytes_read", "passes")
            }
        ),
        provenance={
            **provenance.machine(seed=0),
            "join_buffer_bytes": join_buffer_bytes,
            "build_rows": build_rows,
        },
    )


def explained(sql: str = _NO_INDEX, *, version: str = "9.7", n: int = 2000) -> str:
    """`EXPLAIN ANALYZE` of a join of the pair of tables on a live server; without one, the recorded one of `_NO_INDEX`."""
    from engineroom import runs, servers
    from engineroom.measuring.choice import why_recorded

    if reason := why_recorded([version]):
        kept = runs.latest("own-hash-join-why-not", "live")
        if kept is None or sql != _NO_INDEX:
            return f"No live plan, because {reason}."
        row = kept.tables["analyzed"].iloc[0]
        return f"MySQL {row['series']}, recorded, because {reason}\n{row['analyzed']}"
    with servers.start(version) as server, contextlib.closing(server.connect()) as connection:
        _pair_of_tables(connection, n)
        return f"MySQL {server.version}, live\n{_analyzed(connection, sql)}"


def _analyzed(connection: Any, sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {sql}")
        return str(cursor.fetchone()[0])


def _cpu_of(join: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the process while `join` runs, all threads together, and its result."""
    before = time.process_time()
    result = join()
    return time.process_time() - before, result


def _both_figures(how: Callable[..., Run]) -> Callable[..., list[Run]]:
    """One measurement kept under both ids: 7-22 and 7-23 are two sides of one comparison."""

    @functools.wraps(how)
    def measured(**chosen: Any) -> list[Run]:
        run = how(**chosen)
        return [run, dataclasses.replace(run, figure="fig-7-23")]

    return measured


RECORD: dict[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("fig-7-22", "live"): _both_figures(source_query_live),
    ("fig-7-22", "kernel"): _both_figures(source_query_kernel),
    ("own-hash-join-kernels", "kernel"): kernel_sizes,
    ("own-hash-join-phases", "kernel"): phases,
    ("own-hash-join-no-index", "live"): no_index,
    ("own-hash-join-buffer", "live"): buffer_sweep,
    ("own-hash-join-warehouses", "live"): warehouses_live,
    ("own-hash-join-why-not", "live"): why_not,
    ("own-hash-join-where", "live"): where,
}
MADE_TOGETHER = {("fig-7-22", method): ("fig-7-23",) for method in ("live", "kernel")}
