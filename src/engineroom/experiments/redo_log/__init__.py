"""The redo log chapter's experiments: the log of 5.6, 5.7 and 8.0 on the simulated machine, and what a commit costs.

The machine and the loads below are fixed before the first comparison with a published number. What a simulated
transaction does besides redo is computing and waiting for its client: no locks, no pages, no binlog. Where the sources'
curves come from those, the simulation cannot show it, and the page says so.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from engineroom import provenance
from engineroom.experiments.redo_log.host import where_time_goes_host
from engineroom.experiments.redo_log.live import flushes_live
from engineroom.machine.presets import preset
from engineroom.progress import bar
from engineroom.runs import Run

__all__ = [
    "COMMIT_THREADS",
    "DESIGNS",
    "LARGE_TRANSACTIONS",
    "MACHINE",
    "RECORD",
    "SYSBENCH",
    "TPCC",
    "commit_cost_kernel",
    "commit_cost_sim",
    "components",
    "few_clients_sim",
    "flushes_sim",
    "load_time_sim",
    "parameters",
    "reservation_callers_sim",
    "throughput_sim",
    "where_time_goes_on_host",
    "where_time_goes_sim",
]

# Series of figure 7-6 and the log behind each: design, and what differs from its defaults.
DESIGNS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "flushes": ("8.0", {}),
    "old_redo": ("5.7", {}),
    "5.6": ("5.6", {}),
    "writer_threads_off": ("8.0, writer threads off", {}),
    "no_cpu_gate": ("8.0", {"cpu_gate": 0}),
}

# Before and after the new log, where a figure says so.
BUILDS: Mapping[str, str] = {"before": "5.7", "after": "8.0"}

# The sources' machine, with a source for each number in data/machine.
MACHINE = "four_sockets_176"

# SysBench read-write: 18 statements of which four write, in four rounds of reads and one write, client beside the server.
SYSBENCH: Mapping[str, int] = {
    "statements": 4,
    "away_ns": 150_000,
    "statement_ns": 250_000,
    "mtrs_per_statement": 3,
    "mtr_bytes": 150,
    "commit_mtrs": 2,
    "flush_every": 1,
    "dirty_percent": 30,
}

# TPC-C: about 25 statements a transaction on the average of its five kinds, most of them short.
TPCC: Mapping[str, int] = {
    "statements": 25,
    "away_ns": 80_000,
    "statement_ns": 50_000,
    "mtrs_per_statement": 3,
    "mtr_bytes": 200,
    "commit_mtrs": 2,
    "flush_every": 1,
    "dirty_percent": 30,
}

# A load in large transactions: batches of 100 rows, two mini-transactions a row, 4 MB of redo a transaction.
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
COMMIT_THREADS = (1, 2, 4, 8, 16, 32, 64)
SEEDS = (1, 2, 3)
MS = 1_000_000

COLUMNS = {
    "concurrency": "clients in a closed loop",
    "flushes_per_transaction": "fsyncs of the redo log over transactions committed",
    "tpmC": "transactions per minute of virtual time",
    "throughput": "transactions per second of virtual time",
    "load_time_minutes": "virtual time until all workers have ended, minutes",
    "share_percent": "share of the clients' time on a CPU: computing, waiting for cache lines, spinning",
    "threads": "threads that commit mini-transactions, nothing else",
    "nanoseconds": "elapsed time of all threads over commits, less that of the work between them; CPU time with one thread",
    "cpu_ns": "CPU time of the committing threads over commits, less that of the work between them",
    "elapsed_ns": "elapsed time of all threads over commits, less that of the work between them",
    "between_ns": "mean computing between two commits of a thread",
    "elapsed_ns_with_work": "elapsed time of all threads over commits",
    "cpu_ns_with_work": "CPU time of the committing threads over commits",
    "work_elapsed_ns": "elapsed time of the same threads and work without commits, over the number of commits",
    "work_cpu_ns": "CPU time of the same threads and work without commits, over the number of commits",
    "latch_waits_percent": "commits that did not get the mutex of 5.7 at once",
    "transactions": "transactions counted",
    "fsyncs": "fsyncs of the redo log in the same time",
    "written_bytes": "bytes written to the log file in the same time",
    "latency_ms_p99": "99th percentile of a transaction's time, ms",
    "log_thread_spin_percent": "CPU time that the log threads spin, over the elapsed time",
    "window_ms": "virtual time measured, doubled until long enough",
    "halves_apart_percent": "throughput of the window's second half against its first",
    "component": "what the clients do",
    "caller": "what a client does when it reserves or waits for the reservation",
    "build": "before or after: the log of 5.7 or of 8.0",
}


def parameters(machine: str | Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a machine of the book by its name, or those given."""
    return dict(preset(machine).values()) if isinstance(machine, str) else dict(machine)


