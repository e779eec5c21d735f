"""`engineroom compare`: a reader's own statement on several generations of the server."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from engineroom import files, listing, sql_text
from engineroom.ask.compare import instructions, instructions_page, many, repeating, report, saved
from engineroom.ask.compare.sides import Comparison, Interrupted, Variant, compare_many, compare_own
from engineroom.ask.digests.cli import LARGEST
from engineroom.ask.digests.counting import Counted
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.servers.providers import dsn

__all__ = ["compare"]

LIMIT_S = 60.0


@click.command()
@click.argument("query", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--versions",
    show_default="5.7,9.7; 9.7 with a side B",
    help="Server versions, with commas between them.",
)
@click.option(
    "--schema",
    type=click.Path(path_type=Path),
    help="SQL file that makes the tables, or a folder of mydumper's.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="SQL file that fills them, or a folder of mydumper's."
)
@click.option("--rows", type=int, help="Fill each table that QUERY names with this many made-up rows.")
@click.option(
    "--statistics",
    "statistics_file",
    type=click.Path(path_type=Path),
    help="What your server knows of the tables, for --rows to follow: see below.",
)
@click.option("--repeats", type=int, default=5, show_default=True, help="Measured runs; the median counts.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of all servers."
)
@click.option(
    "--as-installed", is_flag=True, help="Use each version's own defaults; no setting is made equal."
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(0, min_open=True),
    help="Stop a run after this many seconds. By default 60 if QUERY holds many statements, else never.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Of many statements, measure this many digests.",
)
@click.option(
    "--instructions",
    "are_counted",
    is_flag=True,
    help="Count instructions by function under Valgrind, instead of CPU time; 60 s per run without --limit.",
)
@dsn.option(
    "A test server of your own instead, with the statements' database: mysql://user:password@host:port/database. "
    "Once for each; of one version they are called A, B and so on.",
    envvar="ENGINEROOM_COMPARE_DSN",
    multiple=True,
)
@click.option(
    "--allow-writes",
    is_flag=True,
    help="With --dsn: also what changes rows, each run rolled back; AUTO_INCREMENT goes on.",
)
@click.option(
    "--b-query",
    type=click.Path(path_type=Path),
    help="Compare two sides of one version: QUERY is A, this file B.",
)
@click.option(
    "--b-option", "b_options", multiple=True, metavar="NAME=VALUE", help="An option of side B's server alone."
)
@click.option(
    "--b-sql", type=click.Path(path_type=Path), help="SQL to run on side B alone, such as CREATE INDEX."
)
@click.option("--save", type=click.Path(path_type=Path), help="Keep the one side's results in this file.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with what --save kept.")
@LARGEST
@click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text")
def compare(  # noqa: PLR0917 (click passes them by name)
    query: Path,
    versions: str | None,
    schema: Path | None,
    data: Path | None,
    rows: int | None,
    statistics_file: Path | None,
    repeats: int,
    options: tuple[str, ...],
    as_installed: bool,
    limit_s: float | None,
    top: int,
    are_counted: bool,
    address: tuple[str, ...],
    defaults_file: Path | None,
    allow_writes: bool,
    b_query: Path | None,
    b_options: tuple[str, ...],
    b_sql: Path | None,
    save: Path | None,
    against: Path | None,
    largest_mib: int | None,
    form: str,
) -> None:
    """Run the statement in the file QUERY on each version and show plan, counters, CPU and rows side by side.

    Each version runs as a private server with the settings made equal that differ by default and cost CPU time, or with
    --as-installed as each version comes. What a run changes is rolled back, or the tables are made afresh where that does not undo it. When no
    version runs it the exit code is 1.

    Files may be dumps, packed with gzip or zstd or not, of 64 MiB unless --largest allows more. Triggers, events, accounts and what else the
    comparison does without are skipped with a remark. Made rows hold the constants of the statement's conditions where columns can. Schema,
    rows and statements run as an account without powers, on a server that writes into its own folder alone where the kernel has Landlock
    (Linux 5.13 and later).

    With --statistics a table gets no more rows than it has on your server, and a column as many different values, each as often, as
    indexes and histograms have them; constants are then about as frequent as there. The file is what `mysql --batch -e "..." > FILE` prints, or
    JSON, of any of these, "shop" being your database:

    \b
    SELECT * FROM information_schema.tables WHERE table_schema = 'shop';
    SELECT * FROM information_schema.statistics WHERE table_schema = 'shop';
    SELECT * FROM information_schema.column_statistics WHERE schema_name = 'shop'

    A QUERY of many statements, or a slow log, gives a table by digest: statements that differ in their values alone are one, and
    the one that took longest stands for them. A slow log's digests are sorted by the time that they took there. QUERY may be packed with
    gzip or zstd; - is standard input. Ctrl-C shows what was measured until then, with the exit code 130.

    --instructions says in which functions of the server a statement became dearer from the first version to the last, or from A to B, and
    with --format html draws it as a flame graph. Runs repeat until two agree to 1 %, whatever --repeats says. Valgrind runs servers about
    fifty times slower: some thousand rows are enough.

    With --dsn nothing is made: the statements run over the tables that are there, in sessions that may only read unless --allow-writes is
    given. --save and --against compare one server at two times, such as before and after its upgrade; the file has hashes of the statements,
    plans, counts, times, and answers of up to 1,000 rows.
    """
    if form == "html" and not are_counted:
        raise click.UsageError("--format html goes with --instructions")
    is_own = bool(address) or defaults_file is not None
    of_b: dict[str, object] = {"--b-option": b_options, "--b-sql": b_sql}
    has_b = b_query is not None or any(of_b.values())
    if are_counted:
        _leave_out(
            {"--dsn": is_own, "--save": save, "--against": against},
            "--instructions counts on servers that are started for it",
        )
    if is_own:
        started: dict[str, object] = {
            "--versions": versions,
            "--schema": schema,
            "--data": data,
            "--rows": rows,
            "--statistics": statistics_file,
            "--option": options,
            "--as-installed": as_installed,
            **of_b,
        }
        _leave_out(started, "with --dsn servers and tables are there already")
    else:
        _leave_out({"--allow-writes": allow_writes}, "servers that are started for it may be written to")
    chosen = [
        part.strip()
        for part in (("9.7" if has_b else "5.7,9.7") if versions is None else versions).split(",")
        if part.strip()
    ]
    n_sides = (max(1, len(address)) if is_own else len(chosen)) + has_b
    if save is not None:
        if n_sides != 1:
            raise EngineRoomError(
                f"--save keeps one side, and there are {n_sides}",
                remedy="name one version with --versions, or one server with --dsn",
            )
        refuse_unwritable(save)
    baseline = None if against is None else saved.load(against)
    largest = largest_mib and largest_mib * 2**20
    asked = many.read(None if str(query) == "-" else query, largest)
    other = None if b_query is None else _only(many.read(b_query, largest), b_query.name)
    b = Variant(statement=other, options=dict(map(_option, b_options)), sql=b_sql) if has_b else None
    of_started: dict[str, Any] = {
        "versions": chosen,
        "schema": schema,
        "data": data,
        "rows": rows,
        "statistics_file": statistics_file,
        "largest": largest,
        "options": dict(map(_option, options)),
        "as_installed": as_installed,
    }
    if are_counted:
        _instructions(_only(asked, query.name), form, limit_s=limit_s, b=b, **of_started)
        return
    run: Callable[..., list[Comparison]]
    if is_own:
        own = _attached(address, defaults_file)
        run = functools.partial(compare_own, servers=own, allows_writes=allow_writes, other=other)
    else:
        run = functools.partial(compare_many, b=b, **of_started)
    if isinstance(asked, Counted) or len(asked) > 1:

        def unfit(statement: str) -> str:
            if is_own and not allow_writes and (said := repeating.writes(statement)):
                undone = repeating.may_roll_back(statement)
                return (
                    f"{said} is not run {'without --allow-writes' if undone else 'on a server of your own'}"
                )
            return "" if baseline is None or baseline.knows(statement) else "--against has no result of it"

        digests = asked if isinstance(asked, Counted) else many.counted_once(asked)
        taken = many.choose(digests, top, unfit)
        limit_s = LIMIT_S if limit_s is None else limit_s
        _many(taken, form, functools.partial(run, repeats=repeats, limit_s=limit_s), save, baseline)
        return
    statement = _only(asked, query.name)
    if baseline is not None and not baseline.knows(statement):
        raise EngineRoomError(
            f"{against} has no result of this statement",
            remedy="compare the text that it was saved from; a changed value makes another statement",
        )
    (found,) = _kept(run([statement], repeats=repeats, limit_s=limit_s), save, baseline)
    click.echo(json.dumps(found.json(), indent=2) if form == "json" else files.visible(report.text(found)))
    if not found.measured:
        sys.exit(1)


def _kept(found: list[Comparison], save: Path | None, baseline: saved.Saved | None) -> list[Comparison]:
    """What was found, saved where that is asked for, beside what was saved before."""
    if save is not None and found:
        saved.save(save, found)
    return found if baseline is None else [baseline.beside(each) for each in found]


def _leave_out(given: Mapping[str, object], why: str) -> None:
    """Raise EngineRoomError for options that were given and do not go with others."""
    if names := [name for name, value in given.items() if value is not None and value not in ((), False)]:
        raise EngineRoomError(
            f"{why}: {listing.listed(names)} cannot be given", remedy=f"leave {listing.listed(names)} out"
        )


def _attached(address: Sequence[str], defaults_file: Path | None) -> list[tuple[Any, str | None]]:
    """The servers of the reader's own, each with its default database."""
    return [
        (
            dsn.attach(
                each, "--dsn" if len(address) < 2 else f"--dsn number {i}", defaults_file=defaults_file
            ),
            dsn.database(each),
        )
        for i, each in enumerate(address or (None,), start=1)
    ]


