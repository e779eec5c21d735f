"""The filesort chapter's experiments: the source's table and query in four generations, and the kernel's designs beside them.

What holds on any machine comes first: pages read (the difference of the server's own counter), calls of the routine that copies an
off-page value (counted by a probe in the server's process), sort counters and the optimizer trace. CPU time is the server's,
best of the repeats.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.measuring import probes
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.statement import measure
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.servers.catalogue import measured, release

if TYPE_CHECKING:
    from engineroom.servers import Server

VERSIONS = measured()
# The source's names for the two designs that it compares: the server nearest to its 5.6.51 and 8.0.38, and the kernel's design.
SERVERS: Mapping[str, str] = {"like_5_6": "5.6", "like_8_0": "8.0.31"}
DESIGNS: Mapping[str, str] = {"like_5_6": "5.6", "like_8_0": "9.7"}
SOURCE_WORDS = {"8.0.31": "8.0", "9.7": "after_8.0"}  # for the servers nearest to what it measured
DATABASE = "engineroom_filesort"
# Equal on all servers: everything stays in memory, and the sort buffer is the default of all four versions.
OPTIONS: Mapping[str, str | int | bool] = {"innodb_buffer_pool_size": "512M", "sort_buffer_size": 262144}
# The source's figures: its table has the server's defaults, latin1 up to 5.7 and utf8mb4 from 8.0 on, rows COMPACT in 5.6.
SOURCE_OPTIONS = {**OPTIONS, "character_set_server": False}
PROVOKING = 8_388_608  # max_length_for_sort_data: enough for the article's rows
QUERIES = {
    "narrow": "SELECT id, sort_key FROM {table} ORDER BY sort_key LIMIT 1",
    "wide": "SELECT * FROM {table} ORDER BY sort_key LIMIT 1",
    "late_join": (
        "SELECT t.* FROM {table} AS t JOIN (SELECT id FROM {table} ORDER BY sort_key LIMIT 1) AS first USING (id)"
    ),
    "by_long_column": "SELECT * FROM {table} ORDER BY long_value LIMIT 1",
}
# The routine that the source counted, and the conversion of a row: mangled names, which differ in namespace and arguments.
COPY_ROUTINE = r"\d+btr_copy_externally_stored_field(?:_func)?[EP]"
CONVERSION = r"\d+row_sel_store_mysql_rec"
SCAN = r"\d+row_search_(?:for_mysql|mvcc)"
TYPES = ("varchar(8192)", "text", "mediumtext", "longtext", "json")
COLUMNS = {
    "server": "the exact MySQL version",
    "rows": "rows in the table",
    "query": "limit_1: all columns, ORDER BY an unindexed integer, LIMIT 1; no_long_column: the same without the long column",
    "seconds": "CPU time of the whole server during the statement (of the thread for the kernel), seconds",
    "external_field_reads": "external values read in the statement; rows_scanned: rows that the scan delivered",
    "pages_read": "Innodb_buffer_pool_read_requests that the statement added",
    "sort_mode": "what the optimizer trace says of the sort",
    "merge_passes": "Sort_merge_passes of the statement",
    "server_cpu_ms": "CPU time of the whole server during the statement, milliseconds",
}


def load(
    connection: Any,
    table: str,
    rows: int,
    long_type: str | None = "varchar(8192)",
    *,
    charset: str | None = "latin1",
) -> None:
    """Make the source's table: keys are a permutation, the long value has 8192 bytes; `None` leaves the column out.

    Where `charset` is None the table has the server's own defaults, of the row format too.
    """
    if rows % 100:
        raise EngineRoomError(
            f"rows must be a multiple of 100, got {rows}", remedy="round it: rows are inserted by 100"
        )
    value = {None: None, "json": "CONCAT('\"', REPEAT('x', 8190), '\"')"}.get(long_type, "REPEAT('x', 8192)")
    columns = "id INT NOT NULL PRIMARY KEY, sort_key INT, filter INT, filler CHAR(255)"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        cursor.execute(f"USE {DATABASE}")
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(
            f"CREATE TABLE {table} ({columns}{f', long_value {long_type}' if long_type else ''}) "
            f"ENGINE=InnoDB {f'ROW_FORMAT=DYNAMIC DEFAULT CHARSET={charset}' if charset else ''}"
        )
        for first in range(0, rows, 100):
            values = (
                f"({i}, {i * 7919 % rows}, {i % 100}, 'row {i}'{f', {value}' if value else ''})"
                for i in range(first, first + 100)
            )
            cursor.execute(f"INSERT INTO {table} VALUES {', '.join(values)}")
        cursor.execute(f"ANALYZE TABLE {table}")
        cursor.fetchall()


def pages_read(connection: Any, sql: str) -> int:
    """Page requests of a warm statement: the least of three, as background threads only add."""

    def requests(cursor: Any) -> int:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'")
        return int(cursor.fetchone()[1])

    counting, counted = [], []
    with connection.cursor() as cursor:
        for _ in range(3):
            before, again = requests(cursor), requests(cursor)
            cursor.execute(sql)
            cursor.fetchall()
            counting.append(again - before)
            counted.append(requests(cursor) - again)
    # Each has its own least: pages of a background thread beside the counting alone would make the statement's too few.
    return min(counted) - min(counting)


def sort_trace(connection: Any, sql: str) -> dict[str, Any]:
    """The optimizer trace's filesort_summary and filesort_priority_queue_optimization of a statement, in one dict."""
    with connection.cursor() as cursor:
        cursor.execute("SET optimizer_trace = 'enabled=on', optimizer_trace_max_mem_size = 1000000")
        cursor.execute(sql)
        cursor.fetchall()
        cursor.execute("SELECT trace FROM information_schema.optimizer_trace")
        found = cursor.fetchone()
        cursor.execute("SET optimizer_trace = 'enabled=off'")
    return dict(_sorts(json.loads(found[0]))) if found else {}