def _simulate(design: str, load: Mapping[str, int], seed: int, **more: Any) -> dict[str, Any]:
    from engineroom import _native

    seen: dict[str, Any] = _native.redo_log.simulate(
        design=design,
        parameters=parameters(more.pop("machine", MACHINE)),
        load=dict(load),
        log=dict(more.pop("log", {})),
        seed=seed,
        **more,
    )
    return seen


# A window is doubled until it is long enough (see `_settled`), up to this.
FIRST_WINDOW_MS, LONGEST_WINDOW_MS = 60, 3840
TURNS_A_CLIENT, HALVES_APART = 5, 0.05


def _settled(
    design: str, load: Mapping[str, int], seed: int, *, first_ms: int, longest_ms: int, **more: Any
) -> dict[str, Any]:
    """Simulate over a window that a convoy on a latch cannot outlast.

    The window is doubled until clients have committed `TURNS_A_CLIENT` transactions each, on the average, and the
    throughput of its second half is within `HALVES_APART` of the first's. The warm-up is long enough for the CPU usage to be
    sampled twice.
    """
    window_ms = first_ms
    before = _simulate(design, load, seed, run_ns=window_ms * MS, warmup_ns=210 * MS, **more)
    while True:
        window_ms *= 2
        seen = _simulate(design, load, seed, run_ns=window_ms * MS, warmup_ns=210 * MS, **more)
        first, both = before["transactions"], seen["transactions"]
        apart = abs((both - first) / first - 1) if first else float("inf")
        is_long = both >= TURNS_A_CLIENT * load["clients"]
        if (is_long and apart <= HALVES_APART) or 2 * window_ms > longest_ms:
            return {**seen, "window_ms": window_ms, "halves_apart_percent": 100 * min(apart, 1.0)}
        before = seen


def _run(figure: str, method: str, rows: Sequence[Mapping[str, Any]], **about: Any) -> Run:
    return Run(
        figure=figure,
        method=method,
        table=pd.DataFrame(list(rows)),
        provenance={**provenance.machine(seed=SEEDS[0]), **about},
        summary="median" if method == "sim" else "min",
        columns=COLUMNS,
    )


def _sweep(
    figure: str,
    points: Iterable[Mapping[str, Any]],
    measure: Callable[[Mapping[str, Any], int], Mapping[str, Any]],
    *,
    seeds: Sequence[int],
    machine: str | Mapping[str, Any],
    load: Mapping[str, Any],
) -> Run:
    """A row for each point and seed: the point, the repeat, and what `measure` gives for it."""
    turns = [(point, seed) for point in points for seed in seeds]
    with provenance.watch() as watched:
        rows = [
            {**point, "repeat": seed - seeds[0], **measure(point, seed)}
            for point, seed in bar(turns, desc=figure, unit="run")
        ]
    return _run(figure, "sim", rows, during=watched, machine=parameters(machine), load=dict(load))


