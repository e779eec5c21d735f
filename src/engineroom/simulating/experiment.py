"""A simulated experiment: points and seeds in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.machine.presets import parameters
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.simulating.sweep import cross, sweep

__all__ = ["SEEDS", "Experiment", "Given", "Machine", "Seen", "Together"]

# A machine of the book by its name, or the parameters of one.
Machine = str | Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Given:
    """What a point is simulated with besides its own columns: the machine's parameters, the load, the seed."""

    machine: Mapping[str, Any]
    load: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Seen:
    """What a point gives by one seed, where it is more than one row: rows, and those of further tables."""

    rows: Rows
    tables: Mapping[str, Rows] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A simulated figure as a chapter declares it. Called, it makes the figure's run.

    `points` has the values of each column, of which all combinations are simulated, the last column fastest. `measure(point,
    given, **options)` simulates one of them by one seed; it is a function of a module, so that other processes can find it. `load` that
    rests on a recording is a function, which reads it when the run is made.
    """

    figure: str
    says: str
    points: Mapping[str, Sequence[Any]]
    measure: Callable[..., Mapping[str, Any] | Seen]
    load: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    machine: Machine
    columns: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = SEEDS

    def __call__(
        self,
        *,
        machine: Machine | None = None,
        load: Mapping[str, Any] | None = None,
        seeds: Sequence[int] | None = None,
        executor: Executor | None = None,
        where: Callable[[Mapping[str, Any]], bool] | None = None,
        **otherwise: Any,
    ) -> Run:
        """The run: for each point and seed a row, or some, with the repeat; in this order, wherever they are made.

        Of the points only those `where` is true, by default all of them. `otherwise` has other values for columns of `points`, or for `options`, by their names.
        """
        if unknown := set(otherwise) - set(self.points) - set(self.options):
            raise EngineRoomError(
                f"{self.figure} has nothing that is called {', '.join(sorted(unknown))}",
                remedy=f"choose from {', '.join([*self.points, *self.options])}",
            )
        machine = self.machine if machine is None else machine
        if load is None:
            load = self.load() if callable(self.load) else self.load
        points = cross(**{name: otherwise.get(name, values) for name, values in self.points.items()})
        points = [point for point in points if where is None or where(point)]
        options = {name: otherwise.get(name, value) for name, value in self.options.items()}
        values = parameters(machine)
        seeds = self.seeds if seeds is None else seeds
        turns = [(point, repeat, seed) for point in points for repeat, seed in enumerate(seeds)]
        with Sitting("sim", seed=seeds[0]) as sitting:
            seen = sweep(
                partial(_measured, partial(self.measure, **options), values, load),
                [{**point, "seed": seed} for point, _, seed in turns],
                executor=executor,
                desc=self.figure,
            )
        rows: list[dict[str, Any]] = []
        tables: dict[str, list[dict[str, Any]]] = {}
        for (point, repeat, _), each in zip(turns, seen, strict=True):
            at = {**point, "repeat": repeat}
            rows += [{**at, **row} for row in each.rows]
            for name, more in each.tables.items():
                tables.setdefault(name, []).extend({**at, **row} for row in more)
        named = {"machine_name": machine} if isinstance(machine, str) else {}
        return sitting.run(
            self.figure,
            rows,
            tables=tables,
            columns=self.columns,
            machine=values,
            load=dict(load),
            **named,
        )


@dataclass(frozen=True, kw_only=True)
class Together:
    """Figures that are parts of one simulation, so that nothing is simulated twice. Called, it makes the run of each.

    `figures` has for each figure which series of the whole are its own, and what it calls them.
    """

    whole: Experiment
    figures: Mapping[str, Mapping[str, str]]

    def __call__(self, **how: Any) -> list[Run]:
        """The figures' runs, in their order; `how` is the whole experiment's."""
        return self.split(self.whole(**how))

    def split(self, run: Run) -> list[Run]:
        """The figures' runs out of the whole's."""
        return [_of_series(run, figure, names) for figure, names in self.figures.items()]


def _of_series(run: Run, figure: str, names: Mapping[str, str]) -> Run:
    def own(table: pd.DataFrame) -> pd.DataFrame:
        mine = table[table["series"].isin(list(names))]
        mine = mine.assign(series=mine["series"].map(dict(names))).reset_index(drop=True)
        # What only the series of other figures have; a figure of which nothing was simulated keeps its columns.
        others = [name for name in mine if mine[name].isna().all()] if len(mine) else []
        return mine.drop(columns=others)

    tables = {name: own(table) for name, table in run.tables.items()}
    return replace(
        run,
        figure=figure,
        table=own(run.table),
        tables={name: table for name, table in tables.items() if len(table)},
    )


def _measured(
    measure: Callable[..., Mapping[str, Any] | Seen],
    machine: Mapping[str, Any],
    load: Mapping[str, Any],
    /,
    *,
    seed: int,
    **point: Any,
) -> Seen:
    """`measure` by a point's names, which an error then says."""
    seen = measure(point, Given(machine=machine, load=load, seed=seed))
    return seen if isinstance(seen, Seen) else Seen([seen])
