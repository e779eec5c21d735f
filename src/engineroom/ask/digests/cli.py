"""`engineroom digest`: where the time of a slow log went, without a server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from engineroom import files
from engineroom.ask.digests import report, slow_log
from engineroom.ask.digests.counting import GROUPS, counted
from engineroom.errors import EngineRoomError

__all__ = ["LARGEST", "digest"]

_MIB = 2**20
_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
LARGEST = click.option(
    "--largest",
    "largest_mib",
    type=click.IntRange(1),
    help=f"MiB of one statement of a log, which is cut there (by default {slow_log.LARGEST_BYTES // _MIB}), or of any "
    f"other file, which is refused beyond (by default {files.LARGEST_BYTES // _MIB}).",
)


@click.command()
@click.argument(
    "logs", metavar="LOG...", type=click.Path(path_type=Path, allow_dash=True), nargs=-1, required=True
)
@click.option(
    "--by", type=click.Choice(list(GROUPS)), default="digest", show_default=True, help="What counts as one."
)
@click.option("--since", type=_TIME, help="Count events from this time on, as the log prints times.")
@click.option("--until", type=_TIME, help="Count events before this time.")
@click.option(
    "--top", type=click.IntRange(1), default=20, show_default=True, help="Show so many lines; JSON has all."
)
@LARGEST
@click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text")
def digest(  # noqa: PLR0917 (click passes them by name)
    logs: tuple[Path, ...],
    by: str,
    since: datetime | None,
    until: datetime | None,
    top: int,
    largest_mib: int | None,
    form: str,
) -> None:
    """Say where the time of slow logs went: count, share, percentiles, time in locks, and rows examined against rows sent.

    A LOG is of MySQL, Percona Server or MariaDB, of any size, packed with gzip or zstd or not; - is standard input. Statements that differ
    in their values alone are one digest, by the rules of pt-query-digest. CALL, COMMIT and administrator commands have their time as
    well. What is damaged is skipped, and counted.
    """
    largest = largest_mib * _MIB if largest_mib else slow_log.LARGEST_BYTES
    skipped = Counter[str]()
    found = counted(
        (event for log in logs for event in _events(log, skipped, largest)),
        skipped,
        by=by,
        since=since.isoformat(" ") if since else "",
        until=until.isoformat(" ") if until else "",
    )
    name = ", ".join("standard input" if str(log) == "-" else click.format_filename(log) for log in logs)
    if not found.events:
        raise EngineRoomError(
            " ".join([f"{name} holds no event of a slow log at these times.", *report.remarks(found)]),
            remedy="name a file that slow_query_log_file names; engineroom compare takes files of statements",
        )
    if form == "json":
        click.echo(json.dumps(found.json(), indent=2))
    elif form == "html":
        click.echo(report.html(found, name, top))
    else:
        click.echo(files.visible(report.text(found, name, top)))


def _events(log: Path, skipped: Counter[str], largest: int) -> Iterator[slow_log.Event]:
    with files.Lines(None if str(log) == "-" else log, "slow log") as lines:
        yield from slow_log.events(lines, skipped, largest=largest)
