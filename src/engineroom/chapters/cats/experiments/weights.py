"""How often weights decide who gets a row: of all choices among several waiters, in how many is one of them heavier than 1, and in how many
does CATS begin with another than the queue does?

The loads are those of `own-cats-policies`, each scheduled by CATS of 8.0.20, written as a function that counts. Loads and windows are fixed
before the first run. Expected: with 32 warehouses TPC-C has a heavy waiter in less than one choice of twenty, since its hot rows are the
first that a transaction locks; SysBench's Pareto and special loads have one in most of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engineroom.chapters.cats.experiments.policies import LOADS, WORKLOAD, all_loads
from engineroom.simulating.engine import COLUMNS, Design, observed
from engineroom.simulating.experiment import Experiment, Given
from engineroom.simulating.sources import MACHINE


@dataclass
class Counting:
    """The order of CATS, and what it met in the choices among at least two."""

    choices: int = 0
    waiters: int = 0
    heavy: int = 0
    other_first: int = 0

    def __call__(self, waiters: Sequence[Mapping[str, Any]]) -> list[int]:
        weights = [waiter["weight"] if waiter["weight"] > 1 else 0 for waiter in waiters]
        order = sorted(
            range(len(waiters)), key=lambda place: (not waiters[place]["is_urgent"], -weights[place])
        )
        if len(waiters) > 1:
            self.choices += 1
            self.waiters += len(waiters)
            self.heavy += any(weights)
            self.other_first += order[0] != 0
        return order


def _seen(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    (clients, _), load = LOADS[point["workload"]], given.load[point["workload"]]
    order = Counting()
    row, _ = observed(
        Design(), Given(machine=given.machine, load=load, seed=given.seed), order, clients=clients, **window
    )
    return {
        "clients": clients,
        "choices": order.choices,
        "waiters_per_choice": order.waiters / max(1, order.choices),
        "heavy_percent": 100 * order.heavy / max(1, order.choices),
        "other_first_percent": 100 * order.other_first / max(1, order.choices),
        "tps": row["tps"],
        "transactions": row["transactions"],
    }


weights_sim = Experiment(
    figure="own-cats-weights",
    says="how often weights decide who gets a row, on five loads",
    points={"workload": tuple(LOADS), "series": ("cats",)},
    measure=_seen,
    options={"first_ms": 200, "longest_ms": 200, "warmup_ms": 200},
    load=all_loads,
    machine=MACHINE,
    columns={
        "workload": WORKLOAD,
        "clients": COLUMNS["concurrency"],
        "choices": "among at least two waiters for a row, in the window and before it",
        "waiters_per_choice": "mean",
        "heavy_percent": "of the choices: one of the waiters has a weight above 1",
        "other_first_percent": "of the choices: the first that is tried is not the first of the queue",
        "tps": COLUMNS["tps"],
        "transactions": COLUMNS["transactions"],
    },
)