def _sorts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("filesort_summary", "filesort_priority_queue_optimization"):
                yield from inner.items()
            else:
                yield from _sorts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _sorts(inner)


def _values_read(server: Server, connection: Any, table: str, sql: str, rows: int) -> tuple[float, str]:
    """External values that a statement reads, and how they were counted: by a probe, or by pages as the claim says."""
    if probes.why_no_calls(server, COPY_ROUTINE) is None:
        with probes.counted_calls(server, COPY_ROUTINE) as calls, connection.cursor() as cursor:
            cursor.execute(sql)
            cursor.fetchall()
        return float(calls.count), "calls of the copy routine"
    narrow = pages_read(connection, f"SELECT SUM(sort_key) FROM {table}")
    a_value = (pages_read(connection, f"SELECT SUM(LENGTH(long_value)) FROM {table}") - narrow) / rows
    more = pages_read(connection, sql) - _pages_without_value(connection, table)
    return max(0.0, more / a_value), "pages beyond the narrow query, by the pages of a value"


def _pages_without_value(connection: Any, table: str) -> int:
    """Page requests of the narrow query, sorted by row ids where the version does so: the row that is found is read once more there too."""
    with connection.cursor() as cursor:
        cursor.execute("SET max_length_for_sort_data = 4")
        pages = pages_read(connection, QUERIES["narrow"].format(table=table))
        cursor.execute("SET max_length_for_sort_data = DEFAULT")
    return pages


