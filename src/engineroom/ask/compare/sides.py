"""Runs one statement on several versions, with the settings that would distort a comparison made equal."""

from __future__ import annotations

import contextlib
import hashlib
import re
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import sql_text
from engineroom.ask.compare import made_rows
from engineroom.errors import EngineRoomError
from engineroom.measuring.statement import Measured, measure
from engineroom.measuring.statement import plan as explained
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import provenance

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "AS_INSTALLED",
    "EQUAL_SETTINGS",
    "Comparison",
    "Interrupted",
    "Side",
    "compare",
    "compare_many",
    "is_repeatable",
    "is_rolled_back",
]

# Each differs by default between 5.6, 5.7, 8.0 and 9.7, and costs or saves CPU time by itself.
EQUAL_SETTINGS: Mapping[str, str | int | bool] = {
    "skip_log_bin": True,
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_general_ci",
    "innodb_adaptive_hash_index": "OFF",
    "innodb_flush_method": "fsync",
    "innodb_buffer_pool_size": "256M",
    "innodb_buffer_pool_instances": 1,
    "innodb_log_buffer_size": "16M",
    "innodb_flush_neighbors": 0,
    "innodb_change_buffering": "none",
    "innodb_checksum_algorithm": "crc32",
    "max_allowed_packet": "64M",
}
# What the book sets on every server that it starts and that costs or saves CPU time, left to each version's default.
AS_INSTALLED: Mapping[str, str | int | bool] = {"skip_log_bin": False, "character_set_server": False}
DATABASE = "compared"
_REPEATABLE = {"SELECT", "WITH", "TABLE", "VALUES", "DO", "SHOW", "EXPLAIN", "DESCRIBE", "DESC"}
_ROLLED_BACK = {"INSERT", "UPDATE", "DELETE", "REPLACE"}
_PLANNED = {"SELECT", "WITH", "TABLE", "VALUES", *_ROLLED_BACK}
# What answers for an earlier statement of the session.
_OF_SESSION = re.compile(r"\b(FOUND_ROWS|ROW_COUNT|LAST_INSERT_ID)\s*\(\s*\)", re.IGNORECASE)
_SHOWN_ROWS = 5
_KEPT_ROWS = 100_000  # of an answer, to show which rows differ
_BATCH_ROWS = 500
# Where a server keeps its files, who it is, and what follows from these.
_NOT_SETTINGS = (
    "admin_", "build_id", "character_sets_dir", "general_log_file", "gtid_", "hostname", "init_file", "innodb_version", "large_page",
    "license", "log_bin_", "log_error", "mysqlx", "performance_schema_", "pid_file", "plugin_dir", "port", "protocol_",
    "pseudo_", "relay_log", "report_", "server_uuid", "slow_query_log_file", "socket", "ssl_", "statement_id", "timestamp", "tls_", "tmpdir",
    "version", "basedir", "datadir", "lc_messages_dir", "slave_load_tmpdir", "replica_load_tmpdir", "rand_seed", "identity",
    "last_insert_id", "insert_id", "warning_count", "error_count", "sha256_password", "caching_sha2", "auto_generate_certs",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Side:
    """The statement on one version. With `refused`, the server's own error, nothing was measured.

    CPU and elapsed seconds are medians of the repeats.
    """

    version: str
    note: str
    refused: str | None = None
    refused_at: str | None = None  # schema | rows | statement
    plan: str | None = None
    plan_refused: str | None = None
    server_cpu_s: float | None = None
    cpu_repeats_s: tuple[float, ...] = ()
    wall_s: float | None = None
    rows: int | None = None
    affected_rows: int | None = None
    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str | None, ...], ...] = ()
    digest_in_order: str | None = None
    digest: str | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    kept_rows: Mapping[tuple[str | None, ...], int] = field(default_factory=dict, repr=False)

    @property
    def refusal(self) -> str:
        """What it refused, as a sentence."""
        return f"MySQL {self.version} refuses the {self.refused_at}: {self.refused}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All sides of one statement."""

    statement: str
    sides: tuple[Side, ...]
    equal_settings: Mapping[str, str | int | bool]
    repeats: int
    made_rows: int | None
    provenance: Mapping[str, Any]
    control_cpu_s: float | None = None  # the first version's own statement, measured once more in each turn

    @property
    def measured(self) -> list[Side]:
        """The sides that ran the statement."""
        return [side for side in self.sides if side.refused is None]

    @property
    def results(self) -> str:
        """How the results of those that ran it compare."""
        ran = self.measured
        if len(ran) < 2:
            return "nothing to compare"
        if len({side.digest for side in ran}) > 1 or len({side.affected_rows for side in ran}) > 1:
            return "differ"
        return "agree" if len({side.digest_in_order for side in ran}) == 1 else "agree, in another order"

    def differing_rows(self) -> dict[str, list[tuple[str | None, ...]]]:
        """The first rows of each later version that the first has not, and of the first that a later has not."""
        ran = self.measured
        found: dict[str, list[tuple[str | None, ...]]] = {}
        for other in ran[1:]:
            if other.digest == ran[0].digest:
                continue
            for some, rest in ((ran[0], other), (other, ran[0])):
                only = Counter(some.kept_rows) - Counter(rest.kept_rows)
                found[f"in {some.version}, not in {rest.version}"] = list(only.elements())[:_SHOWN_ROWS]
        return found

    def differing_settings(self) -> dict[str, dict[str, str | None]]:
        """Global variables whose values differ, `None` where a version lacks one; flags of optimizer_switch apart."""
        names = sorted({name for side in self.sides for name in side.variables})
        found = {name: {side.version: side.variables.get(name) for side in self.sides} for name in names}
        return {name: values for name, values in found.items() if len(set(values.values())) > 1}

    def json(self) -> dict[str, Any]:
        """Everything as plain JSON types."""
        sides = [asdict(side) for side in self.sides]
        for plain in sides:
            del plain["variables"], plain["kept_rows"]
        return {
            "statement": self.statement,
            "results": self.results,
            "repeats": self.repeats,
            "made_rows": self.made_rows,
            "equal_settings": {name: str(value) for name, value in self.equal_settings.items()},
            "sides": sides,
            "control_cpu_s": self.control_cpu_s,
            "rows_that_differ": self.differing_rows(),
            "settings_that_differ": self.differing_settings(),
            "provenance": provenance.scrub(self.provenance),
        }


