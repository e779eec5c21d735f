"""A simulated run with each number of its machine that nobody measured here at half and at one and a half times its value."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from engineroom.machine.presets import Preset
from engineroom.machine.sweep import sweep
from engineroom.runs import Run

__all__ = ["FACTORS", "varied"]

FACTORS = (0.5, 1.5)


def _table(
    how: Callable[..., Run], *, machine: dict[str, Any], parameter: str, factor: float
) -> pd.DataFrame:
    return how(machine=machine, seeds=(1,)).table.assign(parameter=parameter, factor=factor)


def varied(run: Run, how: Callable[..., Run], machine: Preset, *, executor: Executor | None = None) -> Run:
    """The run with a further table `varied`: what `how` gives on each varied machine, by one seed. The ledger judges each."""
    points = [
        {"machine": machine.varied(name, factor).values(), "parameter": name, "factor": factor}
        for name in machine.uncertain()
        for factor in FACTORS
        if machine.varied(name, factor).values() != machine.values()  # one disk cannot be halved
    ]
    tables = sweep(partial(_table, how), points, executor=executor)
    columns = {"parameter": "the varied number of the machine", "factor": "times its value in the preset"}
    return replace(
        run,
        tables={**run.tables, "varied": pd.concat(tables, ignore_index=True)},
        columns={**run.columns, **columns},
    )
