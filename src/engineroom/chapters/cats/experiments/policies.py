"""Eight ways to choose who gets a row lock next, on five loads, on the simulated machine: which differences are more than noise?

The engine is a stock one of late 8.0, and no deadlock is printed. That of 8.0.3 runs over the shards of later versions like the others:
its walk along who waits for whom takes its time, but none of the latches of the queues that it passes, where the server had one mutex over all.
Loads and numbers of clients are fixed before the first run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engineroom.chapters.cats.standings import POLICIES
from engineroom.simulating.engine import COLUMNS, SYSBENCH_AWAY_NS, TPCC_AWAY_NS, Design, demands, observed
from engineroom.simulating.experiment import Experiment, Given

MACHINE = "four_sockets_176"
DEMANDS_OF = "8.0.15"
_SYSBENCH = {"kind": "sysbench_read_write", "away_ns": SYSBENCH_AWAY_NS}
_TPCC = {"kind": "tpcc", "away_ns": TPCC_AWAY_NS}
LOADS: Mapping[str, Mapping[str, Any]] = {
    "pareto": {**_SYSBENCH, "clients": 300, "rows": 1_000_000, "distribution": "pareto"},
    "special": {**_SYSBENCH, "clients": 300, "rows": 10_000, "distribution": "special"},
    "uniform": {**_SYSBENCH, "clients": 300, "rows": 1_000, "distribution": "uniform"},
    "tpcc_1": {**_TPCC, "clients": 100, "warehouses": 1},
    "tpcc_32": {**_TPCC, "clients": 1000, "warehouses": 32},
}


# What the column of that name has.
WORKLOAD = "SysBench's read-write transactions over 1,000,000, 10,000 or 1,000 rows by a distribution; TPC-C with 1 or 32 warehouses"


def all_loads() -> dict[str, Any]:
    """The loads with their demands, as a run has them."""
    return {
        "loads": {name: dict(load) for name, load in LOADS.items()},
        "demands_of": DEMANDS_OF,
        "demands": {kind: demands(DEMANDS_OF, kind) for kind in ("sysbench_read_write", "tpcc")},
    }


def load_by_name(loads: Mapping[str, Any], name: str) -> tuple[dict[str, Any], int]:
    """One of the loads that `all_loads` made, as the engine takes it, and its clients."""
    load = dict(loads["loads"][name])
    clients = load.pop("clients")
    return {**load, "demands": loads["demands"][load["kind"]]}, clients


def _seen(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    load, clients = load_by_name(given.load, point["workload"])
    row, _ = observed(
        Design(locks={"policy": POLICIES[point["series"]]}),
        Given(machine=given.machine, load=load, seed=given.seed),
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
