"""`engineroom binlog`: what is in a file of the binary log, and what it would be with other settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from engineroom import files
from engineroom.ask import binlog_files
from engineroom.ask.binlog_files import report
from engineroom.ask.binlog_files.sizes import LEVELS, parse_key
from engineroom.errors import EngineRoomError

__all__ = ["binlog"]


@click.group()
def binlog() -> None:
    """Files of the binary log."""


@binlog.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--levels",
    default=",".join(map(str, LEVELS)),
    show_default=True,
    help="Levels of zstd to try, with commas between them; empty for none.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="DB.TABLE=N[,N]",
    help="A table's primary key; its columns are counted from 1.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def sizes(file: Path, levels: str, keys: tuple[str, ...], form: str) -> None:
    """Say where the bytes of FILE go: by kind of event, table and column, of MySQL 5.6 to 9.7, compressed or not.

    And what minimal row images and each level of compression would make of its transactions, with the CPU time of compressing. The
    log does not tell primary keys (unless with binlog_row_metadata=FULL): without --key a table's first column is taken. It does not tell
    either which columns an INSERT named, so that inserts stay as they are.
    """
    found = binlog_files.sizes(file, levels=_levels(levels), keys=dict(map(parse_key, keys)))
    click.echo(json.dumps(found.json(), indent=2) if form == "json" else files.visible(report.text(found)))


@binlog.command()
@click.argument("file", type=click.Path(path_type=Path))
def rows(file: Path) -> None:
    """Print each changed row of FILE as a line of JSON, also from compressed transactions.

    Columns are called @1, @2 and so on unless the log has their names; ENUM and SET have the numbers of their members.
    """
    for lines in binlog_files.rows(file):
        sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def _levels(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [part for part in parts if not (part.isascii() and part.isdigit() and len(part) <= 3)]:
        raise EngineRoomError(
            f"{wrong[0]!r} is no level", remedy="write levels of zstd with commas, such as 1,3,10"
        )
    return [int(part) for part in parts]
