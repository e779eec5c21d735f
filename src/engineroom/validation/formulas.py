"""The simulated machine against formulas that it does not know: `validate()` returns one row a case.

Each case is run 20 times, with seeds made from its name so that no two cases share their random numbers. It holds when the
formula's value lies inside the 99 % interval of the mean and the interval's half-width is at most 2 % of the mean. The runs
are as long as the half-width needs; the seeds are not chosen.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engineroom.runs import Run, provenance

# What the names of cases begin with.
FAMILIES = (
    "M/M/1",
    "M/M/4",
    "machine repairman",
    "closed network",
    "utilisation law",
    "Little's law",
    "latch at no cost",
    "commits per fsync",
    "one line",
    "line that stays",
    "split line",
    "s-latch in parts",
    "test-and-set lock",
    "convoy at a mutex",
)

REPLICATIONS = 20
T_99 = 2.8609  # Student's t for 19 degrees of freedom, two-sided 99 %
MOST_HALF_WIDTH = 0.02

MS = 1_000_000

_AN_HOUR_PS = 3_600 * 10**12
# Nothing costs anything but what the case asks for, and nobody is preempted.
FREE = {
    "load_ps": 0,
    "rmw_ps": 0,
    "same_core_ps": 0,
    "same_socket_ps": 0,
    "other_socket_ps": 0,
    "first_touch_ps": 0,
    "read_occupancy_ps": 0,
    "pause_ps": 0,
    "copy_ps_per_kib": 0,
    "switch_ps": 0,
    "wake_ps": 0,
    "park_ps": 0,
    "unpark_ps": 0,
    "wake_each_ps": 0,
    "yield_ps": 0,
    "slice_ps": _AN_HOUR_PS,
    "wakeup_granularity_ps": _AN_HOUR_PS,
    "timer_slack_ps": 0,
    "pwrite_ps": 0,
    "pwrite_ps_per_kib": 0,
    "fsync_ps": 0,
    "disk_ps_per_kib": 0,
}


@dataclass(frozen=True)
class Case:
    """A quantity that a formula gives and a simulation measures. Both functions are module-level, for process pools."""

    name: str
    theory: float
    measure: Callable[..., float]
    arguments: tuple[Any, ...]


def erlang_c(c: int, load: float) -> float:
    """Probability that an arrival waits in M/M/c with an offered load of `load` servers."""
    term, total = 1.0, 1.0
    for k in range(1, c):
        term *= load / k
        total += term
    term *= load / c
    waiting = term / (1 - load / c)
    return waiting / (total + waiting)


def repairman(n: int, c: int, think: float, service: float) -> float:
    """Throughput of M/M/c//N: n clients that think, then need one of c servers."""
    log_p = [0.0]
    for k in range(n):
        log_p.append(log_p[-1] + math.log((n - k) / think) - math.log(min(k + 1, c) / service))
    top = max(log_p)
    p = [math.exp(x - top) for x in log_p]
    total = sum(p)
    return sum(p[k] / total * min(k, c) / service for k in range(n + 1))


def mva(n: int, think: float, demands: Sequence[float]) -> tuple[float, float]:
    """Throughput and response time of n clients in a closed network of single queues, by mean value analysis."""
    queue = [0.0] * len(demands)
    throughput = response = 0.0
    for k in range(1, n + 1):
        residence = [d * (1 + q) for d, q in zip(demands, queue, strict=True)]
        response = sum(residence)
        throughput = k / (think + response)
        queue = [throughput * r for r in residence]
    return throughput, response


