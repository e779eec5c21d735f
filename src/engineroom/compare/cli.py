"""`engineroom compare`: a reader's own statement on several generations of the server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from engineroom import files, sql_text
from engineroom.compare import report
from engineroom.compare.sides import compare as compared

__all__ = ["compare"]


@click.command()
@click.argument("query", type=click.Path(path_type=Path))
@click.option("--versions", default="5.7,9.7", show_default=True, help="Server versions, with commas.")
@click.option("--schema", type=click.Path(path_type=Path), help="SQL file that makes the tables.")
@click.option("--data", type=click.Path(path_type=Path), help="SQL file that fills them.")
@click.option("--rows", type=int, help="Fill each table of the schema with this many made rows.")
@click.option("--repeats", type=int, default=5, show_default=True, help="Measured runs; the best counts.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of all servers."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def compare(  # noqa: PLR0917 (click passes them by name)
    query: Path,
    versions: str,
    schema: Path | None,
    data: Path | None,
    rows: int | None,
    repeats: int,
    options: tuple[str, ...],
    form: str,
) -> None:
    """Run the statement in the file QUERY on each version and show plan, counters, CPU and rows side by side.

    Each version runs as a private server with the settings made equal that differ by default and cost CPU time. A statement that
    changes rows is rolled back after each run. When no version runs it the exit code is 1.
    """
    found = compared(
        sql_text.one_statement(sql_text.read(query, "query"), query.name),
        versions=[part.strip() for part in versions.split(",") if part.strip()],
        schema=schema,
        data=data,
        rows=rows,
        repeats=repeats,
        options=dict(map(_option, options)),
    )
    click.echo(json.dumps(found.json(), indent=2) if form == "json" else files.visible(report.text(found)))
    if not found.measured:
        sys.exit(1)


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, value