def _instructions(statement: str, form: str, **arguments: Any) -> None:
    counts = instructions.count(statement, **arguments)
    if form == "html":
        click.echo(instructions_page.page(counts))
    elif form == "json":
        click.echo(json.dumps(instructions.json_of(counts), indent=2))
    else:
        click.echo(files.visible(instructions.text(counts)))
    if not counts.profiles:
        sys.exit(1)


def _only(asked: Counted | list[str], name: str) -> str:
    """The one statement of a file, or of a log with one digest."""
    found = [each.statement for each in asked.groups] if isinstance(asked, Counted) else asked
    return sql_text.one_statement(";".join(found), name)


def _many(
    chosen: many.Chosen,
    form: str,
    run: Callable[[Sequence[str]], list[Comparison]],
    save: Path | None,
    baseline: saved.Saved | None,
) -> None:
    found: list[Comparison] = []
    interrupted = ""
    try:
        found = run([each.statement for each in chosen.taken]) if chosen.taken else []
    except Interrupted as stopped:
        found = stopped.compared
        interrupted = f"interrupted: {len(found)} of {len(chosen.taken)} statements were measured"
        chosen = many.interrupted(chosen, len(found))
    found = _kept(found, save, baseline)
    shown = (
        json.dumps(many.json_of(chosen, found), indent=2)
        if form == "json"
        else files.visible(many.text(chosen, found))
    )
    click.echo(shown)
    if interrupted:
        click.echo(interrupted, err=True)
        sys.exit(130)
    if not any(each.measured for each in found):
        sys.exit(1)


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, value
