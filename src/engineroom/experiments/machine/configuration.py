"""The simulated figures once more, on their machines with the scheduling of the one that was compared with real threads.

The comparison with real threads tests mechanisms: wake-ups, timers, ticks and interruptions as a virtual machine of two processors has them.
The figures' machines have one value for each, or nothing. Whether a verdict hangs on that is asked here, once for all figures together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engineroom.machine.presets import parameters
from engineroom.runs import Run
from engineroom.simulating.experiment import Experiment, Together
from engineroom.sitting import Sitting

__all__ = ["FIGURE", "SCHEDULING", "Asked", "configuration_sim", "scheduled_as"]

FIGURE = "own-machine-configuration"
# Of the machine beside real threads: what wakes, interrupts and switches threads. Lines, copies, disk and topology stay the figure's.
SCHEDULING = (
    *("slice_ps", "tick_ps", "switch_ps", "yield_ps"),
    *("wake_quantiles_ps", "wake_each_ps", "wake_counted_ps", "woken_ps", "kick_ps", "pull_ps"),
    *("park_ps", "unpark_ps"),
    *("timer_ps", "timer_slack_ps", "set_timer_quantiles_ps", "timer_interrupt_ps"),
    *("interrupt_every_ps", "interrupt_quantiles_ps"),
)
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


def scheduled_as(compared: Run, machine: str) -> dict[str, Any]:
    """The parameters of a machine of the book with the scheduling of the machine in a recording of `own-machine-real`."""
    of_figure, measured = parameters(machine), compared.provenance["machine"]
    if "wake_quantiles_ps" in measured:
        of_figure.pop("wake_ps", None)  # instead of its one value
    return {**of_figure, **{name: measured[name] for name in SCHEDULING if name in measured}}


def configuration_sim(
    *, asked: Sequence[Asked], compared: Run, seeds: Sequence[int] = (1,), executor: Executor | None = None
) -> Run:
    """One row per figure; its points by each seed are in a table of the figure's name, in the form of its own recordings."""
    rows: list[dict[str, Any]] = []
    tables: dict[str, pd.DataFrame] = {}
    columns = dict(COLUMNS)
    with Sitting("sim", seed=seeds[0]) as sitting:
        for each in asked:
            whole = each.how.whole if isinstance(each.how, Together) else each.how
            assert isinstance(whole.machine, str), f"{whole.figure} has a machine without a name"
            made = whole(
                machine=scheduled_as(compared, whole.machine),
                seeds=seeds,
                where=each.where,
                executor=executor,
            )
            for run in each.how.split(made) if isinstance(each.how, Together) else [made]:
                tables[run.figure] = run.table
                columns = {**run.columns, **columns}
                rows.append(
                    {
                        "series": run.figure,
                        "machine": whole.machine,
                        "points": len(run.table) // len(seeds),
                        "wall_s": made.provenance["during"]["wall_s"],
                    }
                )
    used = {column for table in tables.values() for column in table} | set(COLUMNS)
    return sitting.run(
        FIGURE,
        rows,
        tables=tables,
        columns={name: says for name, says in columns.items() if name in used},
        real_threads_of_recording=compared.n,
        scheduling={
            name: compared.provenance["machine"][name]
            for name in SCHEDULING
            if name in compared.provenance["machine"]
        },
    )
