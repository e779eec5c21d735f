"""The logs of 5.6, 5.7 and 8.0 on the simulated machine, under the sources' loads.

The machine and the loads are fixed before the first comparison with a published number. What a simulated transaction does besides
redo is computing and waiting for its client: no locks, no pages, no binlog. Where the sources' curves come from those, the
simulation cannot show it, and the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from engineroom.chapters.redo_log.experiments.designs import BUILDS, COMMITS, FLUSHES, LOGS, SERIES
from engineroom.simulating import settling
from engineroom.simulating.activities import Activity, percent, time_by
from engineroom.simulating.experiment import Experiment, Given, Seen, Together
from engineroom.simulating.loads import SYSBENCH, TPCC

# The sources' machine, with a source for each number in data/machine.
MACHINE = "four_sockets_176"

# A load in large transactions: batches of 100 rows, two mini-transactions per row, 4 MB of redo a transaction.
LARGE_TRANSACTIONS: Mapping[str, int] = {
    "statements": 50,
    "away_ns": 50_000,
    "statement_ns": 300_000,
    "mtrs_per_statement": 200,
    "mtr_bytes": 400,
    "commit_mtrs": 2,
    "flush_every": 1,
    "dirty_percent": 10,
    "transactions": 2,
}
LOAD_WORKERS = 100
# Nothing but commits of mini-transactions.
ONLY_COMMITS: Mapping[str, int] = {
    "statements": 1,
    "statement_ns": 0,
    "commit_mtrs": 0,
    "flush_every": 0,
    "dirty_percent": 0,
    "mtr_bytes": 100,
}
COMMIT_THREADS = (1, 2, 4, 8, 16, 32, 64)
MS = 1_000_000

COLUMNS = {
    "concurrency": "clients in a closed loop",
    "flushes_per_transaction": "fsyncs of the redo log over transactions committed",
    "tpmC": "transactions per minute of virtual time",
    "throughput": "transactions per second of virtual time",
    "load_time_minutes": "virtual time until all workers have ended, minutes",
    "share_percent": "share of the clients' time on a CPU: computing, waiting for cache lines, spinning",
    "threads": "threads that commit mini-transactions, nothing else",
    "nanoseconds": "virtual time over commits of one thread",
    "transactions": "transactions counted",
    "fsyncs": "fsyncs of the redo log in the same time",
    "written_bytes": "bytes written to the log file in the same time",
    "latency_ms_p99": "99th percentile of a transaction's time, ms",
    "log_thread_spin_percent": "CPU time that the log threads spin, over the elapsed time",
    **settling.COLUMNS,
    "component": "what the clients do",
    "caller": "what a client does when it reserves or waits for the reservation",
    "build": "before or after: the log of 5.7 or of 8.0",
}
_experiment = partial(Experiment, machine=MACHINE, columns=COLUMNS, options=settling.WINDOW)


def _simulate(series: str, given: Given, *, clients: int, **window: Any) -> dict[str, Any]:
    from engineroom import _native

    design = SERIES[series]
    seen: dict[str, Any] = _native.redo_log.simulate(
        design=design.name,
        parameters=dict(given.machine),
        load={**given.load, "clients": clients},
        log=dict(design.log),
        seed=given.seed,
        **window,
    )
    return seen


def _settled(series: str, given: Given, *, clients: int, **window: int) -> dict[str, Any]:
    return settling.settled(partial(_simulate, series, given, clients=clients), **window)


def _flushes(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _settled(point["series"], given, clients=point["concurrency"], **window)
    spin_ps = sum(time_by(seen["activities"], _log_thread, states=("spin",)).values())
    return {
        "flushes_per_transaction": seen["fsyncs"] / max(1, seen["transactions"]),
        "transactions": seen["transactions"],
        "fsyncs": seen["fsyncs"],
        "written_bytes": seen["written_bytes"],
        "latency_ms_p99": seen["latency_ns_p99"] / MS,
        "log_thread_spin_percent": 100 * spin_ps / 1000 / seen["window_ns"],
        **settling.window(seen),
    }


def _log_thread(path: Sequence[str]) -> str | None:
    return path[0] if path[0].startswith("log_") else None


flushes_sim = _experiment(
    figure="fig-7-06",
    says="fsyncs of the redo log per transaction, and the same with the CPU gate of the log threads switched off",
    points={"concurrency": (1, 2, 3, 5, 10, 20, 50, 100, 200), "series": FLUSHES},
    measure=_flushes,
    load=SYSBENCH,
)


def _throughput(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _settled(point["series"], given, clients=point["concurrency"], **window)
    return {
        "tpmC": seen["transactions"] / seen["window_ms"] * 60_000,
        "transactions": seen["transactions"],
        "fsyncs": seen["fsyncs"],
        "latency_ms_p99": seen["latency_ns_p99"] / MS,
        **settling.window(seen),
    }


throughput_sim = _experiment(
    figure="own-redo-throughput",
    says="the redo part of figure 7-1 alone: the same transactions over the log of 5.7 (before) and of 8.0 (after)",
    points={"concurrency": (50, 100, 150, 200, 250, 300), "series": BUILDS},
    measure=_throughput,
    load=TPCC,
)


def _few_clients(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _settled(point["series"], given, clients=point["concurrency"], **window)
    return {
        "throughput": seen["transactions"] / seen["window_ms"] * 1000,
        "transactions": seen["transactions"],
        "fsyncs": seen["fsyncs"],
        "latency_ms_p99": seen["latency_ns_p99"] / MS,
        **settling.window(seen),
    }


few_clients_sim = _experiment(
    figure="own-redo-few-clients",
    says="the redo part of num-ch7-1 alone: few clients over the log of 5.7 and of 8.0",
    points={"concurrency": (1, 2, 5, 10, 20, 40), "series": LOGS},
    measure=_few_clients,
    load=TPCC,
)


def _load_time(point: Mapping[str, Any], given: Given) -> dict[str, Any]:
    seen = _simulate(point["build"], given, clients=LOAD_WORKERS, run_ns=600_000 * MS)
    return {
        "load_time_minutes": seen["window_ns"] / 60e9,
        "transactions": seen["transactions"],
        "fsyncs": seen["fsyncs"],
        "written_bytes": seen["written_bytes"],
    }


load_time_sim = _experiment(
    figure="fig-7-02",
    says="100 workers load in transactions of 4 MB of redo, over the log of 5.7 and of 8.0",
    points={"build": BUILDS, "series": ("load_time",)},
    measure=_load_time,
    options={},
    load=LARGE_TRANSACTIONS,
)


def components(activities: Sequence[Activity]) -> dict[str, int]:
    """CPU time of the clients by what they do, picoseconds: the innermost of our names on the path."""
    return time_by(activities, _component)


def _component(path: Sequence[str]) -> str | None:
    if path[0] != "client":
        return None
    waits_to_write = path[-1] == "log_reservation" and "log_write_up_to" in path
    return "log_write_up_to" if waits_to_write else path[-1]


def _where_time_goes(point: Mapping[str, Any], given: Given, *, clients: int, **window: int) -> Seen:
    """The rows of figure 7-4, and of the log of 5.7 those of figure 7-5."""
    seen = _settled(point["series"], given, clients=clients, **window)
    activities = seen["activities"]
    rows = [
        {"component": name, "share_percent": share} for name, share in percent(components(activities)).items()
    ]
    if point["series"] == "old_redo":
        rows += [
            {"series": "log_reservation_wait", "caller": name, "share_percent": share}
            for name, share in percent(time_by(activities, caller)).items()
        ]
    return Seen(rows, tables={"waits": seen["waits"]})


def caller(path: Sequence[str]) -> str | None:
    """What a client does that is in the reservation, or waits for it."""
    return path[-2] if path[-1] == "log_reservation" else None


where_time_goes_sim = Together(
    whole=_experiment(
        figure="fig-7-04",
        says="where 250 clients spend their CPU time over the log of 5.7 and of 8.0, and on whose behalf in the reservation of 5.7",
        points={"series": LOGS},
        measure=_where_time_goes,
        options={"clients": 250, **settling.WINDOW},
        load=TPCC,
    ),
    figures={
        "fig-7-04": {series: series for series in LOGS},
        "fig-7-05": {"log_reservation_wait": "log_reservation_wait"},
    },
)


def _commit_cost(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _settled(point["series"], given, clients=point["threads"], **window)
    return {"nanoseconds": seen["window_ns"] / max(1, seen["mtrs"]), **settling.window(seen)}


commit_cost_sim = _experiment(
    figure="num-deg-3",
    says="the degradation article's statement where a reader has no such machine: threads that do nothing but commit",
    points={"threads": COMMIT_THREADS, "series": COMMITS},
    measure=_commit_cost,
    options={"first_ms": 4, "longest_ms": 64, "warmup_ms": 1},
    load=ONLY_COMMITS,
)
