"""`engineroom record`: measure again and add the runs to `data/recorded`."""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import click

from engineroom import chapters, runs
from engineroom.errors import EngineRoomError
from engineroom.ledger import claims, rows
from engineroom.progress import bar
from engineroom.runs import Run, provenance, quiet

if TYPE_CHECKING:
    from engineroom.simulating.again import Asked as AskedAgain
    from engineroom.simulating.experiment import Experiment

__all__ = ["recipes", "record"]

# So long the average of a minute takes to fall from what one figure leaves.
WAIT_S = 180

Recipe = Callable[..., Run | list[Run]]
# A series, the column of x, and those of its x that are read: None for all.
Asked = tuple[str, str, frozenset[Any] | None]


def recipes() -> dict[tuple[str, str, str], Recipe]:
    """What can be recorded: (chapter, figure, method) -> how.

    Each chapter's experiments have a RECORD: figure and method -> a function that returns its Run and needs no arguments; by the
    method `sim` an `engineroom.simulating.experiment.Experiment`, which is also given an executor. A key that begins with another chapter's
    word is recorded there.
    """
    found = {}
    for page in chapters.recorded():
        recorded: Mapping[tuple[str, ...], Recipe] = importlib.import_module(
            page.module("experiments")
        ).RECORD
        for key, how in recorded.items():
            word, figure, method = (page.word, *key)[-3:]
            found[word, figure, method] = how
    other_machine = ("machine", "own-machine-configuration", "sim")
    return {
        **found,
        other_machine: functools.partial(_configuration, found[other_machine], found),
    }


def _configuration(
    how: Recipe, known: Mapping[tuple[str, str, str], Recipe], *, executor: Executor | None = None
) -> Run | list[Run]:
    """What the claims of all simulated figures of the ledger read, simulated anew on other machines."""
    compared = runs.latest("own-machine-real", "host")
    assert compared is not None, "no comparison with real threads is recorded"
    return how(asked=_simulated_in_ledger(known), compared=compared, executor=executor)


def _simulated_in_ledger(
    known: Mapping[tuple[str, str, str], Recipe],
) -> list[AskedAgain]:
    """The simulated figures of the ledger that have a recording; of each the points that its claims read."""
    from engineroom.simulating.again import Asked
    from engineroom.simulating.experiment import Experiment, Together

    asked = []
    for (_, figure, by), each in known.items():
        if by != "sim" or figure not in claims.figures():
            continue
        newest = runs.latest(figure, by)
        if newest is None:
            continue
        if isinstance(each, Together):
            where = _claimed(each.whole.points.get("series", ()), each.whole, each.figures)
        elif isinstance(each, Experiment):
            where = _claimed(newest.table["series"], each, {figure: None})
        else:
            continue
        asked.append(Asked(each, where))
    return asked


def made_together() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """(chapter, figure, method) of a recipe -> the other figures that it makes in the same sitting: each chapter's `MADE_TOGETHER`."""
    found = {}
    for page in chapters.recorded():
        also: Mapping[tuple[str, str], tuple[str, ...]] = getattr(
            importlib.import_module(page.module("experiments")), "MADE_TOGETHER", {}
        )
        found.update({(page.word, *key): figures for key, figures in also.items()})
    return found


@click.command()
@click.argument("figures", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Record every figure of every chapter.")
@click.option("--method", type=click.Choice(runs.METHODS), help="Only the runs of this method.")
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="VERSION",
    help="Measure this version, as `engineroom server start` takes it, in the place of the book's; may be given several times.",
)
@click.option("--list", "listing", is_flag=True, help="Say what can be recorded and do nothing.")
@click.option(
    "--vary",
    is_flag=True,
    help="Repeat simulated runs with each estimated number of the machine, and each number of the load, at 0.5 and 1.5 times its value.",
)
@click.option(
    "--jobs", type=click.IntRange(1), help="How many simulations run at once; by default one per processor."
)
@click.option(
    "--executor",
    "address",
    metavar="ADDRESS",
    help="Simulate on the Dask cluster whose scheduler listens there: tcp://scheduler:8786.",
)
def record(  # noqa: PLR0917 (click passes them by name)
    figures: tuple[str, ...],
    everything: bool,
    method: str | None,
    servers: tuple[str, ...],
    listing: bool,
    vary: bool,
    jobs: int | None,
    address: str | None,
) -> None:
    """Measure FIGURES (ids, or chapter words) again and keep the runs; nothing recorded is ever overwritten."""
    known, also = recipes(), made_together()
    names = {key: {*key[:2], *also.get(key, ())} for key in known}
    if unknown := sorted(set(figures) - set().union(*names.values())):
        raise _unknown(unknown, set().union(*names.values()))
    chosen = {
        key: how
        for key, how in known.items()
        if (everything or listing or set(figures) & names[key]) and method in (None, key[2])
    }
    if not chosen:
        raise EngineRoomError("nothing was chosen", remedy="name figures or chapters, or pass --all")
    if servers:
        chosen = {key: _on(servers, key, how) for key, how in chosen.items()}
    if listing:
        for key in chosen:
            click.echo(_said(key, also))
        return
    for doubt in _doubts():
        click.echo(f"{doubt}: a run recorded now should not go into the repository", err=True)
    with contextlib.ExitStack() as stack:
        executor = None
        if any(by == "sim" for _, _, by in chosen):
            from engineroom.simulating import executors

            executor = stack.enter_context(executors.chosen(address=address, jobs=jobs))
        is_quiet = True
        for at, (key, how) in enumerate(chosen.items()):
            chapter, figure, by = key
            if at and by != "sim" and is_quiet:
                is_quiet = _waited_for_quiet()
            click.echo(_said(key, also), nl=False)
            start = time.monotonic()
            try:
                made = how() if by != "sim" else _simulated(how, executor, vary=vary)
            except BaseException:
                click.echo()  # behind the name of the figure
                raise
            made = made if isinstance(made, list) else [made]
            if {run.figure for run in made} != {figure, *also.get(key, ())}:
                raise EngineRoomError(
                    f"the recipe of {figure} made {', '.join(run.figure for run in made)}, and nothing was kept",
                    remedy=f"MADE_TOGETHER in the experiments of {chapter} has to say what it makes",
                )
            kept = [runs.save(run, chapter=chapter) for run in made]
            click.echo(f": {time.monotonic() - start:.0f} s, {', '.join(path.name for path in kept)}")
            for busy in dict.fromkeys(run.why_busy for run in made if run.why_busy is not None):
                click.echo(f"kept, but it decides no verdict: {busy}", err=True)
    rows.keep()


