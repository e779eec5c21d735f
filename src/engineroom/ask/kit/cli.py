"""`engineroom kit`: the loads of the book's sixteen processors, to be measured on a computer that has nothing of the book."""

from __future__ import annotations

from pathlib import Path

import click

from engineroom.ask.kit import packing, reading
from engineroom.runs import latest

__all__ = ["kit"]

_PATH = click.Path(path_type=Path)


@click.group()
def kit() -> None:
    """Measure servers in a crowd on another computer, and see it beside the book's."""


@kit.command()
@click.argument("file", type=_PATH)
@click.option(
    "--servers",
    help=f"With commas between them; by default those of {', '.join(packing.RECORDED)} that this machine can unpack.",
)
def make(file: Path, servers: str | None) -> None:
    """Pack servers and SysBench into FILE, of at most 64 MB: kit.tar.xz.

    It takes some minutes. The other computer needs Linux on x86-64 and Python 3.8: no root, no network, and nothing is installed there. With the
    usual sizes it needs 6 GB of memory, and some more for each client. Our kernels are not in it.

    The servers and SysBench are programs under the GPL: who passes a kit on passes their licences on, too.
    """
    sizes = packing.make(file, packing.here(servers.split(",") if servers is not None else ()))
    for part, size in sizes.items():
        click.echo(f"{size / 1e6:6.1f} MB  {part}")
    click.echo(f"{sum(sizes.values()) / 1e6:6.1f} MB  {file}, of {packing.LARGEST_BYTES / 1e6:.0f} at most")
    click.echo(
        f"There, ten minutes: tar xf {file.name} && {packing.TOP}/run   (./run --help; without xz: python3 -m tarfile -e {file.name})"
    )
    click.echo("Here again: engineroom kit read FOLDER, the one that it writes")


@kit.command()
@click.argument("folder", type=_PATH)
@click.option("--format", "form", type=click.Choice(["text", "html", "csv"]), default="text")
def read(folder: Path, form: str) -> None:
    """Show the FOLDER that a kit's `run` wrote beside the book's recording on sixteen processors.

    A row of the book stands beside one with as many clients per processor. The page of --format html has the figure of both, --format csv the
    columns of the recording.
    """
    run, book = reading.read(folder), latest("own-crowd", "live")
    if form == "csv":
        click.echo(run.table.to_csv(index=False, lineterminator="\n"), nl=False)
    else:
        click.echo({"text": reading.text, "html": reading.html}[form](run, book))
