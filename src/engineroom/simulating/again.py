"""Simulated figures once more, with something else than their recordings had: another machine, or another load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engineroom.simulating.experiment import Experiment, Together

__all__ = ["COLUMNS", "Again", "Asked", "simulated_again"]

COLUMNS = {
    "series": "the figure of the ledger",
    "machine": "the machine whose lines, disk and processors it has",
    "points": "how many of its points were simulated: those that its claims read",
    "wall_s": "how long that took, s",
}


@dataclass(frozen=True)
class Asked:
    """A simulated experiment, and which of its points the claims of its figures read; None for all."""

    how: Experiment | Together
    where: Callable[[Mapping[str, Any]], bool] | None = None

    @property
    def whole(self) -> Experiment:
        """The experiment, of all its figures together."""
        return self.how.whole if isinstance(self.how, Together) else self.how


@dataclass(frozen=True)
class Again:
    """A row per figure, the points of each in a table of the figure's name and in the form of its recordings, and what the columns mean."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=lambda: dict(COLUMNS))


def simulated_again(
    asked: Sequence[Asked],
    otherwise: Callable[[Experiment], Mapping[str, Any]],
    *,
    seeds: Sequence[int],
    executor: Executor | None = None,
) -> Again:
    """Simulate each by `seeds`; `otherwise` says what it is called with instead of its own machine or load."""
    again = Again()
    for each in asked:
        whole = each.whole
        made = whole(**otherwise(whole), seeds=seeds, where=each.where, executor=executor)
        for run in each.how.split(made) if isinstance(each.how, Together) else [made]:
            again.tables[run.figure] = run.table
            again.columns.update(
                {name: says for name, says in run.columns.items() if name not in again.columns}
            )
            again.rows.append(
                {
                    "series": run.figure,
                    "machine": whole.machine,
                    "points": len(run.table) // len(seeds),
                    "wall_s": made.provenance["during"]["wall_s"],
                }
            )
    used = {column for table in again.tables.values() for column in table} | set(COLUMNS)
    for name in set(again.columns) - used:
        del again.columns[name]
    return again
