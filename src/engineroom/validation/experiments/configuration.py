"""The simulated figures once more, on their machines with the scheduling of the one that was compared with real threads.

The comparison with real threads tests mechanisms: wake-ups, timers, ticks and interruptions as a virtual machine of two processors has them.
The figures' machines have one value for each, or nothing. Whether a verdict depends on that is asked here, once for all figures together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from engineroom.machine.presets import parameters
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.simulating.again import Asked, simulated_again
from engineroom.simulating.experiment import Experiment

FIGURE = "own-machine-configuration"
# Of the machine beside real threads: what wakes, interrupts and switches threads. Lines, copies, disk and topology stay the figure's.
SCHEDULING = (
    *("slice_ps", "tick_ps", "switch_ps", "yield_ps"),
    *("wake_quantiles_ps", "wake_each_ps", "wake_counted_ps", "woken_ps", "kick_ps", "pull_ps"),
    *("park_ps", "unpark_ps"),
    *("timer_ps", "timer_slack_ps", "set_timer_quantiles_ps", "timer_interrupt_ps"),
    *("interrupt_every_ps", "interrupt_quantiles_ps"),
)


def scheduled_as(compared: Run, machine: str) -> dict[str, Any]:
    """The parameters of a machine of the book with the scheduling of the machine in a recording of `own-machine-real`."""
    of_figure, measured = parameters(machine), compared.provenance["machine"]
    if "wake_quantiles_ps" in measured:
        of_figure.pop("wake_ps", None)  # instead of its one value
    if "tick_ps" in measured:
        of_figure.pop("latency_ps", None)  # another scheduler
    return {**of_figure, **{name: measured[name] for name in SCHEDULING if name in measured}}


def configuration_sim(
    *, asked: Sequence[Asked], compared: Run, seeds: Sequence[int] = (1,), executor: Executor | None = None
) -> Run:
    """One row per figure; its points by each seed are in a table of the figure's name, in the form of its own recordings."""

    def on_other_machine(whole: Experiment) -> Mapping[str, Any]:
        assert isinstance(whole.machine, str), f"{whole.figure} has a machine without a name"
        return {"machine": scheduled_as(compared, whole.machine)}

    with Sitting("sim", seed=seeds[0]) as sitting:
        again = simulated_again(asked, on_other_machine, seeds=seeds, executor=executor)
    return sitting.run(
        FIGURE,
        again.rows,
        tables=again.tables,
        columns=again.columns,
        real_threads_of_recording=compared.n,
        scheduling={
            name: compared.provenance["machine"][name]
            for name in SCHEDULING
            if name in compared.provenance["machine"]
        },
    )