def limit_one(*, rows: int = 10_000, repeats: int = 7, versions: Sequence[str] = VERSIONS) -> list[Run]:
    """Measure the source's query in each generation: runs of num-fs-1 (CPU), num-fs-2 (values read) and num-fs-5 (versions)."""
    times: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    affected: list[dict[str, Any]] = []
    counted: list[dict[str, Any]] = []
    roles = {version: series for series, version in SERVERS.items()}
    asked = {
        "limit_1": QUERIES["wide"].format(table="wide"),
        "no_long_column": QUERIES["wide"].format(table="slim"),
    }
    with LiveSitting() as sitting:
        for version in versions:
            with sitting.session(version, options=SOURCE_OPTIONS) as (server, connection):
                load(connection, "wide", rows, charset=None)
                load(connection, "slim", rows, None, charset=None)
                pages_read(connection, asked["limit_1"])
                desc = f"MySQL {server.version}"
                for repeat, query in in_turns(repeats, asked, desc=desc, unit="statement"):
                    seen = measure(server, connection, asked[query])
                    where = {"query": query, "repeat": repeat, "server": server.version, "rows": rows}
                    counted.append(
                        {
                            **where,
                            "series": roles.get(version, "between"),
                            "server_cpu_ms": 1000 * seen.cpu_s,
                            "pages_read": pages_read(connection, asked[query]) if repeat == 0 else None,
                        }
                    )
                    if version in roles:
                        times.append({**where, "series": roles[version], "seconds": seen.cpu_s})
                    scanned = seen.counters["Handler_read_rnd_next"] - 1  # the last call finds the end
                    if query == "limit_1" and repeat == 0:
                        values, how = _values_read(server, connection, "wide", asked[query], rows)
                        affected.append(
                            {
                                "version": SOURCE_WORDS.get(version, version),
                                "series": "external_reads_per_row",
                                "repeat": 0,
                                "external_reads_per_row": values / scanned,
                                "server": server.version,
                                "counted_by": how,
                            }
                        )
                        if version in roles:
                            reads.append(
                                {
                                    **where,
                                    "series": roles[version],
                                    "external_field_reads": values,
                                    "counted_by": how,
                                }
                            )
                        if version == SERVERS["like_8_0"]:
                            reads.append(
                                {
                                    **where,
                                    "series": "rows_scanned",
                                    "external_field_reads": float(scanned),
                                    "counted_by": "Handler_read_rnd_next",
                                }
                            )
    about = {"queries": asked, "options": SOURCE_OPTIONS}
    described = COLUMNS | {
        "version": "the version by the source's name; `server` says the exact one",
        "external_reads_per_row": "off-page values read per scanned row",
        "counted_by": "how the values were counted",
    }
    return [
        sitting.run(
            "num-fs-1", times, tables={"all-versions": counted}, summary="min", columns=described, **about
        ),
        sitting.run("num-fs-2", reads, columns=described, **about),
        sitting.run("num-fs-5", affected, columns=described, **about),
    ]


def shares(*, rows: int = 4000, repeats: int = 3, seconds: float = 1.5) -> list[Run]:
    """Sample where the servers' CPU time goes: num-fs-3 (row conversion) and num-fs-4 (reading, sorted by the long column).

    The rule for not_attributable, fixed before any run: perf is missing or not allowed, or one of the two servers' binaries does
    not name the functions (row conversion; the engine's scan). Shares are of all samples of the server's process while the
    statement runs again and again; a function's share counts the samples that have it anywhere on the stack.
    """
    parts: list[dict[str, Any]] = []
    by_long: list[dict[str, Any]] = []
    by_latin1: list[dict[str, Any]] = []
    missing: list[str] = []
    with LiveSitting() as sitting:
        for series, version in SERVERS.items():
            with sitting.session(version, options=SOURCE_OPTIONS) as (server, connection):
                reasons = [probes.why_no_samples(server, function) for function in (CONVERSION, SCAN)]
                if any(reasons):
                    missing += [reason for reason in reasons if reason]
                    continue
                load(connection, "wide", rows, charset=None)
                load(connection, "latin1", rows)

                def run_query(name: str, table: str, connection: Any = connection) -> None:
                    with connection.cursor() as cursor:
                        cursor.execute(QUERIES[name].format(table=table))
                        cursor.fetchall()

                for repeat in bar(range(repeats), desc=f"MySQL {server.version}", unit="sample"):
                    for query, of, table, wanted in (
                        ("wide", "wide", parts, {"row_conversion": CONVERSION, "reading": SCAN}),
                        ("by_long_column", "wide", by_long, {"reading": SCAN}),
                        ("by_long_column", "latin1", by_latin1, {"reading": SCAN}),
                    ):
                        work = functools.partial(run_query, query, of)
                        stacks = probes.sampled_stacks(server, work, seconds=seconds)
                        table += [
                            {
                                "part": part,
                                "series": series,
                                "repeat": repeat,
                                "share_percent": 100 * probes.share(stacks, function),
                                "samples": len(stacks),
                                "server": server.version,
                            }
                            for part, function in wanted.items()
                        ]
    empty = pd.DataFrame(columns=["part", "series", "repeat", "share_percent", "samples", "server"])
    return [
        sitting.run(
            figure,
            rows or empty,
            tables=tables,
            not_attributable="; ".join(sorted(set(missing))) or None,
            functions={"row_conversion": CONVERSION, "reading": SCAN},
            columns=COLUMNS
            | {
                "part": "row_conversion: from the engine's row to the server's; reading: the engine's scan",
                "share_percent": "share of the samples of the server's CPU time that have the function on their stack, percent",
                "samples": "samples of the server's CPU time in this repeat",
            },
        )
        for figure, rows, tables in (
            ("num-fs-3", parts, {}),
            ("num-fs-4", by_long, {"latin1": by_latin1} if by_latin1 else {}),
        )
    ]


