"""How fast the simulated machine runs, and what the templated kernels cost on real threads."""

from __future__ import annotations

import importlib.metadata
import random
import statistics
import tempfile
import time
from typing import Any

from engineroom.bench import Row, Sitting, row

PACKAGES = ("simpy",)
REPEATS = 5
MILLION = 1_000_000
MS = 1_000_000  # ns

# A latch that two threads hand to each other, and one that 64 cores fight for.
PING_PONG = {"clients": 2, "work_ns": 100, "latch": True, "exponential": False, "run_ns": 500 * MS}
CONTENDED = {"work_ns": 20_000, "hold_ns": 200, "latch": True, "run_ns": 200 * MS}
CORES_64 = {"sockets": 4, "cores_per_socket": 16}
# One server, ten clients: think 9 ms, serve 1 ms.
QUEUE_CLIENTS, QUEUE_THINK_NS, QUEUE_SERVICE_NS = 10, 9 * MS, 1 * MS
QUEUE_RUN_NS = 400_000 * MS


def bench(sitting: Sitting) -> list[Row]:
    """All goals. Rates are per second of CPU time, and the best of the repeats counts: others' load only adds."""
    ping_pong = _events_per_s(sitting, {"cores_per_socket": 2}, PING_PONG)
    contended = {
        clients: _events_per_s(sitting, CORES_64, CONTENDED | {"clients": clients})
        for clients in (100, 500, 3000)
    }
    sitting.notes["events per second by threads on 64 cores"] = contended
    rows = [
        _rate("events/s, two threads and a latch", ping_pong, 25.0),
        _rate("events/s, 500 threads on 64 cores and a latch", contended[500], 12.0),
        row(
            "events/s from 100 to 3000 threads on 64 cores: the fall",
            ours=contended[3000],
            unit="1/s",
            peer="100 threads",
            peer_value=contended[100],
            ratio=contended[100] / contended[3000],
            side="<=",
            goal=2.0,
        ),
        _against_simpy(sitting),
    ]
    return rows + _host_costs(sitting)


def _rate(name: str, events_per_s: float, goal: float) -> Row:
    """A rate whose goal is so many millions a second."""
    return row(name, ours=events_per_s, unit="1/s", ratio=events_per_s / MILLION, side=">=", goal=goal)


def _events_per_s(sitting: Sitting, parameters: dict[str, Any], arguments: dict[str, Any]) -> float:
    from engineroom._native import machine

    sitting.says(f"events of {arguments['clients']} threads, {REPEATS} times")
    best = 0.0
    for seed in range(1, REPEATS + 1):
        start = time.process_time()
        run = machine.closed_loop(parameters=parameters, seed=seed, **arguments)
        best = max(best, run["events"] / (time.process_time() - start))
    return best


def _against_simpy(sitting: Sitting) -> Row:
    """Cycles a second of the same closed single queue; they take turns."""
    sitting.says(f"a closed queue, ours and SimPy's, {REPEATS} times")
    ours, theirs = [], []
    for seed in range(1, REPEATS + 1):
        ours.append(_our_cycles_per_s(seed, QUEUE_RUN_NS))
        theirs.append(_simpy_cycles_per_s(seed, QUEUE_RUN_NS // 100))
    return row(
        "cycles/s of a closed single queue",
        ours=max(ours),
        unit="1/s",
        peer=f"simpy {importlib.metadata.version('simpy')}",
        peer_value=max(theirs),
        ratio=max(ours) / max(theirs),
        side=">=",
        goal=50.0,
    )


def _our_cycles_per_s(seed: int, run_ns: int) -> float:
    from engineroom._native import machine
    from engineroom.validation.formulas import FREE

    start = time.process_time()
    run = machine.closed_loop(
        parameters=FREE | {"cores_per_socket": 1},
        clients=QUEUE_CLIENTS,
        think_ns=QUEUE_THINK_NS,
        work_ns=QUEUE_SERVICE_NS,
        run_ns=run_ns,
        seed=seed,
    )
    return float(run["turns"] / (time.process_time() - start))


def _simpy_cycles_per_s(seed: int, run_ns: int) -> float:
    """The same model written as SimPy's documentation writes it."""
    import simpy

    numbers = random.Random(seed)
    environment = simpy.Environment()
    server = simpy.Resource(environment, capacity=1)
    turns = 0

    def client() -> Any:
        nonlocal turns
        while True:
            yield environment.timeout(numbers.expovariate(1 / QUEUE_THINK_NS))
            with server.request() as request:
                yield request
                yield environment.timeout(numbers.expovariate(1 / QUEUE_SERVICE_NS))
            turns += 1

    for _ in range(QUEUE_CLIENTS):
        environment.process(client())
    start = time.process_time()
    environment.run(until=run_ns)
    return turns / (time.process_time() - start)


def _host_costs(sitting: Sitting) -> list[Row]:
    from engineroom._native import machine

    sitting.says(f"awaits and latches on real threads, {REPEATS} times")
    with tempfile.TemporaryDirectory() as folder:
        measured = machine.primitives(samples=REPEATS, folder=folder)
    best = {name: float(min(ns)) for name, ns in measured.items()}
    sitting.notes["primitives, median ns"] = {
        name: statistics.median(map(float, ns)) for name, ns in measured.items()
    }
    return [
        row(
            "an await on real threads, over the plain load",
            ours=best["awaited_load"],
            unit="ns",
            peer="plain load",
            peer_value=best["plain_load"],
            ratio=best["awaited_load"] - best["plain_load"],
            side="<=",
            goal=3.0,
            condition=sitting.is_quiet,
        ),
        row(
            "an uncontended latch pair on real threads, over plain atomics",
            ours=best["latch_pair"],
            unit="ns",
            peer="compare-and-swap, exchange",
            peer_value=best["plain_pair"],
            ratio=best["latch_pair"] - best["plain_pair"],
            side="<=",
            goal=15.0,
            condition=sitting.is_quiet,
        ),
    ]