def _cross(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations, the last column fastest."""
    return [dict(zip(columns, values, strict=True)) for values in itertools.product(*columns.values())]


def flushes_sim(
    *,
    clients: Sequence[int] = (1, 2, 3, 5, 10, 20, 50, 100, 200),
    seeds: Sequence[int] = SEEDS,
    run_ms: int = 500,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """Figure 7-6: fsyncs of the redo log a transaction, and the same with the CPU gate of the log threads switched off."""

    def measure(point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        design, log = DESIGNS[point["series"]]
        load = {**SYSBENCH, "clients": point["concurrency"]}
        seen = _simulate(design, load, seed, log=log, machine=machine, run_ns=run_ms * MS, warmup_ns=300 * MS)
        spin_ps = sum(
            ps for path, state, ps in seen["activities"] if state == "spin" and path[0].startswith("log_")
        )
        return {
            "flushes_per_transaction": seen["fsyncs"] / max(1, seen["transactions"]),
            "transactions": seen["transactions"],
            "fsyncs": seen["fsyncs"],
            "written_bytes": seen["written_bytes"],
            "latency_ms_p99": seen["latency_ns_p99"] / MS,
            "log_thread_spin_percent": 100 * spin_ps / 1000 / seen["now_ns"],
        }

    points = _cross(concurrency=clients, series=DESIGNS)
    return _sweep("fig-7-06", points, measure, seeds=seeds, machine=machine, load=SYSBENCH)


def throughput_sim(
    *,
    clients: Sequence[int] = (50, 100, 150, 200, 250, 300),
    seeds: Sequence[int] = SEEDS,
    first_ms: int = FIRST_WINDOW_MS,
    longest_ms: int = LONGEST_WINDOW_MS,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """Figure 7-1, the redo part alone: the same transactions over the log of 5.7 (before) and of 8.0 (after)."""

    def measure(point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        load = {**TPCC, "clients": point["concurrency"]}
        seen = _settled(
            BUILDS[point["series"]], load, seed, first_ms=first_ms, longest_ms=longest_ms, machine=machine
        )
        return {
            "tpmC": seen["transactions"] / seen["window_ms"] * 60_000,
            "window_ms": seen["window_ms"],
            "halves_apart_percent": seen["halves_apart_percent"],
            "transactions": seen["transactions"],
            "fsyncs": seen["fsyncs"],
            "latency_ms_p99": seen["latency_ns_p99"] / MS,
        }

    points = _cross(concurrency=clients, series=BUILDS)
    return _sweep("fig-7-01", points, measure, seeds=seeds, machine=machine, load=TPCC)


def few_clients_sim(
    *,
    clients: Sequence[int] = (1, 2, 5, 10, 20, 40),
    seeds: Sequence[int] = SEEDS,
    run_ms: int = 400,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """The chapter's statement on fewer than 50 connections: the load of figure 7-1, over the log of 5.7 and of 8.0."""
    designs = {"old_redo": "5.7", "new_redo": "8.0"}

    def measure(point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        load = {**TPCC, "clients": point["concurrency"]}
        seen = _simulate(
            designs[point["series"]], load, seed, machine=machine, run_ns=run_ms * MS, warmup_ns=210 * MS
        )
        return {
            "throughput": seen["transactions"] / run_ms * 1000,
            "transactions": seen["transactions"],
            "fsyncs": seen["fsyncs"],
            "latency_ms_p99": seen["latency_ns_p99"] / MS,
        }

    points = _cross(concurrency=clients, series=designs)
    return _sweep("num-ch7-1", points, measure, seeds=seeds, machine=machine, load=TPCC)


def load_time_sim(*, seeds: Sequence[int] = SEEDS, machine: str | Mapping[str, Any] = MACHINE) -> Run:
    """Figure 7-2: 100 workers load in transactions of 4 MB of redo, over the log of 5.7 and of 8.0."""

    def measure(point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        load = {**LARGE_TRANSACTIONS, "clients": LOAD_WORKERS}
        seen = _simulate(BUILDS[point["build"]], load, seed, machine=machine, run_ns=600_000 * MS)
        return {
            "load_time_minutes": seen["window_ns"] / 60e9,
            "transactions": seen["transactions"],
            "fsyncs": seen["fsyncs"],
            "written_bytes": seen["written_bytes"],
        }

    points = _cross(build=BUILDS, series=["load_time"])
    return _sweep("fig-7-02", points, measure, seeds=seeds, machine=machine, load=LARGE_TRANSACTIONS)


# What a profiler of CPU samples sees; a parked thread is in no sample.
ON_CPU = ("work", "memory", "spin")


def components(activities: Sequence[tuple[tuple[str, ...], str, int]]) -> dict[str, int]:
    """CPU time of the clients by what they do: the innermost of our names on the path."""
    found: dict[str, int] = {}
    for path, state, ps in activities:
        if path[0] != "client" or state not in ON_CPU:
            continue
        name = path[-1]
        if name == "log_reservation" and "log_write_up_to" in path:
            name = "log_write_up_to"
        found[name] = found.get(name, 0) + ps
    return found


def where_time_goes_sim(
    *,
    clients: int = 250,
    seeds: Sequence[int] = SEEDS,
    first_ms: int = FIRST_WINDOW_MS,
    longest_ms: int = LONGEST_WINDOW_MS,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """Figure 7-4: where 250 clients spend their CPU time over the log of 5.7 and of 8.0."""
    rows = []
    waits = []
    turns = [
        (series, design, seed)
        for series, design in (("old_redo", "5.7"), ("new_redo", "8.0"))
        for seed in seeds
    ]
    with provenance.watch() as watched:
        for series, design, seed in bar(turns, desc="fig-7-04", unit="run"):
            seen = _settled(
                design,
                {**TPCC, "clients": clients},
                seed,
                first_ms=first_ms,
                longest_ms=longest_ms,
                machine=machine,
            )
            spent = components(seen["activities"])
            whole = sum(spent.values())
            rows += [
                {
                    "component": name,
                    "series": series,
                    "repeat": seed - seeds[0],
                    "share_percent": 100 * ps / whole,
                }
                for name, ps in sorted(spent.items())
            ]
            waits += [{"series": series, "repeat": seed - seeds[0], **wait} for wait in seen["waits"]]
    run = _run("fig-7-04", "sim", rows, during=watched, machine=parameters(machine), load=dict(TPCC))
    return Run(**{**run.__dict__, "tables": {"waits": pd.DataFrame(waits)}})


def reservation_callers_sim(
    *,
    clients: int = 250,
    seeds: Sequence[int] = SEEDS,
    first_ms: int = FIRST_WINDOW_MS,
    longest_ms: int = LONGEST_WINDOW_MS,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """Figure 7-5: for whom 250 clients spend CPU time in the reservation of 5.7."""
    rows = []
    with provenance.watch() as watched:
        for seed in bar(seeds, desc="fig-7-05", unit="run"):
            seen = _settled(
                "5.7",
                {**TPCC, "clients": clients},
                seed,
                first_ms=first_ms,
                longest_ms=longest_ms,
                machine=machine,
            )
            by_caller: dict[str, int] = {}
            for path, state, ps in seen["activities"]:
                if path[-1] == "log_reservation" and state in ON_CPU:
                    by_caller[path[-2]] = by_caller.get(path[-2], 0) + ps
            whole = sum(by_caller.values())
            rows += [
                {
                    "caller": caller,
                    "series": "log_reservation_wait",
                    "repeat": seed - seeds[0],
                    "share_percent": 100 * ps / whole,
                }
                for caller, ps in sorted(by_caller.items())
            ]
    return _run("fig-7-05", "sim", rows, during=watched, machine=parameters(machine), load=dict(TPCC))


COMMITS = ("mtr_5_7", "mtr_8_0", "mtr_8_0_writer_threads_off")
# Between two commits a thread computes as long as the cheapest mini-transaction of the recorded servers takes, a row of a bulk
# insert in 8.0: 1.1 us of CPU time. With nothing in between, whoever frees the mutex of 5.7 takes it again unseen, so that
# nobody waits for it, and a processor overlaps a commit with the next, which no server does.
BETWEEN_COMMITS_NS = 1000
OTHER_LOADS_NS = (0, 200)


def commit_cost_kernel(
    *,
    threads: Sequence[int] = (1, 2, 4, 8, 16),
    commits: int = 200_000,
    repeats: int = 21,
    mtr_bytes: int = 100,
    work_ns: int = BETWEEN_COMMITS_NS,
    other_loads_ns: Sequence[int] = OTHER_LOADS_NS,
) -> Run:
    """The degradation article's statement, on the machine at hand: plain code, no simulation. Series take turns.

    A commit's time is what it adds to the same work without commits: CPU time with one thread, elapsed time with more. The
    table `loads` has the same for less work in between.
    """
    from engineroom import _native

    rows = []
    loads = (work_ns, *other_loads_ns)
    turns = [
        (r, load, n, series) for r in range(repeats) for load in loads for n in threads for series in COMMITS
    ]
    with provenance.watch() as watched:
        for repeat, load, n, series in bar(turns, desc="num-deg-3", unit="run"):
            each = commits // n
            seen = _native.redo_log.commit_cost(
                series, threads=n, commits_per_thread=each, mtr_bytes=mtr_bytes, work_ns=load
            )
            a_commit = {name: value / (each * n) for name, value in seen.items()}
            rows.append(
                {
                    "threads": n,
                    "series": series,
                    "repeat": repeat,
                    "between_ns": load,
                    **{f"{time}_with_work": a_commit[time] for time in ("elapsed_ns", "cpu_ns")},
                    **{f"work_{time}": a_commit[f"work_{time}"] for time in ("elapsed_ns", "cpu_ns")},
                    "latch_waits_percent": 100 * a_commit["latch_waits"],
                }
            )
    table = pd.DataFrame(rows)
    # The work alone takes the same in every repeat, and others only slow it down.
    same = table.groupby(["series", "threads", "between_ns"])
    for time in ("elapsed_ns", "cpu_ns"):
        table[time] = table[f"{time}_with_work"] - same[f"work_{time}"].transform("min")
    table["nanoseconds"] = table["cpu_ns"].where(table["threads"] == 1, table["elapsed_ns"])
    is_main = table["between_ns"] == work_ns
    main = [{str(name): value for name, value in row.items()} for row in table[is_main].to_dict("records")]
    run = _run("num-deg-3", "kernel", main, during=watched, mtr_bytes=mtr_bytes, commits=commits)
    return dataclasses.replace(run, tables={"loads": table[~is_main].reset_index(drop=True)})


def commit_cost_sim(
    *,
    threads: Sequence[int] = COMMIT_THREADS,
    seeds: Sequence[int] = SEEDS,
    run_ms: int = 4,
    machine: str | Mapping[str, Any] = MACHINE,
) -> Run:
    """The same statement where a reader has no such machine: up to 64 threads that do nothing but commit."""
    designs = dict(zip(COMMITS, ("5.7", "8.0", "8.0, writer threads off"), strict=True))
    load = {"statements": 1, "statement_ns": 0, "commit_mtrs": 0, "flush_every": 0, "dirty_percent": 0}

    def measure(point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        given = {**load, "clients": point["threads"], "mtr_bytes": 100}
        seen = _simulate(
            designs[point["series"]], given, seed, machine=machine, run_ns=run_ms * MS, warmup_ns=1 * MS
        )
        return {"nanoseconds": run_ms * MS / max(1, seen["mtrs"])}

    points = _cross(threads=threads, series=COMMITS)
    return _sweep("num-deg-3", points, measure, seeds=seeds, machine=machine, load=load)


def where_time_goes_on_host() -> list[Run]:
    """Figures 7-4 and 7-5 on real threads, with the load of the simulation."""
    return where_time_goes_host(TPCC)


RECORD: dict[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("fig-7-01", "sim"): throughput_sim,
    ("fig-7-02", "sim"): load_time_sim,
    ("fig-7-04", "sim"): where_time_goes_sim,
    ("fig-7-04", "host"): where_time_goes_on_host,
    ("fig-7-05", "sim"): reservation_callers_sim,
    ("fig-7-06", "sim"): flushes_sim,
    ("fig-7-06", "live"): flushes_live,
    ("num-ch7-1", "sim"): few_clients_sim,
    ("num-deg-3", "kernel"): commit_cost_kernel,
    ("num-deg-3", "sim"): commit_cost_sim,
}