# By short names of callgrind's: those of 5.6 first, of 8.0 and later behind them.
COUNTED: Mapping[str, str] = {
    "row_conversion": r"row_sel_store_mysql_rec",
    "reading": r"row_search_(?:for_mysql|mvcc)",
    "copying": r"(?:lob::)?btr_copy_externally_stored_field",
    "sort_keys": r"(?:Sort_param::)?make_sortkey|make_sortkey_from_item",
}


def counted(*, rows: int = 1000, versions: Sequence[str] = VERSIONS) -> list[Run]:
    """The source's statements in instructions, on every server: its evidence was calls of one function, and shares by function.

    Runs of num-fs-2 (values read, by calls of the routine that copies one), num-fs-3, num-fs-4 (shares of instructions, callees
    included) and num-fs-5 (versions). A share of instructions stands for a share of samples: the functions work on the same rows in
    memory. Left out is that copying 8 KiB takes few instructions and many bytes. The statement sorted by the long column is counted on a
    table in latin1, too.
    """
    from engineroom.measuring import instructions

    asked = {
        "wide": (QUERIES["wide"], "wide"),
        "no_long_column": (QUERIES["wide"], "slim"),
        "by_long_column": (QUERIES["by_long_column"], "wide"),
        "by_long_column, latin1": (QUERIES["by_long_column"], "latin1"),
    }
    totals: list[dict[str, Any]] = []
    functions: list[dict[str, Any]] = []
    with LiveSitting("instructions", seed=0) as sitting:
        for version in bar(versions, desc="servers under callgrind", unit="server"):
            with instructions.counting(version, options=SOURCE_OPTIONS) as on:
                sitting.note(on.server)
                connection = on.server.connect()
                load(connection, "wide", rows, charset=None)
                load(connection, "slim", rows, None, charset=None)
                load(connection, "latin1", rows)
                for query, (sql, table) in asked.items():
                    profile = on.measure(sql.format(table=table), rows=rows, connection=connection)
                    where = {"query": query, "server": on.server.version, "rows": rows}
                    totals.append(
                        {
                            **where,
                            "version": version,
                            "instructions": profile.instructions,
                            **_counted_parts(profile),
                        }
                    )
                    functions += [
                        {**where, "function": each.name, "own": each.own / rows, "calls": each.calls / rows}
                        for each in profile.functions
                        if each.own >= 0.005 * profile.instructions
                    ]
    return _runs_of_counts(sitting, pd.DataFrame(totals), functions)


def _counted_parts(profile: Any) -> dict[str, float]:
    """Instructions in each part, what it calls included, and calls of the routine that copies a value."""
    found: dict[str, float] = {}
    for part, names in COUNTED.items():
        mine = [each for each in profile.functions if re.fullmatch(names, each.name)]
        found[part] = sum(each.inclusive for each in mine)
        if part == "copying":
            found["copies"] = sum(each.calls for each in mine)
    return found


