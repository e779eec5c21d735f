"""What an operation of one client costs each server in instructions, by function and by cause.

Rules, fixed before the first recording. The operations are those of `live`, on tables of 5,000 rows, and the source's bulk insert with one
to ten columns. Counted is the connection's thread alone, until two runs agree to 1 %, which are the two repeats of a recording. A figure of
the source that compares times or rates is compared with the ratio of instructions: these are what the change of code adds, the same on
every machine, and one client on a quiet machine has little else. Left out is what makes an instruction slow, misses of caches and of
branch prediction; callgrind simulates both, and they stand beside, as do the seconds of live runs. `older` and `newer` are the servers
nearest to the source's: 5.7.22 and 8.0.31 for its 5.7.44 and 8.0.40; for its join of 8.0.27 and 8.0.40, 8.0.31 and 9.7.4. The join is the
one by primary key: the optimisation that the source blames is one of joins by a unique key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from engineroom.chapters.low_concurrency.experiments import live
from engineroom.chapters.low_concurrency.settings import BULK, EQUAL, INSTALLED, JOIN
from engineroom.measuring import instructions
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run

ROWS, INSERTED, STATEMENTS = 5_000, 2_000, 200
WIDTHS = (1, 2, 10)  # "insert rows" has five
INSTRUMENTED = "equal settings, performance_schema on"
SETTINGS: Mapping[str, Mapping[str, str | int | bool]] = {
    EQUAL: {**live.OPTIONS[EQUAL], "performance_schema": "OFF"},
    INSTRUMENTED: {**live.OPTIONS[EQUAL], "performance_schema": "ON"},
    INSTALLED: {**live.OPTIONS[INSTALLED], "performance_schema": "ON"},
}
# The source's suspects, and what else a row passes through: a path of calls belongs to its innermost function that one of them names.
# What the compiler put into its caller counts there: the deque of 8.0.31 is part of the parser.
CAUSES: Mapping[str, str] = {
    "value list": r"mem_root_deque|PT_item_list|PT_insert_values_list|List::|base_list",
    "statement digest": r"digest|Lex_input_stream::(add|reduce)_digest",
    "parser": r"my_sql_parser|MYSQLparse|MYSQLlex|lex_one_token|Lex_input_stream|PT_|PTI_|Item_int::Item|alloc_root|strmake_root|my_strtoll10",
    "mini-transaction": r"mtr_|mlog_|log_buffer_|log_write|log_reserve|log_close|log_wait|Log_handle",
    "record offsets": r"rec_init_offsets|rec_get_offsets|rec_get_nth_field|get_rec_insert_state|rec_get_insert",
    "field conversion": r"row_sel_field_store_in_mysql|row_sel_store_mysql|row_mysql_store_col",
    "one-row buffer of joins": r"EQRefIterator|join_read_key|compare_key_in_buffer|cmp_buffer_with_ref|cp_buffer_from_ref",
    "record encoding": r"rec_convert_dtuple|rec_get_converted_size|row_ins_index_entry_set_vals|row_upd_index_entry",
    "key comparison": r"cmp_dtuple|cmp_data|cmp_rec|cmp_whole|dtuple_t::compare",
    "page access": r"buf_page|Buf_fetch|buf_block|buf_wait|buf_pool",
    "search in the B-tree": r"btr_|page_cur|page_|btr_pcur",
    "row locks": r"lock_",
    "undo": r"trx_undo|trx_",
    "executor": r"sub_select|evaluate_|Iterator|do_select|end_send|handler::|ha_innobase|row_search|row_ins|row_insert|Item_|fill_record|setup_fields|mysql_insert|Sql_cmd|write_record|Field_",
    "performance_schema": r"pfs_|PFS_|PSI_|find_.*_class",
}  # fmt: skip
_CAUSES = {cause: re.compile(f"(?:{names})") for cause, names in CAUSES.items()}
REST = "everything else"
EVENTS: Mapping[str, Sequence[str]] = {
    "first_cache": ("D1mr", "D1mw"),
    "last_cache": ("DLmr", "DLmw", "ILmr"),
    "branches": ("Bcm", "Bim"),
}
# Call paths are kept of the two sides of a difference flame graph; of functions and paths those with this share of a statement at least.
FLAME: Mapping[str, Sequence[str]] = {BULK: ("5.7.22", "8.0.31"), JOIN: ("8.0.31", "9.7.4")}
_KEPT, _KEPT_PATH = 0.005, 0.002
COLUMNS = live.COLUMNS | {
    "unit": "what one operation is",
    "instructions": "of the connection's thread, over operations; the two repeats are two runs that agree to 1 %",
    "cause": "to which the innermost named function of a path of calls belongs",
    "function": "by its short name: without arguments, templates and namespaces of the library",
    "own": "instructions of the function itself, over operations",
    "inclusive": "instructions of the function and of what it calls, over operations",
    "calls": "calls of the function, over operations",
    "path": "functions from the outermost to the innermost, own instructions of the last",
    "event": "of the simulated caches and predictor: first_cache and last_cache, reads and writes that miss it; branches mispredicted",
    "per_operation": "how often, over operations",
    "others": "instructions of all other threads meanwhile, over operations",
}


def operations(widths: Sequence[int] = WIDTHS) -> Iterator[live.Operation]:
    """Those of the live runs on smaller tables, and bulk inserts of rows of several widths."""
    yield from live.operations(rows=ROWS, inserted=INSERTED, statements=STATEMENTS)
    for width in widths:
        sql = f"INSERT INTO wide_{width} VALUES {live.values_list(INSERTED, width)}"
        yield live.Operation(f"insert rows of {width}", "row", INSERTED, lambda sql=sql: iter([sql]))  # type: ignore[misc]


@dataclass
class _Tables:
    rows: list[dict[str, Any]] = field(default_factory=list)
    causes: list[dict[str, Any]] = field(default_factory=list)
    functions: list[dict[str, Any]] = field(default_factory=list)
    paths: list[dict[str, Any]] = field(default_factory=list)


def cause_of(path: Iterable[str]) -> str:
    """The cause of the innermost function that has one."""
    for function in reversed(list(path)):
        for cause, names in _CAUSES.items():
            if names.match(function):
                return cause
    return REST


def by_cause(paths: Mapping[tuple[str, ...], int]) -> dict[str, int]:
    """Own instructions of all paths, by cause."""
    found: Counter[str] = Counter()
    for path, own in paths.items():
        found[cause_of(path)] += own
    return dict(found)


def operations_counted(
    *,
    versions: Sequence[str] = live.VERSIONS,
    settings: Sequence[str] = tuple(SETTINGS),
    only: Sequence[str] = (),
    workers: int = 2,
    figure: str = "own-low-concurrency-instructions",
) -> Run:
    """Instructions of each operation on each server with each of the settings."""
    found = _Tables()
    with LiveSitting("instructions", seed=0) as sitting:
        for profiles in _profiles(sitting, versions, settings, only, workers=workers):
            for operation, chosen_settings, profile in profiles:
                _keep(found, profile, operation, chosen_settings)
    return sitting.run(
        figure,
        found.rows,
        tables={name: rows for name, rows in vars(found).items() if name != "rows" and rows},
        columns=COLUMNS,
    )


def misses_counted(
    *,
    versions: Sequence[str] = live.VERSIONS,
    only: Sequence[str] = ("point select", JOIN, BULK),
    workers: int = 2,
) -> Run:
    """What can make an instruction slow, as callgrind simulates it: cache misses and mispredicted branches, with equal settings."""
    rows: list[dict[str, Any]] = []
    with LiveSitting("instructions", seed=0) as sitting:
        for profiles in _profiles(sitting, versions, (EQUAL,), only, workers=workers, misses=True):
            for operation, _, profile in profiles:
                where = {"operation": operation.name, "series": profile.version, "repeat": 0}
                rows += [
                    {
                        **where,
                        "event": event,
                        "per_operation": sum(map(profile.event, parts)) / operation.operations,
                    }
                    for event, parts in EVENTS.items()
                ]
    return sitting.run("own-low-concurrency-misses", rows, columns=COLUMNS)


Profiled = tuple[live.Operation, str, instructions.Profile]


def _profiles(
    sitting: LiveSitting,
    versions: Sequence[str],
    settings: Sequence[str],
    only: Sequence[str],
    *,
    workers: int,
    misses: bool = False,
) -> Iterator[list[Profiled]]:
    """The operations counted, server by server, as many at once as there are workers."""
    chosen = [operation for operation in operations() if not only or operation.name in only]

    def of(side: tuple[str, str]) -> list[Profiled]:
        version, name = side
        with instructions.counting(
            version, options=SETTINGS[name], caches=misses, branches=misses
        ) as counted:
            sitting.note(counted.server, label=None if name == EQUAL else name)
            connection = counted.server.connect()
            live.load(connection, rows=ROWS)
            with connection.cursor() as cursor:
                for width in WIDTHS:
                    rest = "".join(f", c{i} INT NOT NULL" for i in range(1, width))
                    cursor.execute(f"CREATE TABLE wide_{width} (id INT PRIMARY KEY{rest})")
            return [(operation, name, _measured(counted, operation, connection)) for operation in chosen]

    with ThreadPoolExecutor(workers) as pool:
        sides = [(version, name) for name in settings for version in versions]
        yield from bar(pool.map(of, sides), desc="servers under callgrind", total=len(sides), unit="server")


def _measured(
    counted: instructions.Counted, operation: live.Operation, connection: Any
) -> instructions.Profile:
    statements = list(operation.statements())

    def run(cursor: Any) -> None:
        for sql in statements:
            cursor.execute(sql)
            if cursor.with_rows:
                cursor.fetchall()

    return counted.measure(
        run, before="START TRANSACTION", after=_undone, rows=operation.operations, connection=connection
    )


def _undone(cursor: Any) -> None:
    """Nothing of an insert is left: a rollback leaves deleted records, and purge comes when it likes."""
    cursor.execute("ROLLBACK")
    for table in ("filled", *(f"wide_{width}" for width in WIDTHS)):
        cursor.execute(f"TRUNCATE TABLE {table}")


def _keep(found: _Tables, profile: instructions.Profile, operation: live.Operation, settings: str) -> None:
    n = operation.operations
    where = {"operation": operation.name, "settings": settings, "series": profile.version}
    for repeat, total in enumerate(profile.repeats[-2:]):
        found.rows.append(
            {**where, "repeat": repeat, "instructions": total / n, "unit": operation.unit, "others": profile.others / n}
        )  # fmt: skip
    least = _KEPT * profile.instructions
    for cause, own in sorted(by_cause(profile.paths).items()):
        found.causes.append({**where, "cause": cause, "instructions": own / n})
    for function in profile.functions:
        if function.own >= least:
            found.functions.append(
                {
                    **where,
                    "function": function.name,
                    "own": function.own / n,
                    "inclusive": function.inclusive / n,
                    "calls": function.calls / n,
                }
            )
    if settings == EQUAL and profile.version in FLAME.get(operation.name, ()):
        for path, own in sorted(profile.paths.items()):
            if own >= _KEPT_PATH * profile.instructions:
                found.paths.append({**where, "path": ";".join(path), "own": own / n})


def settings_counted() -> Run:
    """The same with performance_schema, and as each version is installed."""
    return operations_counted(
        settings=(INSTRUMENTED, INSTALLED),
        figure="own-low-concurrency-instructions-settings",
    )


def source_figures() -> list[Run]:
    """Figures 1 and 2 of the degradation article, of the same sitting as all operations."""
    whole = operations_counted(settings=(EQUAL,))
    equal = whole.table

    def of(figure: str, operation: str, series: str, builds: Mapping[str, str], y: str) -> Run:
        mine = equal[(equal["operation"] == operation) & equal["series"].isin(list(builds))]
        each = mine["instructions"]
        table = mine.assign(build=mine["series"].map(builds), server=mine["series"], series=series)
        table[y] = each if y == "instructions" else 1e9 / (each * INSERTED)
        names = ["build", "series", "repeat", y, "server"]
        return replace(
            whole,
            figure=figure,
            table=table[names].reset_index(drop=True),
            tables={},
            columns=COLUMNS
            | {
                "build": "which side of the comparison; `server` says which server stands for it",
                "statements_per_billion_instructions": f"of a bulk insert of {INSERTED} rows of two columns",
            },
        )

    newest = {version: version for version in equal["series"].unique()}
    old, late, new = (
        next(name for name in newest if name.startswith(start)) for start in ("5.7", "8.0.31", "9.7")
    )
    return [
        whole,
        of("fig-deg-1", JOIN, "join_time", {late: "older", new: "newer"}, "instructions"),
        of(
            "fig-deg-2",
            BULK,
            "bulk_insert",
            {old: "older", late: "newer"},
            "statements_per_billion_instructions",
        ),
    ]
