"""`engineroom deadlock`: the deadlocks of a log, a status or a server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from engineroom import files
from engineroom.ask.deadlocks import report
from engineroom.ask.deadlocks.reading import lines, reports
from engineroom.errors import EngineRoomError
from engineroom.servers.providers import dsn

__all__ = ["deadlock"]

# What is no deadlock, or no more than its announcement.
_OTHERS = {
    "TRX HAS BEEN WAITING": ("wait", "`engineroom locks` asks a server who is in the way"),
    "*** Victim TRANSACTION": (
        "conflict",
        "a write of another node of the cluster goes first; repeat the transaction",
    ),
    "ransactions deadlock detected": (
        "announcement",
        "a log in JSON leaves the transactions out, that of log_sink_internal has them",
    ),
}


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@dsn.option("A server of your own, for its latest deadlock: mysql://user:password@host:port.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True
)
def deadlock(file: Path | None, address: str | None, defaults_file: Path | None, form: str) -> None:
    """Say who waited for whom in the deadlocks of FILE, who lost and why, and what order would avoid it.

    FILE is an error log with innodb_print_all_deadlocks = ON, or what SHOW ENGINE INNODB STATUS printed, of MySQL 5.5 to 9.7 or MariaDB,
    packed with gzip or zstd or not; - is standard input. Those of the same statements, tables and indexes are counted together. Without FILE
    the server of --dsn or ENGINEROOM_DSN is asked for its latest one; nothing is changed there.
    """
    if file is not None:
        if address is not None:
            raise EngineRoomError("FILE and --dsn are two sources", remedy="name one of them")
        n_lines, others = 0, Counter[str]()

        def counted() -> Iterable[str]:
            nonlocal n_lines
            for line in lines(None if str(file) == "-" else file):
                n_lines += 1
                others.update(mark for mark in _OTHERS if mark in line)
                yield line

        name = "standard input" if str(file) == "-" else file.name
        found = report.patterns(reports(counted()))
        if not found:
            only = " and ".join(
                f"{n:,} {word}{'s' if n > 1 else ''}: {what}"
                for mark, (word, what) in _OTHERS.items()
                if (n := others[mark])
            )
            raise EngineRoomError(
                f"{files.visible(name)} holds no deadlock in {n_lines:,} lines{f', only {only}' if only else ''}",
                remedy="SET GLOBAL innodb_print_all_deadlocks = ON writes them to the error log from then on; the latest one is in"
                " SHOW ENGINE INNODB STATUS",
            )
    else:
        is_own = address is not None or defaults_file is not None
        server = dsn.attach(address, "--dsn", defaults_file=defaults_file) if is_own else dsn.named()
        if server is None:
            raise EngineRoomError(
                "neither FILE nor a server is named", remedy="name a log, - for standard input, or --dsn"
            )
        name = f"MySQL {server.version}, the latest"
        found = report.patterns(reports(str(server.query("SHOW ENGINE INNODB STATUS")[0][2]).splitlines()))
        if not found and form == "text":
            click.echo(f"MySQL {server.version}: no deadlock since it was started")
            return
    if form == "json":
        click.echo(json.dumps(report.as_json(found), indent=2, default=sorted))
    else:
        click.echo(files.visible(report.text(found, name)) if form == "text" else report.page(found, name))
