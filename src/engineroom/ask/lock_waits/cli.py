"""`engineroom locks`: who waits for whom on a running server."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from engineroom import files
from engineroom.ask.lock_waits.reading import MANY_ROWS, read
from engineroom.errors import EngineRoomError
from engineroom.servers import Server, lifecycle
from engineroom.servers.providers import dsn
from engineroom.servers.server import lost_connection

__all__ = ["locks"]


@click.command()
@dsn.option("A server of your own: mysql://user:password@host:port, or mysql://user:password@/?socket=/path.")
@click.option("--version", help="Which of several running servers: 9.7, or 9.7:PORT.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "svg"]), default="text", show_default=True
)
@click.option(
    "--watch",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Look again after so many seconds, and never for more than a tenth of the time, until Ctrl-C. JSON: a line each time.",
)
@click.option("--history", is_flag=True, help="Also whose view holds the history list back from purge.")
@click.option(
    "--all-locks", is_flag=True, help=f"Also the locks of transactions with over {MANY_ROWS:,} rows locked."
)
def locks(
    *,
    address: str | None,
    defaults_file: Path | None,
    version: str | None,
    form: str,
    watch: float | None,
    history: bool,
    all_locks: bool,
) -> None:
    """Show the sessions that wait for locks, and those that they wait for: rows, tables, the server, names.

    Whoever waits for nobody stands first, with the statements that end it and what they lose. Nothing is changed.

    Row locks are read from performance_schema.data_lock_waits, up to 5.7 from information_schema.innodb_lock_waits, and only when a
    transaction waits. The server builds a row for each pair of waiters on a record and, in data_locks, one for each lock, while it holds up
    who wants a lock; of many waiters no pairs are asked for, and transactions with very many locks are left out and named. Metadata locks
    are in performance_schema.metadata_locks, which 5.7 fills only when told to; 5.6 shows just who waits. --history reads SHOW ENGINE INNODB
    STATUS, 1 MB at most. In JSON, what has no session has a number below 0.
    """
    import mysql.connector

    server = _server(address, defaults_file, version)
    while True:
        started = time.monotonic()
        try:
            found = read(server, history=history, all_locks=all_locks)
        except mysql.connector.Error as error:
            if not lost_connection(error):
                raise
            raise EngineRoomError(
                f"the server does not answer: {error}", remedy="see whether it runs, and try again"
            ) from error
        took_s = time.monotonic() - started
        if watch and form == "text":
            if sys.stdout.isatty():
                click.clear()
            click.echo(f"{datetime.now(tz=UTC):%H:%M:%S} UTC, read in {took_s:.1f} s")
        if form == "json":
            click.echo(found.json(indent=None if watch else 2))
        else:
            click.echo(files.visible(found.text()) if form == "text" else found.svg())
        if not watch:
            return
        time.sleep(max(watch, 9 * took_s))


def _server(address: str | None, defaults_file: Path | None, version: str | None) -> Server:
    if address is not None or defaults_file is not None:
        return dsn.attach(address, "--dsn", defaults_file=defaults_file)
    own = dsn.named()
    if own is not None and version is None:
        return own
    if running := lifecycle.chosen(version):
        return running
    what = "server" if version is None else f"{version} server"
    raise EngineRoomError(
        f"no shared {what} runs",
        remedy="name your own with --dsn or ENGINEROOM_DSN, or `engineroom server start 9.7`",
    )
