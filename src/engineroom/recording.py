"""`engineroom record`: measure again and add the runs to `data/recorded`."""

from __future__ import annotations

import importlib
import multiprocessing
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import click

from engineroom import chapters, provenance, runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run

__all__ = ["recipes", "record"]

_QUIET_LOAD = 0.5


def recipes() -> dict[tuple[str, str, str], Callable[[], Run | list[Run]]]:
    """What can be recorded: (chapter, figure, method) -> how.

    Each chapter's experiments have a RECORD: figure and method -> a function without arguments that returns its Run.
    """
    found = {}
    for chapter in (page.word for page in chapters.recorded()):
        recorded: Mapping[tuple[str, str], Callable[[], Run | list[Run]]] = importlib.import_module(
            f"engineroom.experiments.{chapter}"
        ).RECORD
        found.update({(chapter, *key): how for key, how in recorded.items()})
    return found


@click.command()
@click.argument("figures", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Record every figure of every chapter.")
@click.option("--method", type=click.Choice(runs.METHODS), help="Only the runs of this method.")
@click.option("--list", "listing", is_flag=True, help="Say what can be recorded and do nothing.")
@click.option(
    "--vary",
    is_flag=True,
    help="Simulated runs of the redo log also with each estimated number of the machine at 0.5 and 1.5 times its value.",
)
def record(figures: tuple[str, ...], everything: bool, method: str | None, listing: bool, vary: bool) -> None:
    """Measure FIGURES (ids, or chapter words) again and keep the runs; nothing recorded is ever overwritten."""
    known = recipes()
    if unknown := [name for name in figures if not any(name in key[:2] for key in known)]:
        raise EngineRoomError(
            f"nothing to record under {', '.join(map(repr, unknown))}",
            remedy="`engineroom record --list` shows what there is",
        )
    chosen = {
        key: how
        for key, how in known.items()
        if (everything or listing or set(figures) & set(key[:2])) and method in (None, key[2])
    }
    if not chosen:
        raise EngineRoomError("nothing was chosen", remedy="name figures or chapters, or pass --all")
    for doubt in [] if listing else _doubts():
        click.echo(f"{doubt}: a run recorded now should not go into the repository", err=True)
    for (chapter, figure, by), how in chosen.items():
        click.echo(f"{figure} by {by} ({chapter})", nl=listing)
        if listing:
            continue
        start = time.monotonic()
        made = how()
        if vary and by == "sim" and isinstance(made, Run):
            made = _varied(made, how)
        kept = [runs.save(run, chapter=chapter) for run in (made if isinstance(made, list) else [made])]
        click.echo(f": {time.monotonic() - start:.0f} s, {', '.join(path.name for path in kept)}")


def _varied(made: Run, how: Callable[..., Any]) -> Run:
    from engineroom.experiments.redo_log import MACHINE
    from engineroom.machine.presets import preset
    from engineroom.machine.variations import varied

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        return varied(made, how, preset(MACHINE), executor=executor)


def _doubts() -> list[str]:
    """What a reviewer would hold against a run that begins now."""
    machine = provenance.machine()
    doubts = []
    if str(machine["revision"]).endswith("+changes"):
        doubts.append(f"the code has changes that are not committed ({machine['revision']})")
    if machine["load"][0] > _QUIET_LOAD:
        doubts.append(f"others use the machine (load {machine['load'][0]:.1f})")
    return doubts
