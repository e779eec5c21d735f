"""`engineroom whatif`: which queue would form first if more clients ran a reader's own transactions."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engineroom import files
from engineroom.ask.whatif import demands, report, transactions
from engineroom.ask.whatif.measuring import measured
from engineroom.ask.whatif.prediction import DESIGNS, predicted
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.machine import presets
from engineroom.servers.providers import dsn

__all__ = ["whatif"]

MOST_CLIENTS = 4096
_PATH = click.Path(path_type=Path)


class _Clients(click.ParamType[tuple[int, ...]]):
    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() and len(part) < 9 and 1 <= int(part) <= MOST_CLIENTS for part in parts):
            self.fail(
                f"{value!r} is no list of numbers from 1 to {MOST_CLIENTS}, as in 1,16,64,256", param, ctx
            )
        return tuple(int(part) for part in parts)


@click.command()
@click.argument("file", required=False, type=_PATH)
@dsn.option(
    "The test server to measure on, with its database: mysql://user:password@host:port/database. It must run on this computer.",
    envvar="ENGINEROOM_WHATIF_DSN",
)
@click.option(
    "--demands",
    "measured_before",
    type=_PATH,
    help="Simulate what was measured before; no server is touched.",
)
@click.option("--save", type=_PATH, help="Keep what was measured in this file, for --demands.")
@click.option(
    "--clients",
    type=_Clients(),
    default="1,16,64,256",
    show_default=True,
    help="Numbers of clients, with commas between them.",
)
@click.option(
    "--machine",
    default="four_sockets_176",
    show_default=True,
    help=f"A machine of the book ({', '.join(presets.names())}), or a file that `engineroom calibrate` wrote.",
)
@click.option(
    "--version",
    "versions",
    multiple=True,
    type=click.Choice([*DESIGNS]),
    help="Only this version; may be repeated.",
)
@click.option(
    "--away-us",
    type=click.FloatRange(1, 10_000_000),
    default=100.0,
    show_default=True,
    help="Mean time between two statements for client and network, in microseconds.",
)
@click.option(
    "--varied",
    type=click.IntRange(0, 100),
    default=6,
    show_default=True,
    help="How many machines with other estimates the range comes from; 0 for no range.",
)
@click.option(
    "--seed",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Seed of the values with which the statements are measured.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def whatif(  # noqa: PLR0917 (click passes them by name)
    file: Path | None,
    address: str | None,
    defaults_file: Path | None,
    measured_before: Path | None,
    save: Path | None,
    clients: tuple[int, ...],
    machine: str,
    versions: tuple[str, ...],
    away_us: float,
    varied: int,
    seed: int,
    form: str,
) -> None:
    """Say which queue forms first in which version, if more clients run your own transactions.

    FILE has the transactions, in TOML: for each kind a [[transaction]] with name, weight, statements, and values, what the :names in the
    statements are drawn from (values.id = {rows = 1000}). With --dsn they are run on that server, one client, some hundred times each, and
    COMMITTED there: name a test server, never one in use. Without --dsn no server is touched. What they ask for is then simulated with
    many clients; what the simulation cannot know is said below its result. A file of one kind:

    \b
        [[transaction]]
        name = "buy"
        weight = 1
        statements = ["INSERT INTO orders (customer, total) VALUES (:c, 3)"]
        values.c = {rows = 1000}
    """
    has_server = address is not None or defaults_file is not None
    if has_server == (measured_before is not None):
        raise EngineRoomError(
            "neither --dsn nor --demands is given"
            if not has_server
            else "--dsn and --demands are both given",
            remedy="measure on a test server with FILE and --dsn, or simulate what was kept with --demands",
        )
    of_machine = presets.load(Path(machine)) if Path(machine).is_file() else presets.preset(machine)
    if measured_before is not None:
        if file is not None or save is not None:
            raise EngineRoomError(
                "--demands has the transactions already",
                remedy="leave FILE and --save out, or measure with --dsn",
            )
        asked = demands.load(measured_before)
    else:
        if file is None:
            raise EngineRoomError(
                "no file of transactions is named", remedy="engineroom whatif FILE --dsn ..."
            )
        kinds = transactions.read(file)
        if save is not None:
            refuse_unwritable(save)
        server = dsn.attach(address, "--dsn", defaults_file=defaults_file)
        asked = measured(server, dsn.database(address), kinds, seed=seed)
        if save is not None:
            asked.save(save)
    found = predicted(
        asked,
        of_machine,
        clients=clients,
        versions=versions or tuple(DESIGNS),
        away_us=away_us,
        varied=varied,
    )
    click.echo(files.visible(report.text(found)) if form == "text" else json.dumps(found.as_dict(), indent=1))