def _runs_of_counts(sitting: LiveSitting, table: pd.DataFrame, functions: list[dict[str, Any]]) -> list[Run]:
    roles = {version: series for series, version in SERVERS.items()}
    table = table.assign(
        series=table["version"].map(roles), version=table["version"].replace(SOURCE_WORDS), repeat=0
    )
    of = table[table["series"].notna()]
    wide, by_long = (of[of["query"] == query] for query in ("wide", "by_long_column"))

    def shares_of(chosen: pd.DataFrame, parts: Sequence[str]) -> pd.DataFrame:
        keep = ["series", "repeat", "server"]
        each = [
            chosen[keep].assign(part=part, share_percent=100 * chosen[part] / chosen["instructions"])
            for part in parts
        ]
        return pd.concat(each, ignore_index=True)

    copies = of[of["query"].isin(["wide", "no_long_column"])]
    copies = copies.assign(
        query=copies["query"].replace({"wide": "limit_1"}),
        external_field_reads=copies["copies"].astype(float),
    )
    scanned = copies[copies["series"] == "like_8_0"].assign(series="rows_scanned")
    scanned["external_field_reads"] = scanned["rows"].astype(float)
    each_version = table[table["query"] == "wide"]
    columns = COLUMNS | {
        "part": "row_conversion: from the engine's row to the server's; reading: the engine's scan",
        "share_percent": "share of the statement's instructions in the function and what it calls, percent",
        "version": "the version by the source's name; `server` says the exact one",
        "external_reads_per_row": "off-page values read per row of the table, by calls of the routine that copies one",
        "instructions": "of the connection's thread, for the whole statement",
        "copies": "calls of the routine that copies an off-page value",
        **{part: f"instructions in it and what it calls: {names}" for part, names in COUNTED.items()},
        "own": "instructions of the function itself per row of the table",
        "calls": "calls of the function per row of the table",
    }
    about = {"queries": QUERIES, "options": SOURCE_OPTIONS, "columns": columns}
    keep = ["query", "series", "repeat", "external_field_reads", "server", "rows"]
    affected = each_version.assign(
        series="external_reads_per_row", external_reads_per_row=each_version["copies"] / each_version["rows"]
    )
    return [
        sitting.run("own-filesort-instructions", table, tables={"functions": functions}, **about),
        sitting.run("num-fs-2", pd.concat([copies, scanned], ignore_index=True)[keep], **about),
        sitting.run("num-fs-3", shares_of(wide, ("row_conversion", "reading")), **about),
        sitting.run("num-fs-4", shares_of(by_long, ("reading",)), **about),
        sitting.run(
            "num-fs-5", affected[["version", "series", "repeat", "external_reads_per_row", "server"]], **about
        ),
    ]


def columns(
    *, rows: int = 1000, versions: Sequence[str] = VERSIONS, types: Sequence[str] = TYPES, repeats: int = 5
) -> Run:
    """Pages and CPU of four statements, and of the same with an index, for each type of the long column in each generation."""
    found: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for version in versions:
            with sitting.session(version, options=OPTIONS) as (server, connection):
                kinds = [kind for kind in types if kind != "json" or release(server.version) >= (5, 7)]
                for kind in bar(kinds, desc=f"MySQL {server.version}", unit="type"):
                    load(connection, "wide", rows, kind)
                    asked = {
                        name: sql.format(table="wide")
                        for name, sql in QUERIES.items()
                        if name != "by_long_column" or kind != "json"
                    }
                    asked["indexed"] = asked["wide"]
                    for name, sql in asked.items():
                        if name == "indexed":
                            server.execute("CREATE INDEX by_key ON wide (sort_key)", database=DATABASE)
                        mode = sort_trace(connection, sql).get("sort_mode", "no sort")
                        pages = pages_read(connection, sql)
                        for repeat in range(repeats):
                            seen = measure(server, connection, sql)
                            found.append(
                                {
                                    "type": kind,
                                    "query": name,
                                    "series": server.version,
                                    "repeat": repeat,
                                    "pages_read": pages,
                                    "server_cpu_ms": 1000 * seen.cpu_s,
                                    "sort_mode": mode,
                                    "merge_passes": seen.counters.get("Sort_merge_passes", 0),
                                    "rows": rows,
                                }
                            )
    return sitting.run(
        "own-filesort-columns",
        found,
        queries=QUERIES,
        options=OPTIONS,
        summary="min",
        columns=COLUMNS
        | {
            "type": "the type of the long column, 8192 bytes in each row",
            "query": "a statement of `queries`; indexed: the wide one with an index on the sort column",
        },
    )