def retrials(n: int, outside: float, hold: float, between: float) -> float:
    """Turns over time of n threads at a lock which those that find it taken try again after a drawn time of mean `between`.

    All times are exponential. The states are whether the lock is held and how many try again: a retrial queue of finite source.
    """
    states = [(held, trying) for held in (0, 1) for trying in range(n - held + 1)]
    at = {state: i for i, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for held, trying in states:
        computing = n - held - trying
        if held:
            ways = {(0, trying): 1 / hold, (1, trying + 1): computing / outside}
        else:
            ways = {(1, trying): computing / outside, (1, trying - 1): trying / between}
        for to, rate in ways.items():
            if rate > 0:
                rates[at[held, trying], at[to]] += rate
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[-1] = 1.0  # the probabilities add up to one
    p = np.linalg.solve(balance, np.eye(len(states))[-1])
    return float(sum(p[at[state]] for state in states if state[0]) / hold)


def _closed(seed: int, parameters: dict[str, int], **arguments: Any) -> dict[str, Any]:
    from engineroom._native import machine

    return machine.closed_loop(parameters=FREE | parameters, seed=seed, spin_rounds=0, **arguments)


def _crowd(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    """Turns of all threads over time."""
    from engineroom._native import machine

    run = machine.crowd(parameters=FREE | parameters, seed=seed, **arguments)
    return float(run["turns"].sum() / run["window_ns"])


def _parked(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    """How many threads are parked, mean over time."""
    from engineroom._native import machine

    run = machine.crowd(parameters=FREE | parameters, seed=seed, **arguments)
    parked_ps = sum(ps for _, state, ps in run["activities"] if state == "parked")
    return float(parked_ps / (1000 * run["window_ns"]))


def _sojourn(seed: int, cores: int, interval_ns: int, work_ns: int, jobs: int) -> float:
    from engineroom._native import machine

    run = machine.open_loop(
        parameters=FREE | {"cores_per_socket": cores},
        jobs=jobs,
        first_counted=jobs // 10,
        interval_ns=interval_ns,
        work_ns=work_ns,
        seed=seed,
    )
    return float(run["sojourn_ns_total"] / run["counted"])


def _batch(seed: int, interval_ns: int, fsync_ns: int, jobs: int) -> float:
    from engineroom._native import machine

    run = machine.open_loop(
        parameters=FREE | {"cores_per_socket": 64, "disk_fsync_quantiles_ps": [fsync_ns * 1000]},
        jobs=jobs,
        interval_ns=interval_ns,
        durable=True,
        seed=seed,
    )
    return float(jobs / run["fsyncs"])


def _throughput(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    run = _closed(seed, parameters, **arguments)
    return float(run["turns"] / run["window_ns"])


def _response(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    run = _closed(seed, parameters, **arguments)
    return float(run["response_ns_total"] / run["turns"])


def _utilisation_law(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    """Measured share of busy time over throughput times mean service time: 1."""
    run = _closed(seed, parameters, **arguments)
    busy_ns = run["core_ps"][:, :4].sum() / 1000
    return float(busy_ns / (run["turns"] * arguments["hold_ns"]))


def _littles_law(seed: int, parameters: dict[str, int], arguments: dict[str, Any]) -> float:
    """Clients in the system, counted at moments, over throughput times response time: 1."""
    run = _closed(seed, parameters, samples=4000, **arguments)
    return float(run["in_system"].mean() / (run["response_ns_total"] / run["window_ns"]))


def _cases() -> list[Case]:
    cases = []
    work = 1 * MS
    for cores, load, jobs in ((1, 0.7, 100_000), (4, 0.8, 100_000)):
        interval = round(work / (cores * load))
        wait = erlang_c(cores, cores * load) * work / (cores * (1 - load))
        cases.append(
            Case(
                f"M/M/{cores}, load {load}: response time",
                work + wait,
                _sojourn,
                (cores, interval, work, jobs),
            )
        )
    for n, think in ((5, 1 * MS), (50, 10 * MS), (500, 100 * MS)):
        arguments = {
            "clients": n,
            "think_ns": think,
            "work_ns": work,
            "run_ns": 15_000 * MS,
            "warmup_ns": 500 * MS,
        }
        throughput = repairman(n, 4, think, work)
        name = f"machine repairman, 4 cores, {n} clients"
        cases.append(
            Case(f"{name}: throughput", throughput, _throughput, ({"cores_per_socket": 4}, arguments))
        )
        cases.append(
            Case(
                f"{name}: response time",
                n / throughput - think,
                _response,
                ({"cores_per_socket": 4}, arguments),
            )
        )
    # Cores enough: a thread that comes from the disk needs one for no time, and would wait for it behind others' work.
    network = {"cores_per_socket": 64, "disk_fsync_exponential_mean_ps": 2 * MS * 1000}
    for n in (1, 8, 32):
        arguments = {
            "clients": n,
            "think_ns": 10 * MS,
            "hold_ns": work,
            "latch": True,
            "fsyncs": 1,
            "run_ns": 20_000 * MS,
            "warmup_ns": 500 * MS,
        }
        throughput, response = mva(n, 10 * MS, [work, 2 * MS])
        cases.append(
            Case(f"closed network, {n} clients: throughput", throughput, _throughput, (network, arguments))
        )
        cases.append(
            Case(f"closed network, {n} clients: response time", response, _response, (network, arguments))
        )
    cases.append(
        Case(
            "utilisation law, closed network of 8",
            1.0,
            _utilisation_law,
            (network, arguments | {"clients": 8}),
        )
    )
    cases.append(
        Case("Little's law, closed network of 8", 1.0, _littles_law, (network, arguments | {"clients": 8}))
    )
    for n, think in ((2, 2 * MS), (20, 20 * MS), (100, 100 * MS)):
        arguments = {
            "clients": n,
            "think_ns": think,
            "hold_ns": work,
            "latch": True,
            "run_ns": 20_000 * MS,
            "warmup_ns": 1_000 * MS,
        }
        throughput = repairman(n, 1, think, work)
        cases.append(
            Case(
                f"latch at no cost, {n} clients: throughput",
                throughput,
                _throughput,
                ({"cores_per_socket": 100}, arguments),
            )
        )
    for per_fsync in (0.5, 2.0, 8.0):
        fsync = 100_000
        cases.append(
            Case(
                f"commits per fsync at {per_fsync:g} arrivals in its time",
                per_fsync + math.exp(-per_fsync),
                _batch,
                (round(fsync / per_fsync), fsync, 20_000),
            )
        )
    return cases + _locks() + _readers() + _lines()


def _lines() -> list[Case]:
    """A line serves one after the other: so many turns as transfers and operations fit into the time.

    Where it stays for half of the next request's way, each turn of the line has the operation that fetched it, one right behind, and those
    that begin until then.
    """
    transfer_ns, rmw_ns, window_ns = 50, 7, 57_000
    one_socket = {"cores_per_socket": 64, "same_socket_ps": transfer_ns * 1000, "rmw_ps": rmw_ns * 1000}
    sockets = {
        "sockets": 64,
        "cores_per_socket": 1,
        "other_socket_ps": transfer_ns * 1000,
        "rmw_ps": rmw_ns * 1000,
    }
    cases = []
    for name, machine, n in (
        ("one socket", one_socket, 2),
        ("one socket", one_socket, 64),
        ("a socket each", sockets, 64),
    ):
        arguments = {"operation": "add", "threads": n, "run_ns": window_ns, "warmup_ns": window_ns}
        theory = (window_ns // (transfer_ns + rmw_ns)) / window_ns
        cases.append(Case(f"one line, {n} threads, {name}: throughput", theory, _crowd, (machine, arguments)))
    arguments = {"operation": "add", "threads": 64, "run_ns": window_ns, "warmup_ns": window_ns}
    for name, machine in (("one socket", one_socket), ("a socket each", sockets)):
        in_a_row = 2 + transfer_ns // 2 // rmw_ns
        theory = in_a_row * (window_ns // (transfer_ns + rmw_ns)) / window_ns
        stays = machine | {"line_stay_permille": 500}
        cases.append(
            Case(f"line that stays, 64 threads, {name}: throughput", theory, _crowd, (stays, arguments))
        )
    for k in (2, 8, 32):
        arguments = {
            "operation": "add",
            "threads": 64,
            "words": k,
            "run_ns": window_ns,
            "warmup_ns": window_ns,
        }
        theory = k * (window_ns // (transfer_ns + rmw_ns)) / window_ns
        cases.append(
            Case(f"split line, {k} ways, 64 threads: throughput", theory, _crowd, (one_socket, arguments))
        )
    return cases


def _readers() -> list[Case]:
    """Readers of a latch that is split, seldom two at once: each draws a part, which others have used last but for one turn in n.

    Two requests find the line elsewhere then, the load that looks and the compare-and-swap that enters. The addition that leaves finds it at
    home. The number of parts is not in it: more parts shorten queues and save no transfer.
    """
    transfer_ns, load_ns, rmw_ns, outside_ns, turns = 50, 1, 7, 4_000, 60_000
    machine = {
        "cores_per_socket": 64,
        "same_socket_ps": transfer_ns * 1000,
        "load_ps": load_ns * 1000,
        "rmw_ps": rmw_ns * 1000,
    }
    cases = []
    for n, parts in ((2, 1), (8, 8), (8, 64), (64, 512)):
        arguments = {
            "operation": "s_latch",
            "threads": n,
            "words": parts,
            "outside_ns": outside_ns,
            "exponential": True,
            "run_ns": turns * outside_ns // n,
            "warmup_ns": 1 * MS,
        }
        turn_ns = outside_ns + load_ns + 2 * rmw_ns + 2 * transfer_ns * (1 - 1 / n)
        name = f"s-latch in parts, {parts} of them, {n} threads: throughput"
        cases.append(Case(name, n / turn_ns, _crowd, (machine, arguments)))
    return cases


def _locks() -> list[Case]:
    """Locks at no cost but time: who finds a test-and-set lock taken tries again, who finds a mutex taken parks."""
    cores = {"cores_per_socket": 64}
    cases = []
    for n, outside, between in ((4, 4_000, 500), (16, 10_000, 2_000), (64, 50_000, 2_000)):
        hold = 1_000
        arguments = {
            "operation": "test_and_set",
            "threads": n,
            "hold_ns": hold,
            "outside_ns": outside,
            "attempt_ns": between,
            "exponential": True,
            "data_lines": 1,
            "run_ns": 100 * MS,
            "warmup_ns": 1 * MS,
        }
        theory = retrials(n, outside, hold, between)
        cases.append(Case(f"test-and-set lock, {n} spinners: throughput", theory, _crowd, (cores, arguments)))
    for n, outside in ((4, 2_000), (32, 10_000)):
        hold = 1_000
        arguments = {
            "operation": "futex",
            "threads": n,
            "hold_ns": hold,
            "outside_ns": outside,
            "exponential": True,
            "data_lines": 1,
            "run_ns": 200 * MS,
        }
        throughput = repairman(n, 1, outside, hold)
        parked = n - throughput * (outside + hold)
        cases.append(
            Case(f"convoy at a mutex, {n} threads: threads parked", parked, _parked, (cores, arguments))
        )
    return cases


CASES = tuple(_cases())


def _measured(case: Case, seed: int) -> float:
    return case.measure(seed, *case.arguments)


def validate(cases: Sequence[Case] = CASES, *, executor: Executor | None = None) -> pd.DataFrame:
    """One row a case: the formula's value, the mean and its 99 % interval, and whether it holds."""
    work = [(case, zlib.crc32(case.name.encode()) + i) for case in cases for i in range(REPLICATIONS)]
    run = map if executor is None else executor.map
    values = list(run(_measured, *zip(*work, strict=True)))
    rows = []
    for i, case in enumerate(cases):
        some = values[i * REPLICATIONS : (i + 1) * REPLICATIONS]
        mean = math.fsum(some) / REPLICATIONS
        deviation = math.sqrt(sum((x - mean) ** 2 for x in some) / (REPLICATIONS - 1))
        half_width = T_99 * deviation / math.sqrt(REPLICATIONS)
        rows.append(
            {
                "case": case.name,
                "formula": case.theory,
                "simulated": mean,
                "half_width_percent": 100 * half_width / mean,
                "off_percent": 100 * (mean / case.theory - 1),
                "holds": abs(mean - case.theory) <= half_width <= MOST_HALF_WIDTH * mean,
            }
        )
    return pd.DataFrame(rows)


def formulas_sim(*, executor: Executor | None = None) -> Run:
    """All cases, for `engineroom record`."""
    return as_run(validate(executor=executor))


def as_run(checked: pd.DataFrame) -> Run:
    """What `validate` returned, as the run that the figure own-machine-validation draws."""
    families = [next(f for f in FAMILIES if name.startswith(f)) for name in checked["case"]]
    return Run("own-machine-validation", "sim", checked.assign(series=families), provenance.machine())
