"""`engineroom compare`: a reader's own statement on several generations of the server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from engineroom import files, sql_text
from engineroom.ask.compare import instructions, instructions_page, many, report
from engineroom.ask.compare.sides import Comparison, Interrupted, compare_many
from engineroom.ask.compare.sides import compare as compared
from engineroom.ask.digests.cli import LARGEST
from engineroom.ask.digests.counting import Counted

__all__ = ["compare"]

LIMIT_S = 60.0


@click.command()
@click.argument("query", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--versions", default="5.7,9.7", show_default=True, help="Server versions, with commas between them."
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
@LARGEST
@click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text")
def compare(  # noqa: PLR0917 (click passes them by name)
    query: Path,
    versions: str,
    schema: Path | None,
    data: Path | None,
    rows: int | None,
    repeats: int,
    options: tuple[str, ...],
    as_installed: bool,
    limit_s: float | None,
    top: int,
    are_counted: bool,
    largest_mib: int | None,
    form: str,
) -> None:
    """Run the statement in the file QUERY on each version and show plan, counters, CPU and rows side by side.

    Each version runs as a private server with the settings made equal that differ by default and cost CPU time, or with
    --as-installed as each version comes. What a run changes is rolled back, or the tables are made afresh where that does not undo it. When no
    version runs it the exit code is 1.

    Files may be dumps. Triggers, events, accounts and what else the comparison does without are skipped with a remark. Made rows hold the
    constants of the statement's conditions where columns can. Schema, rows and statements run as an account without powers, on a server that
    writes into its own folder alone where the kernel has Landlock (Linux 5.13 and later).

    A QUERY of many statements, or a slow log, gives a table by digest: statements that differ in their values alone are one, and
    the one that took longest stands for them. A slow log's digests are sorted by the time that they took there. QUERY may be packed with
    gzip or zstd; - is standard input. Ctrl-C shows what was measured until then, with the exit code 130.

    --instructions says in which functions of the server a statement became dearer from the first version to the last, and with --format
    html draws it as a flame graph. Runs repeat until two agree to 1 %, whatever --repeats says. Valgrind runs servers about fifty times
    slower: some thousand rows are enough.
    """
    if form == "html" and not are_counted:
        raise click.UsageError("--format html goes with --instructions")
    arguments: dict[str, Any] = {
        "versions": [part.strip() for part in versions.split(",") if part.strip()],
        "schema": schema,
        "data": data,
        "rows": rows,
        "repeats": repeats,
        "options": dict(map(_option, options)),
        "as_installed": as_installed,
    }
    asked = many.read(None if str(query) == "-" else query, largest_mib and largest_mib * 2**20)
    if are_counted:
        del arguments["repeats"]  # counts repeat until they agree
        _instructions(_only(asked, query.name), form, limit_s=limit_s, **arguments)
        return
    if isinstance(asked, Counted) or len(asked) > 1:
        digests = asked if isinstance(asked, Counted) else many.counted_once(asked)
        _many(digests, top, form, limit_s=LIMIT_S if limit_s is None else limit_s, **arguments)
        return
    statement = _only(asked, query.name)
    found = compared(statement, limit_s=limit_s, **arguments)
    click.echo(json.dumps(found.json(), indent=2) if form == "json" else files.visible(report.text(found)))
    if not found.measured:
        sys.exit(1)


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


def _many(digests: Counted, top: int, form: str, **arguments: Any) -> None:
    chosen = many.choose(digests, top)
    found: list[Comparison] = []
    interrupted = ""
    try:
        found = compare_many([each.statement for each in chosen.taken], **arguments) if chosen.taken else []
    except Interrupted as stopped:
        found = stopped.compared
        interrupted = f"interrupted: {len(found)} of {len(chosen.taken)} statements were measured"
        chosen = many.interrupted(chosen, len(found))
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
