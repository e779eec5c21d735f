"""`engineroom locks`: who waits for whom, on a server that runs."""

from __future__ import annotations

import click

from engineroom import files
from engineroom.ask.lock_waits.reading import read
from engineroom.errors import EngineRoomError
from engineroom.servers import Server, lifecycle
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import dsn

__all__ = ["locks"]


@click.command()
@click.option(
    "--dsn",
    "address",
    help="A server of your own: mysql://user:password@host:port, or mysql://user:password@/?socket=/path. Better put it into"
    " ENGINEROOM_DSN, where no list of processes shows the password.",
)
@click.option("--version", help="Which of several running servers.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "svg"]), default="text", show_default=True
)
def locks(address: str | None, version: str | None, form: str) -> None:
    """Show the sessions that wait for row locks, and those that they wait for.

    Reads information_schema.innodb_lock_waits up to 5.7 and performance_schema.data_lock_waits from 8.0 on, and changes nothing. Whoever
    waits for nobody stands first: that transaction has to end. On a server with hundreds of thousands of locks the reading itself
    takes latches that others need; do not repeat it every second there.
    """
    found = read(_server(address, version))
    click.echo({"text": lambda: files.visible(found.text()), "json": found.json, "svg": found.svg}[form]())


def _server(address: str | None, version: str | None) -> Server:
    if address is not None:
        return dsn.attach(address, "--dsn")
    own = dsn.named()
    if own is not None and version is None:
        return own
    running = [
        server
        for server in lifecycle.running()
        if server.shared and (version is None or resolve(version).accepts(server.version))
    ]
    if len(running) == 1:
        return running[0]
    if running:
        listed = ", ".join(server.version for server in running)
        raise EngineRoomError(f"several servers run: {listed}", remedy="choose one with --version")
    what = "server" if version is None else f"{version} server"
    raise EngineRoomError(
        f"no shared {what} runs",
        remedy="name your own with --dsn or ENGINEROOM_DSN, or `engineroom server start 9.7`",
    )