class Interrupted(KeyboardInterrupt):
    """Ctrl-C after some of many statements; `compared` are those that were measured whole."""

    def __init__(self, compared: Sequence[Comparison]) -> None:
        super().__init__(f"interrupted after {len(compared)} statements")
        self.compared = list(compared)


def compare(statement: str, **how: Any) -> Comparison:
    """Run `statement` on each version after making the same tables and rows there; `compare_many` says how.

    A statement that can be run only once, such as CREATE TABLE, is run once.
    """
    (found,) = compare_many([sql_text.one_statement(statement, "the query")], **how)
    return found


def is_repeatable(statement: str) -> bool:
    """Whether it can be run again and again: it changes nothing, or what can be rolled back."""
    return sql_text.first_word(statement) in _REPEATABLE | _ROLLED_BACK


def is_rolled_back(statement: str) -> bool:
    """Whether it changes rows, which are rolled back after each run."""
    return sql_text.first_word(statement) in _ROLLED_BACK


def compare_many(
    statements: Sequence[str],
    *,
    versions: Sequence[str] = ("5.7", "9.7"),
    schema: Path | None = None,
    data: Path | None = None,
    rows: int | None = None,
    repeats: int = 5,
    options: Mapping[str, str | int | bool] | None = None,
    as_installed: bool = False,
    limit_s: float | None = None,
    on: Mapping[str, Server] | None = None,
    only_answers: bool = False,
    beside: Callable[[str, Side, Any], None] | None = None,
) -> list[Comparison]:
    """Run each of `statements` on each version, one statement after the other, over the same tables and rows.

    `schema` and `data` are files of SQL statements; `rows` fills every table of the schema with that many made rows. A statement
    that changes rows is rolled back after each repeat. Raises EngineRoomError for what a reader can mend, among it a schema
    that every version refuses; what one version refuses is part of the result. A run that takes longer than `limit_s` is
    stopped, and that version does not run the statement again. `as_installed` leaves each version its own defaults: no setting is made
    equal but those in `options`. `on` are servers of these versions that run already, with EQUAL_SETTINGS; what is made there is
    dropped again. With `only_answers` each statement runs once per version, which says what it answers and not what it costs.
    `beside` gets each version that ran a statement, what it answered, and a connection over the tables, which end with the servers then.
    Ctrl-C raises Interrupted with the statements that were measured whole, when there are any.
    """
    if len(set(versions)) != len(versions) or not versions:
        raise EngineRoomError(
            f"versions are {', '.join(versions) or 'none'}", remedy="name each version once, such as 5.7,9.7"
        )
    if data is not None and rows is not None:
        raise EngineRoomError("both --data and --rows are given", remedy="choose one source of rows")
    if rows is not None and (rows < 1 or schema is None):
        raise EngineRoomError(
            f"--rows is {rows}" + ("" if schema else " and there is no --schema whose tables it could fill"),
            remedy="give a schema with CREATE TABLE statements and at least one row",
        )
    if repeats < 1:
        raise EngineRoomError(f"repeats are {repeats}", remedy="ask for at least one")
    setup = sql_text.statements(sql_text.read(schema, "schema")) if schema else []
    load = sql_text.statements(sql_text.read(data, "data file")) if data else []
    if schema and not setup:
        raise EngineRoomError(
            f"the schema {schema.name} holds no statement", remedy="put CREATE TABLE statements into it"
        )
    from engineroom import servers
    from engineroom.servers.catalogue import resolve

    made_equal = {**({} if as_installed else EQUAL_SETTINGS), **(options or {})}
    chosen = {**(AS_INSTALLED if as_installed else {}), **made_equal}
    for version in versions:
        resolve(version, chosen)
    sides: dict[str, Side] = {}
    ready: dict[str, _Ready] = {}
    tables: list[made_rows.Table] | None = None
    measured: list[tuple[dict[str, Side], float | None]] = []
    with provenance.watch() as watched, contextlib.ExitStack() as running:
        for version in versions:
            server = (
                on[version]
                if on is not None
                else running.enter_context(servers.start(version, options=chosen))
            )
            about: dict[str, Any] = {
                "version": server.version,
                "note": server.note,
                "variables": _variables(server),
            }
            server.execute(f"CREATE DATABASE {DATABASE}")
            if on is not None and beside is None:
                running.callback(server.execute, f"DROP DATABASE {DATABASE}")
            connection = running.enter_context(contextlib.closing(server.connect(DATABASE)))
            here = _Ready(server, connection, about)
            with _refusals(here, "schema") as refused:
                _run_all(connection, setup, f"MySQL {server.version}: schema")
            if not refused:
                with _refusals(here, "rows") as refused:
                    _run_all(connection, load, f"MySQL {server.version}: rows")
                    if rows is not None:
                        # The first server that takes the schema describes it for all, so that all get the same rows.
                        tables = tables or made_rows.read_tables(connection, DATABASE)
                        if not tables:
                            raise EngineRoomError(
                                "the schema makes no table",
                                remedy="put CREATE TABLE statements into --schema",
                            )
                        _fill(connection, tables, rows, f"MySQL {server.version}")
                    _analyze(connection)
            if refused:
                sides[version] = refused[0]
            else:
                ready[version] = here
        # Without a server that is ready there is nothing to show progress of.
        shown = bar(
            statements, desc="Statements", unit="statement", disable=True if len(statements) == 1 else None
        )
        try:
            for statement in shown if ready else statements:
                found = _measured(ready, statement, repeats, limit_s, only_answers=only_answers)
                for version, side in found[0].items():
                    if beside and side.refused is None:
                        beside(version, side, ready[version].connection)
                measured.append(found)
        except KeyboardInterrupt:
            if not measured:
                raise
            shown.close()
    if not ready:
        raise EngineRoomError(
            f"no version takes it: {'; '.join(side.refusal for side in sides.values())}",
            remedy="correct the file"
            if data or all(side.refused_at == "schema" for side in sides.values())
            else "give rows of your own with --data",
        )
    about_run = {**provenance.machine(seed=0), "during": watched}
    compared = [
        Comparison(
            statement=statement,
            sides=tuple((sides | of_statement)[version] for version in versions),
            equal_settings=made_equal,
            repeats=repeats,
            made_rows=rows,
            provenance=about_run,
            control_cpu_s=control,
        )
        for statement, (of_statement, control) in zip(statements, measured, strict=False)
    ]
    if len(compared) < len(statements):
        raise Interrupted(compared)
    return compared