def limits(
    *,
    rows: Sequence[int] = (1000, 3000),
    at: Sequence[int | None] = (1, 10, 100, 300, 1000, None),
    repeats: int = 3,
    versions: Sequence[str] = VERSIONS,
) -> Run:
    """Vary the LIMIT, and on servers before 8.0.20 `max_length_for_sort_data`, which makes them carry the columns.

    `limit` is the number of rows returned, so that no LIMIT is the number of rows in the table.
    """
    found: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for version in versions:
            with sitting.session(version, options=OPTIONS) as (server, connection):
                settings = {"": "SET max_length_for_sort_data = DEFAULT"}
                if release(server.version) < (8, 0, 20):
                    settings[", provoked"] = f"SET max_length_for_sort_data = {PROVOKING}"
                for n in bar(rows, desc=f"MySQL {server.version}", unit="size"):
                    load(connection, "wide", n)
                    for limit in [limit for limit in at if limit is None or limit < n]:
                        sql = "SELECT * FROM wide ORDER BY sort_key" + (
                            f" LIMIT {limit}" if limit is not None else ""
                        )
                        for name, setting in settings.items():
                            with connection.cursor() as cursor:
                                cursor.execute(setting)
                            told = sort_trace(connection, sql)
                            pages = pages_read(connection, sql)
                            for repeat in range(repeats):
                                seen = measure(server, connection, sql)
                                found.append(
                                    {
                                        "rows": n,
                                        "limit": limit or n,
                                        "series": server.version + name,
                                        "repeat": repeat,
                                        "pages_read": pages,
                                        "server_cpu_ms": 1000 * seen.cpu_s,
                                        "sort_mode": told.get("sort_mode", "no sort"),
                                        "queue": bool(told.get("chosen", False)),
                                        "merge_passes": seen.counters.get("Sort_merge_passes", 0),
                                        "rows_fetched": seen.counters.get("Handler_read_rnd", 0),
                                        "row_size": int(told.get("row_size", 0)),
                                    }
                                )
    return sitting.run(
        "own-filesort-limits",
        found,
        options=OPTIONS,
        provoking=PROVOKING,
        summary="min",
        columns=COLUMNS
        | {
            "limit": "rows returned; as many as the table has when there was no LIMIT",
            "queue": "whether the trace says that the priority queue was chosen",
            "rows_fetched": "Handler_read_rnd: rows read by row id after the sort, or with columns from a temporary file",
            "row_size": "bytes of a sort record, as the trace says",
        },
    )


