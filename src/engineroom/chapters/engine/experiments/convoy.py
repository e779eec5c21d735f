"""Why throughput over the redo log of 5.7 falls when the queues in front of it are gone: the crowd at its mutex, counted.

5.7 lets the mutex of the log go while it holds log_flush_order_mutex, so that pages enter the flush list in the order of their LSN.
Letting it go wakes all who sleep there, and waking costs whoever does it. Meanwhile the next one whose page gets dirty waits for
log_flush_order_mutex, with the log's mutex in hand; whoever spins there longer than that goes to sleep, and is to be woken next time.

The engine is the patched one of figure 7-3. Beside it stand engines in which one thing is otherwise: what waking one thread costs, or
how long a thread spins at the latches of the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engineroom.chapters.engine.experiments.simulated import DESIGNS
from engineroom.machine.presets import times
from engineroom.simulating import engine, settling
from engineroom.simulating.engine import TPCC_AWAY_NS, load_of, run
from engineroom.simulating.experiment import Experiment, Given

WAREHOUSES = 1000
LATCH, ORDER_LATCH = "log_sys_mutex", "log_flush_order_mutex"


@dataclass(frozen=True)
class Way:
    """What differs from the server: options of the log, and what waking one thread costs, times its value."""

    log: Mapping[str, Any] = field(default_factory=dict)
    wake: float = 1.0


WAYS: Mapping[str, Way] = {
    "as in 5.7": Way(),
    "waking costs half": Way(wake=0.5),
    "waking costs 1.5 times": Way(wake=1.5),
    "waking is free": Way(wake=0.0),
    "spins four times as long": Way({"spin_rounds": 120}),
}
COLUMNS = {
    "concurrency": "clients in a closed loop",
    "tps": "transactions per second of virtual time",
    "mtrs": "mini-transactions per transaction",
    "sleeps_per_mtr": "times that a thread which got log_sys_mutex had slept for it, per mini-transaction",
    "blocked_percent": "of the virtual time, how long the holder of log_sys_mutex waited for log_flush_order_mutex: nobody else waits for that",
    "timed_out_percent": "of the times that a thread spun for log_sys_mutex, those that ended in sleep",
    "log_wait_ms": "wait for log_sys_mutex, per transaction, ms",
    "order_wait_ms": "wait for log_flush_order_mutex, per transaction, ms",
    "transactions": "counted in the window",
    **{name: engine.COLUMNS[name] for name in settling.COLUMNS},
}


def _load() -> dict[str, Any]:
    return load_of("5.7.22", "tpcc", away_ns=TPCC_AWAY_NS, warehouses=WAREHOUSES)


def _machine(given: Given, way: Way) -> dict[str, Any]:
    wake_ps = given.machine["wake_each_ps"]
    return {**given.machine, "wake_each_ps": times(wake_ps, way.wake) if way.wake else 0}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    way = WAYS[point["series"]]
    design = replace(DESIGNS["patched"], log=way.log)
    seen = run(design, replace(given, machine=_machine(given, way)), clients=point["concurrency"], **window)
    done = max(1, seen["transactions"])
    latches = {wait["name"]: wait for wait in seen["waits"]}
    waited, ordered = (latches.get(name, {}) for name in (LATCH, ORDER_LATCH))
    parks = waited.get("parks", 0)
    return {
        "tps": seen["transactions"] / seen["window_ns"] * 1e9,
        "mtrs": seen["mtrs"] / done,
        "sleeps_per_mtr": parks / max(1, seen["mtrs"]),
        "blocked_percent": 100 * ordered.get("total_ns", 0) / seen["window_ns"],
        "timed_out_percent": 100 * parks / max(1, parks + waited.get("count", 0)),
        "log_wait_ms": waited.get("total_ns", 0) / done / 1e6,
        "order_wait_ms": ordered.get("total_ns", 0) / done / 1e6,
        "transactions": seen["transactions"],
        **settling.window(seen),
    }


convoy_sim = Experiment(
    figure="own-log-convoy",
    says="throughput over the redo log of 5.7 with new latches before it, by what waking the threads at its mutex costs",
    points={"concurrency": (150, 300), "series": tuple(WAYS)},
    measure=_measure,
    options={"first_ms": 100, "longest_ms": 300, "warmup_ms": 200},
    load=_load,
    machine="four_sockets_176",
    columns=COLUMNS,
)