@dataclass(frozen=True)
class _Ready:
    """A server that runs, and what is known of it before the statement."""

    server: Server
    connection: Any
    about: Mapping[str, Any]


@contextlib.contextmanager
def _refusals(here: _Ready, at: str) -> Iterator[list[Side]]:
    """Collects the side that a server's own error makes, and raises EngineRoomError when the server has died of it."""
    import mysql.connector

    refused: list[Side] = []
    try:
        yield refused
    except mysql.connector.Error as error:
        if not here.server.alive():
            raise EngineRoomError(
                f"MySQL {here.server.version} died ({error}); the end of its log:\n{here.server.log_tail()}",
                remedy="look at memory and disk space, and try fewer rows",
            ) from error
        refused.append(Side(**here.about, refused=str(error), refused_at=at))


def _run_all(connection: Any, statements: Sequence[str], label: str) -> None:
    with connection.cursor() as cursor:
        for sql in bar(statements, desc=label, unit="statement"):
            cursor.execute(sql)
            if cursor.with_rows:
                cursor.fetchall()


def _fill(connection: Any, tables: list[made_rows.Table], n: int, label: str) -> None:
    with (
        connection.cursor() as cursor,
        bar(total=n * len(tables), desc=f"{label}: rows", unit="row") as shown,
    ):
        for table in tables:
            insert = made_rows.insert_statement(table)
            batch: list[tuple[Any, ...]] = []
            cursor.execute("START TRANSACTION")
            for row in made_rows.made(tables, table, n):
                batch.append(row)
                if len(batch) == _BATCH_ROWS:
                    cursor.executemany(insert, batch)
                    shown.update(len(batch))
                    batch = []
            if batch:
                cursor.executemany(insert, batch)
                shown.update(len(batch))
            cursor.execute("COMMIT")


