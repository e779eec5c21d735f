"""A simulated run with each number of its machine that nobody measured here, and each of its load, at half and at one and a half times its value."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.machine.presets import Preset, preset, times
from engineroom.runs import Run, provenance
from engineroom.simulating.executors import HERE
from engineroom.simulating.experiment import Experiment
from engineroom.simulating.sweep import sweep

__all__ = ["FACTORS", "OF_LOAD", "varied"]

FACTORS = (0.5, 1.5)
# Numbers of the load bear this before their names, unlike those of the machine.
OF_LOAD = "load."


def varied(
    run: Run,
    how: Experiment,
    *,
    where: Callable[[Mapping[str, Any]], bool] | None = None,
    executor: Executor | None = None,
) -> Run:
    """The run with a further table `varied`: what `how` gives on each varied machine and load, by one seed. The ledger judges each.

    How long that took, and on how many processors, is kept with its provenance as `varied_in`.
    Of its points only those `where` is true (a function that other processes can find), by default all of them.
    """
    machine, load = _machine_of(run), run.provenance["load"]
    points: list[dict[str, Any]] = [
        {"parameter": name, "factor": factor, "machine": values, "load": load}
        for name in machine.uncertain()
        for factor in FACTORS
        if (values := machine.varied(name, factor).values()) != machine.values()  # one disk cannot be halved
    ]
    points += [
        {"parameter": f"{OF_LOAD}{name}", "factor": factor, "machine": machine.values(), "load": other}
        for name in load
        for factor in FACTORS
        if (other := varied_load(load, name, factor)) != load
    ]
    start_s = time.monotonic()
    tables = sweep(partial(_table, how, where), points, executor=executor, desc=f"{run.figure}, varied")
    took = {"wall_s": round(time.monotonic() - start_s, 1), "processors": provenance.cores()}
    columns = {"parameter": "the varied number of the machine, or of the load", "factor": "times its value"}
    return replace(
        run,
        provenance={**run.provenance, "varied_in": took},
        tables={**run.tables, "varied": pd.concat(tables, ignore_index=True)},
        columns={**run.columns, **columns},
    )


def _machine_of(run: Run) -> Preset:
    name = run.provenance.get("machine_name")
    if name is None:
        raise EngineRoomError(
            f"{run.figure} by {run.method} does not say on which machine of the book it was simulated",
            remedy="give the machine by its name, so that its table tells which numbers are estimates",
        )
    return preset(name)


def varied_load(load: Mapping[str, Any], name: str, factor: float) -> dict[str, Any]:
    """The load with one number times `factor`, or with all that a part is told: what is at least one stays at least one, and a share is at most all of it."""
    return {**load, name: _varied(name, load[name], factor)}


def _varied(name: str, value: Any, factor: float) -> Any:
    """All numbers of a part at once; what statements ask for is varied by `cpu_percent`, and designs are choices."""
    if isinstance(value, Mapping) and name not in ("demands", "designs"):
        return {key: _varied(key, each, factor) for key, each in value.items()}
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    varied = times(value, factor)
    assert isinstance(varied, int)
    return min(100, varied) if name.endswith("_percent") and value <= 100 else varied


def _table(
    how: Experiment,
    where: Callable[[Mapping[str, Any]], bool] | None,
    *,
    machine: Mapping[str, Any],
    load: Mapping[str, Any],
    parameter: str,
    factor: float,
) -> pd.DataFrame:
    """Each of many machines has a process of its own already: the points of one run there."""
    run = how(machine=machine, load=load, seeds=(1,), executor=HERE, where=where)
    return run.table.assign(parameter=parameter, factor=factor)
