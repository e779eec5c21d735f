"""Runs one statement on several versions, with the settings that would distort a comparison made equal."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import provenance, sql_text
from engineroom.compare import made_rows
from engineroom.errors import EngineRoomError
from engineroom.measuring.statement import Measured, measure
from engineroom.measuring.statement import plan as explained
from engineroom.progress import bar

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["EQUAL_SETTINGS", "Comparison", "Side", "compare"]

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
DATABASE = "compared"
_REPEATABLE = {"SELECT", "WITH", "TABLE", "VALUES", "DO", "SHOW", "EXPLAIN", "DESCRIBE", "DESC"}
_ROLLED_BACK = {"INSERT", "UPDATE", "DELETE", "REPLACE"}
_SHOWN_ROWS = 5
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
    """The statement on one version. With `refused`, the server's own error, nothing was measured."""

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


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All sides of one statement."""

    statement: str
    sides: tuple[Side, ...]
    equal_settings: Mapping[str, str | int | bool]
    repeats: int
    made_rows: int | None
    provenance: Mapping[str, Any]

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

    def differing_settings(self) -> dict[str, dict[str, str | None]]:
        """Global variables whose values differ, `None` where a version lacks one; flags of optimizer_switch apart."""
        names = sorted({name for side in self.sides for name in side.variables})
        found = {}
        for name in names:
            values = {side.version: side.variables.get(name) for side in self.sides}
            if len(set(values.values())) > 1:
                found[name] = values
        return found

    def json(self) -> dict[str, Any]:
        """Everything as plain JSON types."""
        sides = []
        for side in self.sides:
            plain = asdict(side)
            del plain["variables"]
            sides.append(plain)
        return {
            "statement": self.statement,
            "results": self.results,
            "repeats": self.repeats,
            "made_rows": self.made_rows,
            "equal_settings": {name: str(value) for name, value in self.equal_settings.items()},
            "sides": sides,
            "settings_that_differ": self.differing_settings(),
            "provenance": provenance.scrub(self.provenance),
        }


def compare(
    statement: str,
    *,
    versions: Sequence[str] = ("5.7", "9.7"),
    schema: Path | None = None,
    data: Path | None = None,
    rows: int | None = None,
    repeats: int = 5,
    options: Mapping[str, str | int | bool] | None = None,
) -> Comparison:
    """Run `statement` on each version after making the same tables and rows there.

    `schema` and `data` are files of SQL statements; `rows` fills every table of the schema with that many made rows. A statement
    that changes rows is rolled back after each repeat. Raises EngineRoomError for what a reader can mend, among it a schema
    that every version refuses; what one version refuses is part of the result.
    """
    statement = sql_text.one_statement(statement, "the query")
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
    from engineroom.servers.catalogue import resolve

    chosen = {**EQUAL_SETTINGS, **(options or {})}
    for version in versions:
        resolve(version, chosen)
    sides: list[Side] = []
    tables: list[made_rows.Table] | None = None
    with provenance.watch() as watched:
        for version in versions:
            side, tables = _side(
                version,
                options=chosen,
                setup=setup,
                load=load,
                rows=rows,
                tables=tables,
                statement=statement,
                repeats=repeats,
            )
            sides.append(side)
    if all(side.refused_at in ("schema", "rows") for side in sides):
        raise EngineRoomError(
            f"no version takes the {sides[0].refused_at}; MySQL {sides[0].version} says: {sides[0].refused}",
            remedy="correct the file"
            if sides[0].refused_at == "schema" or data
            else "give rows of your own with --data",
        )
    return Comparison(
        statement=statement,
        sides=tuple(sides),
        equal_settings=chosen,
        repeats=repeats,
        made_rows=rows,
        provenance={**provenance.machine(seed=0), "during": watched},
    )


def _side(
    version: str,
    *,
    options: Mapping[str, Any],
    setup: Sequence[str],
    load: Sequence[str],
    rows: int | None,
    tables: list[made_rows.Table] | None,
    statement: str,
    repeats: int,
) -> tuple[Side, list[made_rows.Table] | None]:
    import mysql.connector

    from engineroom import servers

    with servers.start(version, options=options) as server:
        about: dict[str, Any] = {
            "version": server.version,
            "note": server.note,
            "variables": _variables(server),
        }
        server.execute(f"CREATE DATABASE {DATABASE}")
        with contextlib.closing(server.connect(DATABASE)) as connection:
            at = "schema"
            try:
                _run_all(connection, setup, f"MySQL {server.version}: schema")
                at = "rows"
                _run_all(connection, load, f"MySQL {server.version}: rows")
                if rows is not None:
                    # The first server that takes the schema describes it for all, so that all get the same rows.
                    tables = tables or made_rows.read_tables(connection, DATABASE)
                    if not tables:
                        raise EngineRoomError(
                            "the schema makes no table", remedy="put CREATE TABLE statements into --schema"
                        )
                    _fill(connection, tables, rows, f"MySQL {server.version}")
                _analyze(connection)
                at = "statement"
                return Side(**about, **_measured(server, connection, statement, repeats)), tables
            except mysql.connector.Error as error:
                if not server.alive():
                    raise EngineRoomError(
                        f"MySQL {server.version} died ({error}); the end of its log:\n{server.log_tail()}",
                        remedy="look at memory and disk space, and try fewer rows",
                    ) from error
                return Side(**about, refused=str(error), refused_at=at), tables


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


def _measured(server: Server, connection: Any, statement: str, repeats: int) -> dict[str, Any]:
    import mysql.connector

    word = sql_text.first_word(statement)
    if word not in _REPEATABLE | _ROLLED_BACK:
        repeats = 1
    plan = plan_refused = None
    try:
        plan = explained(server, connection, statement)
    except mysql.connector.Error as error:
        plan_refused = str(error)
    # The first run reads pages and fills caches; it counts only when there can be no second.
    turns = bar(range(repeats + (repeats > 1)), desc=f"MySQL {server.version}: statement", unit="run")
    seen = [measure(server, connection, statement, rolled_back=word in _ROLLED_BACK) for _ in turns]
    seen = seen[-repeats:]
    cpu = tuple(run.known_cpu_s for run in seen if run.known_cpu_s is not None)
    least = {
        name: min(run.counters.get(name, 0) for run in seen)
        for name in sorted({name for run in seen for name in run.counters})
    }
    return {
        "plan": plan,
        "plan_refused": plan_refused,
        "server_cpu_s": min(cpu) if cpu else None,
        "cpu_repeats_s": cpu,
        "wall_s": min(run.wall_s for run in seen),
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
