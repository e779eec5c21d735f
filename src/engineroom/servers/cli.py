"""`engineroom server`: servers that stay until they are stopped."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sys
from typing import Any

import click

from engineroom import files, paths
from engineroom.errors import EngineRoomError
from engineroom.servers import lifecycle
from engineroom.servers.catalogue import catalogue, resolve
from engineroom.servers.providers import PROVIDERS
from engineroom.servers.server import Server, lost_connection

__all__ = ["server"]

SOME_FAILED = 3  # make goes on without those, and tries them again next time
AS_JSON = click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")


@click.group()
def server() -> None:
    """List, start, query and stop MySQL servers."""


@server.command("list")
@AS_JSON
def list_(form: str) -> None:
    """The servers that the book measures, and who can run them here."""
    rows: list[dict[str, Any]] = []
    for version, entry in catalogue().items():
        reasons = lifecycle.refusals(resolve(version))
        rows.append(
            {
                "version": version,
                "release": entry.unpack.version if entry.unpack else None,
                "providers": [name for name, reason in reasons.items() if reason is None],
                "note": entry.note
                + (
                    f"; {entry.unpack.download_megabytes} MB, fetched on demand"
                    if entry.unpack and entry.is_on_demand
                    else ""
                ),
            }
        )
    if form == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        providers = ", ".join(row["providers"]) or "nothing here runs it: see `engineroom doctor`"
        click.echo(f"{row['release'] or row['version']:<8} {providers:<20} {row['note']}".rstrip())


@server.command()
@click.argument("version")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the server."
)
@click.option("--port", type=click.IntRange(1, 65535), help="A TCP port of 127.0.0.1; a free one by default.")
@click.option("--provider", type=click.Choice(list(PROVIDERS)), help="Where the server comes from.")
@click.option("--debug", is_flag=True, help="The debug build, where an archive has one: 8.0.33 (554 MB).")
def start(
    version: str, options: tuple[str, ...], port: int | None, provider: str | None, debug: bool
) -> None:
    """Start a server that stays until `stop`, or find the one that runs."""
    chosen: dict[str, str | int] = dict(_option(text) for text in options)
    if port is not None:
        chosen["port"] = port
    running = lifecycle.start(version, options=chosen, provider=provider, shared=True, debug=debug)
    click.echo(
        f"{running.called}{', debug build,' if running.is_debug else ''} by {running.provider} answers"
    )
    if running.note:
        click.echo(f"  note      {running.note}")
    if running.socket:
        click.echo(f"  socket    {running.socket}")
    click.echo(f"  address   {running.host}:{running.port}")
    click.echo(f"  user      {running.user}, password {running.password}")
    several = len(lifecycle.shared(version)) > 1
    click.echo(
        f"  try       engineroom server sql {f'{version}:{running.port}' if several else version} 'select version()'"
    )


@server.command()
@click.argument("version", required=False)
@click.option("--all", "every", is_flag=True, help="Every server that `start` started.")
def stop(version: str | None, every: bool) -> None:
    """Stop a server that `start` started, and remove its data."""
    if (version is None) != every:
        raise click.UsageError("name a version, or say --all")
    stopped = 0
    for found in lifecycle.shared(version):
        found.stop()
        stopped += 1
        click.echo(f"{found.called} stopped")
    if not stopped:
        click.echo("no such server was running; `engineroom server status` lists those that are")


@server.command()
@AS_JSON
def status(form: str) -> None:
    """The servers that run now."""
    rows = [
        {
            "version": found.version,
            "provider": found.provider,
            "kind": "shared" if found.shared else "private",
            "alive": found.alive(),
            "address": f"{found.host}:{found.port}",
            "socket": found.socket,
            "pid": found.pid,
        }
        for found in lifecycle.running()
    ]
    if form == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        click.echo("no server runs; `engineroom server start 9.7` starts one")
    for row in rows:
        state = "answers" if row["alive"] else "died: `engineroom server stop` removes it"
        click.echo(f"{row['version']:<8} {row['provider']:<10} {row['kind']:<8} {row['address']:<16} {state}")


@server.command()
@click.argument("versions", nargs=-1)
@click.option(
    "--available",
    is_flag=True,
    help="Every version that runs here. If one fails, the others go on, and the exit code is 3.",
)
def fetch(versions: tuple[str, ...], available: bool) -> None:
    """Download and initialise servers now, so that later starts need no network."""
    if bool(versions) == available:
        raise click.UsageError("name versions, or say --available")
    failed, skipped = False, list[str]()
    unasked = (name for name, entry in catalogue().items() if not entry.is_on_demand)
    for version in versions or unasked:
        request = resolve(version)
        if available and not lifecycle.runnable(version):
            skipped.append(version)
            continue
        try:
            provider = lifecycle.fetch(request)
        except EngineRoomError as error:
            if not available:
                raise
            click.echo(
                files.visible(f"{request.entry.product} {version} is not available now: {error}"), err=True
            )
            failed = True
            continue
        click.echo(f"{request.entry.product} {request.name} is ready, by {provider}")
    if skipped:
        click.echo(f"Not on this machine: MySQL {', '.join(skipped)} (engineroom doctor says why)", err=True)
    if failed:
        sys.exit(SOME_FAILED)


@server.command()
def clean() -> None:
    """Stop every shared server and remove all downloads and datadirs from the cache."""
    for found in lifecycle.shared(None):
        found.stop()
    private = [found for found in lifecycle.running() if found.alive()]
    if private:
        raise EngineRoomError(
            f"{len(private)} private server(s) still run in notebooks or scripts", remedy="end those first"
        )
    for name in ("servers", "templates", "instances", "failed"):
        shutil.rmtree(paths.cache() / name, ignore_errors=True)
    click.echo("the cache is empty")


@server.command()
@click.argument("version")
@click.argument("statement")
@click.option("--database", help="The database to use.")
def sql(version: str, statement: str, database: str | None) -> None:
    """Run one statement and print the rows of each result, with tabs between columns and escapes as those of `mysql --batch`.

    One of several servers of a VERSION is named by its port: 9.7:3307.
    """
    found = lifecycle.chosen(version)
    if found is not None:
        _print(found, statement, database)
        return
    with lifecycle.start(version, confined=True) as private:
        click.echo(
            f"no shared {version} server runs; MySQL {private.version} runs for this statement", err=True
        )
        _print(private, statement, database)


def _print(found: Server, statement: str, database: str | None) -> None:
    import mysql.connector

    try:
        with contextlib.closing(found.connect(database)) as connection:
            # Raw: a TIME, a DECIMAL or a DOUBLE is printed as the server writes it.
            cursor = connection.cursor(raw=True)
            cursor.execute(statement)
            more = True
            while more:  # a procedure has several results
                if cursor.with_rows:
                    for row in [cursor.column_names, *cursor.fetchall()]:
                        click.echo("\t".join("NULL" if value is None else _text(value) for value in row))
                more = bool(cursor.nextset())
    except mysql.connector.Error as error:
        raise EngineRoomError(f"{found.called} says: {error}", remedy=_remedy(error, found.series)) from error


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": "\\0"})


def _text(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes | bytearray) else str(value)
    text = text.translate(_ESCAPES)
    # A program gets what the server sent; a terminal is not to be steered by it.
    return files.visible(text) if sys.stdout.isatty() else text


# By the server's error number; whatever is not here is the statement's fault.
_REMEDIES = {
    (1046,): "name the database with --database",
    (1040, 1203): "end other clients of this server, or wait until they are done",
    (1037, 1038, 1041, 1135): "free memory, or ask for less of it",
    (1205, 1213): "run it again: another transaction held what this one needs",
    (1317, 3024): "run it again, or give it more time",
    (1021, 1114): "free disk space, or let the statement keep less",
}


def _remedy(error: Any, series: str) -> str:
    """What to do about an error of the server, by what kind it is."""
    if lost_connection(error):
        return f"look whether it runs with `engineroom server status`; `engineroom server start {series}` starts one"
    # The operating system's number for a full disk stands in the text of several errors.
    errno = 1021 if re.search(r"(?i)\b(?:error|errno|errcode):? 28\b", str(error)) else error.errno
    return next((remedy for errnos, remedy in _REMEDIES.items() if errno in errnos), "correct the statement")


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, value