def _on(servers: Sequence[str], key: tuple[str, str, str], how: Callable[..., Any]) -> Callable[..., Any]:
    """The same on servers that a reader has: containers, a mysqld on PATH, a DSN."""
    if "versions" not in inspect.signature(how).parameters:
        raise EngineRoomError(
            f"{_said(key, {})} has servers of its own, and --server was given",
            remedy="name figures that measure one statement or load on every version, with --method live or instructions",
        )
    return functools.partial(how, versions=servers)


def _said(key: tuple[str, str, str], also: Mapping[tuple[str, str, str], tuple[str, ...]]) -> str:
    chapter, figure, by = key
    return f"{', '.join([figure, *also.get(key, ())])} by {by} ({chapter})"


def _simulated(how: Any, executor: Executor | None, *, vary: bool) -> Run | list[Run]:
    from engineroom.simulating.experiment import Together
    from engineroom.simulating.variations import varied

    whole = how.whole if isinstance(how, Together) else how
    made: Run = whole(executor=executor)
    # One over many machines varies each of them itself.
    if vary and "varied" not in made.tables:
        names = how.figures if isinstance(how, Together) else {made.figure: None}
        where = _claimed(made.table["series"], whole, names)
        made = varied(made, whole, where=where, executor=executor)
    return how.split(made) if isinstance(how, Together) else made


def _claimed(
    measured: Iterable[str], whole: Experiment, figures: Mapping[str, Mapping[str, str] | None]
) -> Callable[[Mapping[str, Any]], bool] | None:
    """Which points of the whole the claims of its figures read; None where that may be all of them.

    `measured` are the series of its rows, and `figures` has what each of them calls the series of the whole, None where it is the same.
    """
    # What is measured at a point may be called otherwise than the point.
    if not set(measured) <= set(whole.points.get("series", ())):
        return None
    asked: list[Asked] = []
    for id, names in figures.items():
        figure = claims.figures().get(id)
        of_figure = figure.asks() if figure is not None else None
        if figure is None or not of_figure:
            return None
        for series in whole.points["series"]:
            named = series if names is None else names.get(series)
            if named in of_figure:
                asked.append((series, str(figure.x), of_figure[named]))
    return functools.partial(_is_asked, tuple(asked))


def _is_asked(asked: Iterable[Asked], point: Mapping[str, Any]) -> bool:
    return any(
        point["series"] == series and (values is None or x not in point or point[x] in values)
        for series, x, values in asked
    )


def _unknown(unknown: Iterable[str], known: Iterable[str]) -> EngineRoomError:
    near = [name for asked in unknown for name in difflib.get_close_matches(asked, sorted(known))]
    hint = f"did you mean {' or '.join(dict.fromkeys(near))}? " if near else ""
    return EngineRoomError(
        f"nothing to record under {', '.join(map(repr, unknown))}",
        remedy=f"{hint}`engineroom record --list` shows what there is",
    )


def _waited_for_quiet() -> bool:
    """Whether the load that the figure before has left went away; who else uses the machine is not waited for twice."""
    for _ in bar(range(WAIT_S), desc="waiting until the load is gone", unit="s"):
        if _load() <= quiet.LOAD:
            return True
        time.sleep(1)
    return False


def _load() -> float:
    return os.getloadavg()[0]


def _doubts() -> list[str]:
    """What a reviewer would hold against a run that begins now."""
    machine = provenance.machine()
    doubts = []
    if str(machine["revision"]).endswith("+changes"):
        doubts.append(f"the code has changes that are not committed ({machine['revision']})")
    if machine["load"][0] > quiet.LOAD_OF_OTHERS:
        doubts.append(f"others use the machine (load {machine['load'][0]:.1f})")
    return doubts
