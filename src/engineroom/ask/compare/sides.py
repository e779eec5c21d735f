"""Runs one statement on several versions, with the settings that would distort a comparison made equal."""

from __future__ import annotations

import contextlib
import hashlib
import re
import statistics
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import sql_text
from engineroom.ask.compare import dumps, repeating, server_statistics
from engineroom.ask.compare.loading import MadeRows, Ready, Session
from engineroom.errors import EngineRoomError
from engineroom.measuring.statement import Measured, measure
from engineroom.measuring.statement import plan as explained
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import provenance
from engineroom.servers.catalogue import release
from engineroom.servers.supervisor import has_landlock

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "AS_INSTALLED",
    "EQUAL_SETTINGS",
    "Comparison",
    "Interrupted",
    "Side",
    "Variant",
    "compare",
    "compare_many",
    "compare_own",
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
_PLANNED = {"SELECT", "WITH", "TABLE", "VALUES", *repeating.CHANGES}
_MOST_COPY_S = 20  # of making the tables afresh; what takes longer is done for one run alone
# What answers for an earlier statement of the session.
_OF_SESSION = re.compile(r"\b(FOUND_ROWS|ROW_COUNT|LAST_INSERT_ID)\s*\(\s*\)", re.IGNORECASE)
_SUMS = re.compile(r"\b(?:COUNT|SUM|MAX|MIN|AVG)\s*\(", re.IGNORECASE)
_SHOWN_ROWS = 5
_KEPT_ROWS = 100_000  # of an answer, to show which rows differ
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
    """The statement on one version, or server of the reader's own. With `refused`, the server's own error, nothing was measured.

    CPU and elapsed seconds are medians of the repeats.
    """

    version: str
    note: str
    label: str = ""  # tells it from another side of this version
    statement: str | None = None  # its own, where sides have different ones
    refused: str | None = None
    refused_at: str | None = None  # schema | rows | statement
    plan: str | None = None
    plan_refused: str | None = None
    server_cpu_s: float | None = None
    cpu_repeats_s: tuple[float, ...] = ()
    wall_s: float | None = None
    wall_repeats_s: tuple[float, ...] = ()
    rows: int | None = None
    affected_rows: int | None = None
    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str | None, ...], ...] = ()
    digest_in_order: str | None = None
    digest: str | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    kept_rows: Mapping[tuple[str | None, ...], int] = field(default_factory=dict, repr=False)
    varies: bool = False  # its own runs answered differently

    @property
    def name(self) -> str:
        """Its version, and what tells it from another side."""
        return f"{self.version} {self.label}".rstrip()

    @property
    def refusal(self) -> str:
        """What it refused, as a sentence."""
        return f"MySQL {self.name} refuses the {self.refused_at}: {self.refused}"


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
    control_wall_s: float | None = None
    about_files: tuple[str, ...] = ()  # what was skipped, mapped or made otherwise than asked
    about_runs: tuple[str, ...] = ()
    homeless: tuple[str, ...] = ()  # constants of the statement that no made row holds
    is_own: bool = False  # servers and tables are the reader's own

    @property
    def measured(self) -> list[Side]:
        """The sides that ran the statement."""
        return [side for side in self.sides if side.refused is None]

    @property
    def texts(self) -> list[str]:
        """The statement, and what a side has in its place."""
        return [self.statement, *(side.statement for side in self.sides if side.statement is not None)]

    @property
    def is_by_cpu(self) -> bool:
        """Whether the servers' CPU times are compared. Where one cannot be read, elapsed times are."""
        return all(side.server_cpu_s is not None for side in self.measured)

    def seconds(self, side: Side) -> float | None:
        """What is compared of a side."""
        return side.server_cpu_s if self.is_by_cpu else side.wall_s

    @property
    def control_s(self) -> float | None:
        """What is compared of the first side once more."""
        return self.control_cpu_s if self.is_by_cpu else self.control_wall_s

    @property
    def results(self) -> str:
        """How the results of those that ran it compare."""
        ran = self.measured
        if len(ran) < 2:
            return "nothing to compare"
        if len({side.digest for side in ran}) > 1 or len({side.affected_rows for side in ran}) > 1:
            return "differ, as its own runs do" if any(side.varies for side in ran) else "differ"
        if self.is_empty:
            return "agree over no rows"
        return "agree" if len({side.digest_in_order for side in ran}) == 1 else "agree, in another order"

    @property
    def is_empty(self) -> bool:
        """Whether no version found a row: none came, none was changed, or one of nothing but 0 and NULL that sums up none."""
        kinds = (*repeating.CHANGES, "SELECT", "TABLE")
        if any(repeating.verb(text) not in kinds for text in self.texts):
            return False
        found = [side.affected_rows if side.rows is None else side.rows for side in self.measured]
        sums_up = any(_SUMS.search(text) for text in self.texts)
        sums = [set(row) <= {None, "0"} for side in self.measured for row in side.first_rows]
        return bool(found) and (
            found == [0] * len(found) or (sums_up and set(found) == {1} and bool(sums) and all(sums))
        )

    @property
    def remarks(self) -> list[str]:
        """What the verdict rests on, and what was done otherwise than the files have it."""
        if not self.measured:
            return list(self.about_files)
        found = []
        if self.is_empty:
            said = "No version found a row, so that agreement proves nothing and CPU times are those of an empty answer"
            if self.homeless:
                said += f": no made row holds {', '.join(self.homeless)}"
            elif self.made_rows is not None:
                said += ": no made row meets all conditions"
            found.append(
                f"{said}."
                if self.is_own
                else f"{said}. Give rows of your own with --data{'' if self.made_rows else ', or made ones with --rows'}."
            )
        if chance := list(dict.fromkeys(name for text in self.texts for name in repeating.chance(text))):
            found.append(
                f"Not the same in each run, whatever the version: {', '.join(chance)}. A difference may come from there alone."
            )
        elif any(side.varies for side in self.measured):
            found.append("Runs of one version answered differently: the statement leaves something open.")
        return [*found, *self.about_runs, *self.about_files]

    def differing_rows(self) -> dict[str, list[tuple[str | None, ...]]]:
        """The first rows of each later version that the first has not, and of the first that a later has not."""
        ran = self.measured
        found: dict[str, list[tuple[str | None, ...]]] = {}
        for other in ran[1:]:
            are_kept = all(side.kept_rows or not side.rows for side in (ran[0], other))
            if other.digest == ran[0].digest:
                continue
            for some, rest in ((ran[0], other), (other, ran[0])):
                only = Counter(some.kept_rows if are_kept else ()) - Counter(rest.kept_rows)
                found[f"in {some.name}, not in {rest.name}"] = list(only.elements())[:_SHOWN_ROWS]
        return found

    def differing_settings(self) -> dict[str, dict[str, str | None]]:
        """Global variables whose values differ, `None` where a version lacks one; flags of optimizer_switch apart."""
        names = sorted({name for side in self.sides for name in side.variables})
        found = {name: {side.name: side.variables.get(name) for side in self.sides} for name in names}
        return {name: values for name, values in found.items() if len(set(values.values())) > 1}

    def json(self) -> dict[str, Any]:
        """Everything as plain JSON types."""
        sides = [asdict(side) for side in self.sides]
        for plain in sides:
            del plain["variables"], plain["kept_rows"]
            for name in ("label", "statement"):
                if not plain[name]:
                    del plain[name]
        return {
            "statement": self.statement,
            "results": self.results,
            "remarks": self.remarks,
            "repeats": self.repeats,
            "made_rows": self.made_rows,
            "equal_settings": {name: str(value) for name, value in self.equal_settings.items()},
            "sides": sides,
            "control_cpu_s": self.control_cpu_s,
            "control_wall_s": self.control_wall_s,
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
    """Run `statement` on each version after making the same tables and rows there; `compare_many` says how."""
    (found,) = compare_many([sql_text.one_statement(statement, "the query")], **how)
    return found


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What side B has and side A has not, on one version: another text of the statement, options, SQL that runs over its tables."""

    statement: str | None = None
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    sql: Path | None = None


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
    holding_constants: bool = True,
    beside: Callable[[str, Side, Session], None] | None = None,
    b: Variant | None = None,
    statistics_file: Path | None = None,
    largest: int | None = None,
) -> list[Comparison]:
    """Run each of `statements` on each version, one statement after the other, over the same tables and rows.

    `schema` and `data` are files of SQL statements, or folders of mydumper's; `rows` fills every table that a statement names with that
    many made rows, spread as the statistics in a file have it, see `server_statistics`. No file may have more than `largest` bytes. Rows that
    a statement changes are rolled back after each repeat; where that does not bring them back, each repeat gets tables made afresh. All of
    it runs as an account without powers, see `loading`. Raises EngineRoomError for what a reader can mend, among it a schema that every
    version refuses; what one version refuses is part of the result. A run that takes longer than `limit_s` is
    stopped, and that version does not run the statement again. `as_installed` leaves each version its own defaults: no setting is made
    equal but those in `options`. `on` are servers of these versions, or of the sides of `b`, that run already, with EQUAL_SETTINGS; what
    is made there is dropped again. With `only_answers` each statement runs once per version, which says what it answers and not what it costs.
    Made rows hold the constants of the statements' conditions unless `holding_constants` says otherwise.
    `beside` gets each version that ran a statement, what it answered, and the session over the tables, which end with the servers then.
    With `b` two servers of one version are the sides A and B.
    Ctrl-C raises Interrupted with the statements that were measured whole, when there are any.
    """
    if len(set(versions)) != len(versions) or not versions:
        raise EngineRoomError(
            f"versions are {', '.join(versions) or 'none'}", remedy="name each version once, such as 5.7,9.7"
        )
    if b is not None and len(versions) > 1:
        raise EngineRoomError(
            f"A and B are of one version, and versions are {', '.join(versions)}",
            remedy="name one with --versions",
        )
    if data is not None and rows is not None:
        raise EngineRoomError("both --data and --rows are given", remedy="choose one source of rows")
    if rows is not None and (rows < 1 or schema is None):
        raise EngineRoomError(
            f"--rows is {rows}" + ("" if schema else " and there is no --schema whose tables it could fill"),
            remedy="give a schema with CREATE TABLE statements and at least one row",
        )
    if statistics_file is not None and rows is None:
        raise EngineRoomError(
            "there are --statistics and no --rows that could follow them", remedy="give --rows 10000 as well"
        )
    told = server_statistics.read(statistics_file) if statistics_file else {}
    _refuse_impossible(statements, repeats, b.statement if b else None)
    texts = [*statements, *([b.statement] if b and b.statement else [])]
    named = frozenset[str]().union(*map(repeating.names, texts))
    setup, load, more = (
        dumps.read(file, what, routines=named, largest=largest) if file else dumps.Dump()
        for file, what in ((schema, "schema"), (data, "data"), (b.sql if b else None, "SQL of B"))
    )
    more.lines += more.late  # all rows are there by then
    if schema and not (setup.lines or setup.late or setup.skipped):
        raise EngineRoomError(
            f"the schema {schema.name} holds no statement", remedy="put CREATE TABLE statements into it"
        )
    from engineroom import servers
    from engineroom.servers.catalogue import resolve

    made_equal = {**({} if as_installed else EQUAL_SETTINGS), **(options or {})}
    chosen = {**(AS_INSTALLED if as_installed else {}), **made_equal}
    asked = {version: (version, chosen) for version in versions}
    if b is not None:
        asked = {"A": (versions[0], chosen), "B": (versions[0], {**chosen, **b.options})}
        made_equal = {name: value for name, value in made_equal.items() if name not in b.options}
    for version, of_side in asked.values():
        if resolve(version, of_side).entry.product != "MySQL":
            raise EngineRoomError(
                f"{version} is not MySQL: the book starts it for group commit alone",
                remedy="name versions of MySQL, such as 5.7,9.7",
            )
    sides: dict[str, Side] = {}
    ready: dict[str, Ready] = {}
    made = None if rows is None else MadeRows(rows, texts, holding_constants, told)
    with provenance.watch() as watched, contextlib.ExitStack() as running:
        for key, (version, of_side) in asked.items():
            server = (
                on[key]
                if on is not None
                else running.enter_context(servers.start(version, options=of_side, confined=True))
            )
            about = _about(
                server, "" if b is None else key, b.statement if b is not None and key == "B" else None
            )
            here = Ready(server, about, texts)
            running.callback(here.close if on is not None and beside is None else here.hang_up)
            with _refusals(here, "schema") as refused:
                here.load_tables(setup)
            if refused:
                sides[key] = refused[0]
            else:
                ready[key] = here
        # The newest describes the tables and refuses most: what it takes all get.
        for key in sorted(ready, key=lambda each: release(ready[each].server.version), reverse=True):
            before = made.refused if made and made.tables else None
            with _refusals(ready[key], "rows") as refused:
                ready[key].load_rows(load, made)
            if refused:
                sides[key] = refused[0]
                del ready[key]
            elif made and before not in (None, made.refused):
                for here in ready.values():
                    here.spoil(repeating.Undo(copy=True))
        if more.lines and "B" in ready:
            with _refusals(ready["B"], "SQL of its own") as refused:
                ready["B"].run_more(more)
            if refused:
                sides["B"] = refused[0]
                del ready["B"]
        if not ready:
            raise EngineRoomError(
                f"no version takes it: {'; '.join(side.refusal for side in sides.values())}",
                remedy="correct the file"
                if data or all(side.refused_at == "schema" for side in sides.values())
                else "give rows of your own with --data",
            )
        ready = {key: ready[key] for key in asked if key in ready}
        measured = _in_order(ready, statements, repeats, limit_s, only_answers=only_answers, beside=beside)
    about_files = dict.fromkeys(
        [*setup.remarks, *load.remarks, *more.remarks, *(made.remarks if made else ())]
    )
    for here in ready.values():
        about_files |= here.remarks
    if not has_landlock() and any(here.server.pid is not None for here in ready.values()):
        about_files["This kernel has no Landlock: the account's missing rights alone keep the SQL in."] = None
    return _compared(
        statements,
        [tuple({**sides, **found.sides}[key] for key in asked) for found in measured],
        measured,
        equal_settings=made_equal,
        repeats=repeats,
        made_rows=rows,
        provenance={**provenance.machine(seed=0), "during": watched},
        about_files=tuple(about_files),
        homeless=tuple(made.homeless if made else ()),
    )


def compare_own(
    statements: Sequence[str],
    *,
    servers: Sequence[tuple[Server, str | None]],
    repeats: int = 5,
    limit_s: float | None = None,
    allows_writes: bool = False,
    other: str | None = None,
) -> list[Comparison]:
    """Run each of `statements` on servers of the reader's own, each with its default database, over the tables that are there.

    With `other`, another text of the statement, one server is the sides A and B. Each session may only read unless `allows_writes`;
    what is changed then is rolled back, and what a ROLLBACK does not bring back is not run. EngineRoomError for a statement that writes
    and may not. Repeats, limit, turns and Ctrl-C are as with `compare_many`.
    """
    from engineroom.ask.compare.own import Own

    _refuse_impossible(statements, repeats, other)
    if other is not None and len(servers) > 1:
        raise EngineRoomError(
            f"A and B are of one server, and {len(servers)} are named", remedy="name one with --dsn"
        )
    for text in (*statements, *([other] if other else [])):
        if not allows_writes and (said := repeating.writes(text)):
            short = textwrap.shorten(text, 100, placeholder=" ...")
            raise EngineRoomError(
                f"a server of your own is only read, and this is {said}: {short}",
                remedy="on a test server give --allow-writes, and each run is rolled back"
                if repeating.may_roll_back(text)
                else "compare it on servers that are started for it, with --versions and --schema",
            )
    ready: dict[str, Own] = {}
    with provenance.watch() as watched, contextlib.ExitStack() as running:
        sessions = [*servers, *(servers if other is not None else ())]
        is_named = len({server.version for server, _ in sessions}) == len(sessions)
        for i, (server, database) in enumerate(sessions):
            letter = chr(ord("A") + i)
            key = server.version if is_named else letter
            about = _about(server, "" if is_named else letter, other if i else None)
            ready[key] = Own(server, about, database=database, allows_writes=allows_writes)
            running.callback(ready[key].hang_up)
        measured = _in_order(ready, statements, repeats, limit_s)
    return _compared(
        statements,
        [tuple(found.sides.values()) for found in measured],
        measured,
        equal_settings={},
        repeats=repeats,
        made_rows=None,
        provenance={**provenance.machine(seed=0), "during": watched},
        about_files=tuple({remark: None for here in ready.values() for remark in here.remarks}),
        is_own=True,
    )


def _refuse_impossible(statements: Sequence[str], repeats: int, other: str | None) -> None:
    if repeats < 1:
        raise EngineRoomError(f"repeats are {repeats}", remedy="ask for at least one")
    if other is not None and len(statements) != 1:
        raise EngineRoomError(
            f"B has one statement, and A has {len(statements)}",
            remedy="compare one, or leave --b-query out: the same statements then run on both sides",
        )


def _about(server: Server, label: str, statement: str | None) -> dict[str, Any]:
    """What a side says of itself, whatever comes of the statement."""
    return {
        "version": server.version,
        "note": server.note,
        "label": label,
        "statement": statement,
        "variables": _variables(server),
    }


@dataclass(frozen=True)
class _Found:
    """What came of one statement."""

    sides: Mapping[str, Side]
    again: Sequence[Measured] = ()  # the first side once more, as a control
    remarks: tuple[str, ...] = ()


def _compared(
    statements: Sequence[str], sides: Sequence[tuple[Side, ...]], measured: Sequence[_Found], **about: Any
) -> list[Comparison]:
    """The comparisons; Interrupted when there are fewer than statements."""
    compared = [
        Comparison(
            statement=statement,
            sides=of_statement,
            control_cpu_s=_median_cpu_s(found.again),
            control_wall_s=statistics.median(run.wall_s for run in found.again) if found.again else None,
            about_runs=found.remarks,
            **about,
        )
        for statement, of_statement, found in zip(statements, sides, measured, strict=False)
    ]
    if len(compared) < len(statements):
        raise Interrupted(compared)
    return compared


def _in_order(
    ready: Mapping[str, Session],
    statements: Sequence[str],
    repeats: int,
    limit_s: float | None,
    *,
    only_answers: bool = False,
    beside: Callable[[str, Side, Session], None] | None = None,
) -> list[_Found]:
    """What comes of the statements, one after the other; after Ctrl-C of those that were measured whole, when there are any."""
    measured: list[_Found] = []
    shown = bar(
        statements, desc="Statements", unit="statement", disable=True if len(statements) == 1 else None
    )
    try:
        for statement in shown:
            found = _measured(ready, statement, repeats, limit_s, only_answers=only_answers)
            for key, side in found.sides.items():
                if beside and side.refused is None:
                    ready[key].clean()
                    beside(key, side, ready[key])
            measured.append(found)
    except KeyboardInterrupt:
        if not measured:
            raise
        shown.close()
    return measured


@contextlib.contextmanager
def _refusals(here: Session, at: str) -> Iterator[list[Side]]:
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


def _measured(
    ready: Mapping[str, Session], statement: str, repeats: int, limit_s: float | None, *, only_answers: bool
) -> _Found:
    """The sides of the servers that are ready, measured in turns, and the first one once more as a control."""
    texts = {key: here.about["statement"] or statement for key, here in ready.items()}
    undo = repeating.all_of(here.undo(texts[key]) for key, here in ready.items())
    why = None
    for text in texts.values():
        if asks := _OF_SESSION.search(sql_text.without_texts(text)):
            why = f"{asks[1].upper()}() answers for the statement before it, and each statement is run alone"
        elif dumps.DIRECTORY.search(text):  # 5.6 asks for no right
            why = "the server's own folders take the tables; leave DATA DIRECTORY and INDEX DIRECTORY out"
    if undo.copy and any(here.is_own for here in ready.values()):
        why = f"it is not run on a server of your own: {undo.why}"
    if why:
        return _Found({key: _refusing(here, why) for key, here in ready.items()})
    remarks = [f"Each run had tables made afresh: {undo.why}."] if undo.copy else []
    repeated = not only_answers
    if undo.copy and repeated and max(here.load_s for here in ready.values()) > _MOST_COPY_S:
        repeated = False
        remarks = [f"Measured once, since making the tables afresh takes long: {undo.why}."]
    if not repeated:
        repeats = 1
    for here in ready.values():
        here.clean()
    plans = {key: _plan(here, texts[key], limit_s) for key, here in ready.items()}
    for here in ready.values():  # a plan may set a variable
        here.spoil(repeating.Undo(session=undo.session))
    sides = {
        key: Side(**here.about, refused=here.unfilled[table], refused_at="rows")
        for key, here in ready.items()
        for table in repeating.names(texts[key]) & here.unfilled.keys()
    }
    seen: dict[str, list[Measured]] = {key: [] for key in ready}
    again: list[Measured] = []

    # The first turn reads pages and fills caches; it counts only when there can be no second.
    turns = repeats + repeated
    order = [*ready, *(list(ready)[:1] if repeated else [])]
    for turn, place in in_turns(turns, range(len(order)), desc="Statement"):
        key = order[place]
        here = ready[key]
        if key in sides:
            continue
        here.clean()
        is_verified = undo.rollback and turn == 0 and place < len(ready)
        before = here.state(texts[key]) if is_verified else []
        for _ in range(2):
            with _refusals(here, "statement") as refused:
                with _limited(here, limit_s):
                    found = measure(here.server, here.connection, texts[key], rolled_back=undo.rollback)
                (again if place == len(ready) else seen[key]).append(found)
            here.spoil(undo)
            if refused:
                here.recover()
            if undo.copy or not undo.rollback or (here.is_own and refused):
                break
            if is_verified and here.state(texts[key]) != before:
                left = f"ROLLBACK did not bring back what it changed on {key}"
            elif refused and seen[key]:  # such as the numbers that AUTO_INCREMENT has given out
                left = f"another run on {key} met what ROLLBACK leaves: {refused[0].refused}"
            else:
                break
            if here.is_own:
                refused = [_refusing(here, f"it is not run again on a server of your own: {left}")]
                break
            undo = replace(undo, copy=True, why=left)
            remarks.append(f"Each run had tables made afresh: {undo.why}.")
            here.spoil(undo)
            if not refused:
                break
            here.clean()
        if refused:
            sides[key] = refused[0]
    for key, here in ready.items():
        if key not in sides:
            sides[key] = Side(**here.about, **plans[key], **_summary(seen[key], repeats))
    return _Found({key: sides[key] for key in ready}, again[-repeats:], tuple(remarks))


def _refusing(here: Session, why: str) -> Side:
    return Side(**here.about, refused=why, refused_at="statement")


@contextlib.contextmanager
def _limited(here: Session, limit_s: float | None) -> Iterator[None]:
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
        if error.errno != mysql.connector.errorcode.ER_QUERY_INTERRUPTED or not stopped.is_set():
            raise
    finally:
        timer.cancel()
        timer.join()
    if stopped.is_set():  # also of one that answers when it is killed, such as SELECT SLEEP(9)
        raise mysql.connector.Error(f"stopped after {limit_s:g} s, the limit")


def _plan(here: Session, statement: str, limit_s: float | None) -> dict[str, Any]:
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


def _summary(ran: Sequence[Measured], repeats: int) -> dict[str, Any]:
    seen = ran[-repeats:]
    least = {
        name: min(run.counters.get(name, 0) for run in seen)
        for name in sorted({name for run in seen for name in run.counters})
    }
    return {
        "server_cpu_s": _median_cpu_s(seen),
        "cpu_repeats_s": tuple(run.known_cpu_s for run in seen if run.known_cpu_s is not None),
        "wall_s": statistics.median(run.wall_s for run in seen),
        "wall_repeats_s": tuple(run.wall_s for run in seen),
        "counters": {name: value for name, value in least.items() if value},
        **(result := _result(seen[-1])),
        "varies": any(_result(ran[0])[name] != result[name] for name in ("digest", "affected_rows")),
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