def _analyze(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
        for name, _ in cursor.fetchall():
            cursor.execute("ANALYZE TABLE `" + str(name).replace("`", "``") + "`")
            cursor.fetchall()


def _measured(
    ready: Mapping[str, _Ready], statement: str, repeats: int, limit_s: float | None, *, only_answers: bool
) -> tuple[dict[str, Side], float | None]:
    """The sides of the servers that are ready, measured in turns, and the first one's CPU seconds once more as a control."""
    if asks := _OF_SESSION.search(sql_text.without_texts(statement)):
        why = f"{asks[1].upper()}() answers for the statement before it, and each statement is run alone"
        return {v: Side(**here.about, refused=why, refused_at="statement") for v, here in ready.items()}, None
    repeated = is_repeatable(statement) and not only_answers
    if not repeated:
        repeats = 1
    plans = {version: _plan(here, statement, limit_s) for version, here in ready.items()}
    sides: dict[str, Side] = {}
    seen: dict[str, list[Measured]] = {version: [] for version in ready}
    again: list[Measured] = []

    # The first turn reads pages and fills caches; it counts only when there can be no second.
    turns = repeats + repeated
    order = [*ready, *(list(ready)[:1] if repeated else [])]
    for _, place in in_turns(turns, range(len(order)), desc="Statement"):
        version = order[place]
        here = ready[version]
        if version in sides:
            continue
        with _refusals(here, "statement") as refused:
            with _limited(here, limit_s):
                found = measure(
                    here.server, here.connection, statement, rolled_back=is_rolled_back(statement)
                )
            (again if place == len(ready) else seen[version]).append(found)
        if refused:
            sides[version] = refused[0]
            here.connection.rollback()
    for version, here in ready.items():
        if version not in sides:
            sides[version] = Side(**here.about, **plans[version], **_summary(seen[version][-repeats:]))
    return sides, _median_cpu_s(again[-repeats:])


@contextlib.contextmanager
def _limited(here: _Ready, limit_s: float | None) -> Iterator[None]:
    """Stops what runs on the connection after `limit_s` by KILL QUERY, which every version and every statement knows."""
    import mysql.connector

    if limit_s is None:
        yield
        return
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        with (
            contextlib.suppress(
                mysql.connector.Error
            ),  # the server may be gone, and says so where it is used
            contextlib.closing(here.server.connect()) as other,
            other.cursor() as cursor,
        ):
            cursor.execute(f"KILL QUERY {here.connection.connection_id}")

    timer = threading.Timer(limit_s, stop)
    timer.start()
    try:
        yield
    except mysql.connector.Error as error:
        if error.errno != mysql.connector.errorcode.ER_QUERY_INTERRUPTED:
            raise
    finally:
        timer.cancel()
        timer.join()
    if stopped.is_set():  # also of one that answers when it is killed, such as SELECT SLEEP(9)
        raise mysql.connector.Error(f"stopped after {limit_s:g} s, the limit")


def _plan(here: _Ready, statement: str, limit_s: float | None) -> dict[str, Any]:
    import mysql.connector

    if sql_text.first_word(statement) not in _PLANNED:
        return {"plan": None, "plan_refused": "only statements that read or change rows have one"}
    try:
        with _limited(here, limit_s):
            return {"plan": explained(here.server, here.connection, statement), "plan_refused": None}
    except mysql.connector.Error as error:
        return {"plan": None, "plan_refused": str(error)}


def _median_cpu_s(seen: Sequence[Measured]) -> float | None:
    cpu = [run.known_cpu_s for run in seen if run.known_cpu_s is not None]
    return statistics.median(cpu) if cpu else None


def _summary(seen: Sequence[Measured]) -> dict[str, Any]:
    least = {
        name: min(run.counters.get(name, 0) for run in seen)
        for name in sorted({name for run in seen for name in run.counters})
    }
    return {
        "server_cpu_s": _median_cpu_s(seen),
        "cpu_repeats_s": tuple(run.known_cpu_s for run in seen if run.known_cpu_s is not None),
        "wall_s": statistics.median(run.wall_s for run in seen),
        "counters": {name: value for name, value in least.items() if value},
        **_result(seen[-1]),
    }


def _result(run: Measured) -> dict[str, Any]:
    """What a run answered: how many rows, the first of them, and digests that tell whether another server's are the same."""
    rows = [tuple(None if value is None else _shown(value) for value in row) for row in run.answer]
    in_order, total = hashlib.sha256(), 0
    for row in rows:
        digest = hashlib.sha256(repr(row).encode()).digest()
        in_order.update(digest)
        total = (total + int.from_bytes(digest[:16])) % (1 << 128)
    return {
        "rows": len(rows) if run.columns else None,
        "affected_rows": None if run.columns else run.affected_rows,
        "columns": run.columns,
        "first_rows": tuple(rows[:_SHOWN_ROWS]),
        "kept_rows": Counter(rows[:_KEPT_ROWS]),
        "digest": f"{total:032x}",
        "digest_in_order": in_order.hexdigest(),
    }


def _shown(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes | bytearray) else str(value)


def _variables(server: Server) -> dict[str, str]:
    """Global variables that are settings; optimizer_switch flag by flag."""
    found = {}
    for name, value in server.variables().items():
        if name.startswith(_NOT_SETTINGS):
            continue
        if name == "optimizer_switch":
            flags = (flag.partition("=") for flag in value.split(","))
            found.update({f"optimizer_switch.{flag}": setting for flag, _, setting in flags})
        else:
            found[name] = value if "/" not in value else value.rpartition("/")[2]
    return found