def kernel_limit_one(*, rows: int = 10_000, repeats: int = 7) -> list[Run]:
    """The source's query in our kernel, in the design of 5.6 and of 9.7: runs of num-fs-1 (CPU) and num-fs-2 (values read)."""
    from engineroom._native import filesort as kernel

    times: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    table = kernel.article_table(rows=rows)
    with Sitting("kernel", seed=1) as sitting:
        for query, selected in (("limit_1", [0, 1, 2, 3, 4]), ("no_long_column", [0, 1, 2, 3])):
            for repeat in bar(range(repeats), desc=query, unit="repeat"):
                for series, version in DESIGNS.items():
                    design = kernel.choose(table, release=version, selected=selected, limit=1)
                    start = time.thread_time()
                    counters = kernel.sort(
                        table, selected=selected, limit=1, output="count", **design
                    ).counters
                    where = {"query": query, "repeat": repeat, "rows": rows}
                    times.append({**where, "series": series, "seconds": time.thread_time() - start})
                    if query == "limit_1" and repeat == 0:
                        reads.append(
                            {**where, "series": series, "external_field_reads": float(counters["lob_reads"])}
                        )
                        if series == "like_8_0":
                            reads.append(
                                {
                                    **where,
                                    "series": "rows_scanned",
                                    "external_field_reads": float(counters["rows_scanned"]),
                                }
                            )
    return [
        sitting.run("num-fs-1", times, summary="min", columns=COLUMNS),
        sitting.run("num-fs-2", reads, columns=COLUMNS),
    ]


def crossover(
    *,
    rows: int = 3000,
    at: Sequence[int] = (1, 3, 10, 30, 100, 200, 300, 600, 1000, 1500, 2000, 3000),
    repeats: int = 3,
) -> Run:
    """Count in the kernel what late fetch and additional fields cost as LIMIT grows, with a long off-page value and without."""
    from engineroom._native import filesort as kernel

    found: list[dict[str, Any]] = []
    tables = {
        "off-page value": (kernel.article_table(rows=rows), [0, 1, 2, 3, 4]),
        "short rows": (kernel.article_table(rows=rows, lob_bytes=0, declared_bytes=10), [0, 1, 2]),
    }
    designs: Mapping[str, dict[str, Any]] = {
        "late fetch": {"attach": "rowid", "is_read_set_narrow": True},
        "additional fields": {"attach": "additional_fields", "is_read_set_narrow": False},
        "9.7 with row ids": {"attach": "rowid", "is_read_set_narrow": False},
    }
    with Sitting("kernel", seed=1) as sitting:
        for (content, (table, selected)), (name, design) in bar(
            [(t, d) for t in tables.items() for d in designs.items()], unit="design"
        ):
            for limit in at:
                for repeat in range(repeats):
                    start = time.thread_time()
                    counters = kernel.sort(
                        table,
                        selected=selected,
                        limit=limit if limit < rows else None,
                        output="count",
                        **design,
                    ).counters
                    found.append(
                        {
                            "limit": limit,
                            "series": f"{name}, {content}",
                            "repeat": repeat,
                            "pages_read": counters["pages_touched"],
                            "cpu_ms": 1000 * (time.thread_time() - start),
                            "rows": rows,
                            **{
                                counter: counters[counter]
                                for counter in ("bytes_copied", "lob_reads", "runs", "merge_passes")
                            },
                        }
                    )
    return sitting.run(
        "own-filesort-crossover",
        found,
        summary="min",
        columns=COLUMNS
        | {
            "limit": "rows returned; as many as the table has when there was no LIMIT",
            "pages_read": "pages that the kernel touched",
            "cpu_ms": "CPU time of the kernel's thread, milliseconds",
            "bytes_copied": "bytes copied from pages, into sort records and to the client",
            "lob_reads": "off-page values read",
            "runs": "sorted runs written to the temporary file",
            "merge_passes": "merges of some runs into one",
        },
    )


RECORD: Mapping[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("num-fs-1", "live"): limit_one,
    ("num-fs-3", "live"): shares,
    ("own-filesort-instructions", "instructions"): counted,
    ("num-fs-1", "kernel"): kernel_limit_one,
    ("own-filesort-columns", "live"): columns,
    ("own-filesort-limits", "live"): limits,
    ("own-filesort-crossover", "kernel"): crossover,
}
MADE_TOGETHER = {
    ("num-fs-1", "live"): ("num-fs-2", "num-fs-5"),
    ("num-fs-3", "live"): ("num-fs-4",),
    ("own-filesort-instructions", "instructions"): ("num-fs-2", "num-fs-3", "num-fs-4", "num-fs-5"),
    ("num-fs-1", "kernel"): ("num-fs-2",),
}
