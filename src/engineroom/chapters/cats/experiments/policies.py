"""Eight ways to choose who gets a row lock next, on five loads, on the sources' machine: which differences are more than noise?

The engine is a stock one of late 8.0 with the sources' settings, and no deadlock is printed. That of 8.0.3 runs over the shards of later versions like the others:
its walk along who waits for whom takes its time, but none of the latches of the queues that it passes, where the server had one mutex over all.
Loads and numbers of clients are fixed before the first run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engineroom.chapters.cats.experiments.simulated import DEMANDS_OF
from engineroom.chapters.cats.standings import POLICIES
from engineroom.simulating.engine import COLUMNS, Design, observed
from engineroom.simulating.experiment import Experiment, Given
from engineroom.simulating.sources import MACHINE, sysbench, tpcc

# Clients, and what they do.
LOADS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "pareto": (300, {"rows": 1_000_000, "distribution": "pareto"}),
    "special": (300, {"rows": 10_000, "distribution": "special"}),
    "uniform": (300, {"rows": 1_000, "distribution": "uniform"}),
    "tpcc_1": (100, {"warehouses": 1}),
    "tpcc_32": (1000, {"warehouses": 32}),
}


# What the column of that name has.
WORKLOAD = "SysBench's read-write transactions over 1,000,000, 10,000 or 1,000 rows by a distribution; TPC-C with 1 or 32 warehouses"


def load_of(name: str) -> dict[str, Any]:
    """One of the loads, with its demands and the settings of its server."""
    _, options = LOADS[name]
    return tpcc(DEMANDS_OF, **options) if "warehouses" in options else sysbench(DEMANDS_OF, **options)


def all_loads() -> dict[str, Any]:
    """The loads, as a run has them."""
    return {name: load_of(name) for name in LOADS}


def _seen(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    clients, _ = LOADS[point["workload"]]
    row, _ = observed(
        Design(locks={"policy": POLICIES[point["series"]]}),
        Given(machine=given.machine, load=given.load[point["workload"]], seed=given.seed),
        clients=clients,
        **window,
    )
    return {"clients": clients, **row}


policies_sim = Experiment(
    figure="own-cats-policies",
    says="throughput of eight policies on five loads",
    points={"workload": tuple(LOADS), "series": tuple(POLICIES)},
    measure=_seen,
    options={"first_ms": 200, "longest_ms": 1_000, "warmup_ms": 200},
    load=all_loads,
    machine=MACHINE,
    columns={**COLUMNS, "workload": WORKLOAD, "clients": "in a closed loop"},
)
