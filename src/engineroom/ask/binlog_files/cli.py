"""`engineroom binlog`: what is in a file of the binary log, and what it would be with other settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from engineroom.ask import binlog_files
from engineroom.ask.binlog_files import report
from engineroom.ask.binlog_files.sizes import LEVELS, FileSizes, parse_key, together
from engineroom.errors import EngineRoomError
from engineroom.files import visible as printable

__all__ = ["binlog"]


@click.group()
def binlog() -> None:
    """Files of the binary log, relay logs too: as they are, compressed (.gz, .zst), or - for standard input."""


FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))


@binlog.command()
@FILES
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
@click.option(
    "--exact",
    "is_exact",
    is_flag=True,
    help="Compress all of a file, also where a sample would do (above 64 MiB).",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def sizes(files: tuple[Path, ...], levels: str, keys: tuple[str, ...], is_exact: bool, form: str) -> None:
    """Say where the bytes of FILEs go: by kind of event, table, column and minute, of MySQL 5.6 to 9.7 and MariaDB, compressed or not.

    Which transactions are the largest and which took longest, with GTID and position. And what minimal row images and each level of compression would make of its transactions, with the CPU time of compressing. The
    log does not tell primary keys (unless with binlog_row_metadata=FULL): without --key a table's first column is taken. It does not tell
    either which columns an INSERT named, so that inserts stay as they are.
    """
    tried, of_tables = _levels(levels), dict(map(parse_key, keys))
    found: list[FileSizes] = []
    damaged = _each(
        files,
        lambda file: found.append(binlog_files.sizes(file, levels=tried, keys=of_tables, is_exact=is_exact)),
    )
    known = {table["table"] for one in found for table in one.tables}
    if found and (unknown := sorted(set(of_tables) - known)):
        raise EngineRoomError(
            f"there are no changes of {unknown[0]}",
            remedy="name tables as database.table; those that changed: " + ", ".join(sorted(known)),
        )
    if form == "json" and len(files) > 1:
        every = {"files": [one.json() for one in found], "damaged": {e.problem: e.remedy for e in damaged}}
        click.echo(json.dumps(every | ({"together": together(found).json()} if found else {}), indent=2))
    elif form == "json" and found:
        click.echo(json.dumps(found[0].json(), indent=2))
    elif found:
        click.echo(printable(report.text(found)))
    _tell(damaged)


@binlog.command()
@FILES
def rows(files: tuple[Path, ...]) -> None:
    """Print each changed row of FILEs as a line of JSON, also from compressed transactions, with time (UTC), GTID and position.

    Columns are called @1, @2 and so on unless the log has their names; ENUM and SET have the numbers of their members.
    """

    def write(file: Path) -> None:
        for lines in binlog_files.rows(file, is_named=len(files) > 1):
            sys.stdout.buffer.write(lines)

    damaged = _each(files, write)
    sys.stdout.buffer.flush()
    _tell(damaged)


def _each(files: Sequence[Path], read: Callable[[Path], None]) -> list[EngineRoomError]:
    """Read all; a file that cannot be costs itself alone."""
    damaged = []
    for file in files:
        try:
            read(file)
        except EngineRoomError as error:
            damaged.append(error)
    return damaged


def _tell(damaged: Sequence[EngineRoomError]) -> None:
    if damaged:
        raise EngineRoomError(
            "\n".join(dict.fromkeys(error.problem for error in damaged)), remedy=damaged[0].remedy
        )


def _levels(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [part for part in parts if not (part.isascii() and part.isdigit() and len(part) <= 3)]:
        raise EngineRoomError(
            f"{wrong[0]!r} is no level", remedy="write levels of zstd with commas, such as 1,3,10"
        )
    return [int(part) for part in parts]
