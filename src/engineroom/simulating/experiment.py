"""A simulated experiment: points and seeds in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from engineroom.machine.presets import parameters
from engineroom.runs import Run
from engineroom.simulating.sweep import sweep
from engineroom.sitting import Sitting

__all__ = ["SEEDS", "Machine", "Seen", "Simulated", "swept"]

# A machine of the book by its name, or the parameters of one.
Machine = str | Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

SEEDS = (1, 2, 3)


class Simulated(Protocol):
    """What a chapter's RECORD has for a figure by the method `sim`: a function that makes its run on any machine and executor."""

    def __call__(
        self, *, machine: Machine = ..., seeds: Sequence[int] = ..., executor: Executor | None = ...
    ) -> Run: ...


@dataclass(frozen=True)
class Seen:
    """What a point gives by one seed, where it is more than one row: rows, and those of further tables."""

    rows: Rows
    tables: Mapping[str, Rows] = field(default_factory=dict)


Measure = Callable[[Mapping[str, Any], int, Mapping[str, Any]], Mapping[str, Any] | Seen]


def swept(
    figure: str,
    points: Iterable[Mapping[str, Any]],
    measure: Measure,
    *,
    seeds: Sequence[int],
    machine: Machine,
    load: Mapping[str, Any],
    columns: Mapping[str, str],
    executor: Executor | None = None,
) -> Run:
    """The run of a figure: for each point and seed the point, the repeat, and what `measure(point, seed, parameters)` gives for it.

    `measure` is a function of a module, or a `functools.partial` of one, so that it can run in another process. Rows are in the
    order of points, then seeds, wherever they are made.
    """
    values = parameters(machine)
    turns = [(point, repeat, seed) for point in points for repeat, seed in enumerate(seeds)]
    with Sitting("sim", seed=seeds[0]) as sitting:
        seen = sweep(
            partial(_measured, measure, values),
            [{**point, "seed": seed} for point, _, seed in turns],
            executor=executor,
            desc=figure,
        )
    rows: list[dict[str, Any]] = []
    tables: dict[str, list[dict[str, Any]]] = {}
    for (point, repeat, _), each in zip(turns, seen, strict=True):
        where = {**point, "repeat": repeat}
        rows += [{**where, **row} for row in each.rows]
        for name, more in each.tables.items():
            tables.setdefault(name, []).extend({**where, **row} for row in more)
    named = {"machine_name": machine} if isinstance(machine, str) else {}
    return sitting.run(figure, rows, tables=tables, columns=columns, machine=values, load=dict(load), **named)


def _measured(measure: Measure, values: Mapping[str, Any], /, *, seed: int, **point: Any) -> Seen:
    """`measure` by a point's names, which an error then says."""
    seen = measure(point, seed, values)
    return seen if isinstance(seen, Seen) else Seen([seen])
