"""The simulated machine against real threads: the same redo logs, the same clients, an emulated disk.

`real_against_simulated` measures the primitives and all loads on real threads, in turns. Then it fits one of the primitives, the wake-up,
to the loads of `FITTED` alone and simulates all loads with it; the error that counts is that of `HELD_OUT`.
"""

from __future__ import annotations

import math
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.machine import calibrate
from engineroom.machine.presets import middle_of, preset, times
from engineroom.measuring.real_threads import MOST_STOLEN_MS, left_alone, pinned, short_slices
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.runs.summary import several
from engineroom.simulating.executors import processes
from engineroom.simulating.sweep import cross, sweep

_COMMIT = {"statements": 0, "mtrs_per_statement": 0, "commit_mtrs": 1, "dirty_percent": 0}
US = 1000
# Each load, and the time of its disk's fsync in us.
LOADS: Mapping[str, tuple[str, Mapping[str, int], int]] = {
    "a": ("one append of 300 bytes per commit", {**_COMMIT, "mtr_bytes": 300}, 100),
    "b": ("ten appends of 100 bytes per commit", {**_COMMIT, "mtr_bytes": 100, "commit_mtrs": 10}, 100),
    "c": (
        "one append of 1 KiB per commit, 200 us away between commits",
        {**_COMMIT, "statements": 1, "away_ns": 200 * US, "mtr_bytes": 1024},
        100,
    ),
    "d": ("twenty appends of 64 bytes per commit", {**_COMMIT, "mtr_bytes": 64, "commit_mtrs": 20}, 100),
    "e": (
        "nine transactions that only append to one that commits",
        {**_COMMIT, "mtr_bytes": 300, "flush_every": 10},
        100,
    ),
    "f": (
        "one client of 64 KiB appends beside commits of 300 bytes",
        {**_COMMIT, "mtr_bytes": 300, "large_mtr_bytes": 64 << 10},
        100,
    ),
    "g": ("as a, with a disk of 500 us", {**_COMMIT, "mtr_bytes": 300}, 500),
}
FITTED, HELD_OUT = ("a", "b", "c"), ("d", "e", "f", "g")
DESIGNS = ("5.7", "8.0")
CLIENTS = (1, 2, 4, 8, 16)
# A run of it has some tens to hundreds of commits, which a few dozen waits for the log's mutex decide: the others have
# several hundred to hundreds of thousands. It is run so many times as often as they are.
SCARCE, SCARCE_TIMES = "f", 3
CROWDS = (32, 64)  # shown as distributions, without a goal
GOALS = {"median_percent": 10.0, "most_percent": 20.0, "fsyncs_percent": 15.0}
# What is fitted, eight steps to a doubling: what a wake-up takes depends on how long a processor has been idle, which its primitive
# does not know of a load. Nothing else: of two costs the loads tell only the sum.
FIT = "wake_quantiles_ps"
FACTORS = tuple(2 ** (step / 8) for step in range(-12, 13))
PROCESSORS = 2
RUN_MS = 400
RUNS_A_SAMPLE = 3  # a sample of the primitives takes about as long as so many runs
# How far apart the processors lie is measured with each real run: columns, and the primitives that the simulated run has from there.
APART = {
    "line_ns": "line_transfer",
    "copy_ns": "copy_64_kib_beside_a_write",
    "write_ns": "emulated_write_64_kib_beside_a_copy",
}
MEASURED = ("commits_per_s", "fsyncs_per_commit", "processors_used")
SERIES = ("real", "simulated")

COLUMNS = {
    "load": "letter of the load",
    "design": "the redo log's design",
    "clients": "threads in a closed loop",
    "series": "real: threads of this machine; simulated: virtual time",
    "is_held_out": "whether the load took no part in the fit",
    "commits_per_s": "transactions of committing clients per second",
    "fsyncs_per_commit": "fsyncs over those transactions",
    "processors_used": "processor time of the process over the time of the run",
    "latency_p99_us": "the slowest of a hundred transactions, us",
    "stolen_ms": "of all processors, what the hypervisor withheld from the real run",
    "line_ns": "handing a cache line over between the two processors, before the real run; the simulated one takes it from there",
    "copy_ns": "copying 64 KiB into a log buffer that the other processor writes from, before and after the run, the mean",
    "write_ns": "writing 64 KiB that the other processor has copied, as above",
    "line_after_ns": "line_ns after the real run",
    "is_disturbed": "whether too much was withheld or the processors moved: the run was repeated, and counts for nothing",
    "parameter": "what was fitted",
    "measured_ps": "its value by the primitives, picoseconds",
    "fitted_ps": "its value after the fit",
}


def _point(load: str, design: str, clients: int, seen: Mapping[str, Any], ns: int) -> dict[str, Any]:
    return {
        "load": load,
        "design": design,
        "clients": clients,
        "is_held_out": load in HELD_OUT,
        "commits_per_s": seen["transactions"] / ns * 1e9,
        "fsyncs_per_commit": seen["fsyncs"] / max(1, seen["transactions"]),
        "processors_used": seen["cpu_ns"] / ns,
        "latency_p99_us": seen["latency_ns_p99"] / 1000,
    }


def _log(design: str) -> dict[str, int]:
    """Small link buffers: clearing those of the server takes longer than a run."""
    return {"recent_written_slots": 1 << 17, "recent_closed_slots": 1 << 18} if design == "8.0" else {}


def _real(load: str, design: str, clients: int, *, run_ms: int, seed: int) -> dict[str, Any]:
    from engineroom import _native

    _, options, fsync_us = LOADS[load]
    seen = _native.redo_log.run_on_host(
        design=design,
        load={**options, "clients": clients},
        log={**_log(design), "seals_blocks": 1},
        run_ns=run_ms * 1000 * US,
        fsync_ns=fsync_us * US,
        seed=seed,
        profile=False,
    )
    return _point(load, design, clients, seen, seen["window_ns"])


def _simulated(
    load: str,
    design: str,
    clients: int,
    parameters: Mapping[str, Any],
    *,
    seal_ns: float,
    run_ms: int,
    seed: int,
) -> dict[str, Any]:
    """As long as on real threads, from the first moment: the log threads' gate samples the CPU every 100 ms."""
    from engineroom import _native

    _, options, fsync_us = LOADS[load]
    # The emulated disk sleeps: setting its timer is CPU time and a part of its time.
    lasts = fsync_us * 1_000_000 + parameters["timer_slack_ps"]
    sets = middle_of(parameters.get("set_timer_quantiles_ps", parameters["timer_ps"]))
    disk = {"fsync_ps": sets, "disk_fsync_quantiles_ps": [lasts]}
    seen = _native.redo_log.simulate(
        design=design,
        parameters={**parameters, **disk},
        load={**options, "clients": clients},
        log={**_log(design), "seal_ns": round(seal_ns)},
        run_ns=run_ms * 1000 * US,
        warmup_ns=0,
        seed=seed,
    )
    return _point(load, design, clients, seen, seen["window_ns"])


def _machine(primitives: Mapping[str, Sequence[float]], scheduler: Mapping[str, int]) -> dict[str, Any]:
    """The machine at hand as its primitives say, with the emulated disk and the scheduler of the recording."""
    found = {name: each["value"] for name, each in calibrate.parameters(primitives).items()}
    ns = {name: statistics.median(values) for name, values in primitives.items()}
    # Calls as the logs make them, with more to hand over than the least one.
    found["task_ps"] = round(1000 * max(0.0, ns["call_in_an_append"] - ns["awaited_load"]))
    of_the_book = preset("laptop").values()
    del of_the_book["wake_ps"]  # measured here by its quantiles
    return {
        **of_the_book,
        "kick_ps": 0,
        **found,
        **calibrate.emulated_disk(ns),
        **scheduler,
        # Only real-time threads are asked for. Either side sends what also interrupts an idle CPU.
        "pull_ps": found["kick_ps"] if scheduler else 0,
        "cores_per_socket": PROCESSORS,
    }


def _points(loads: Sequence[str], clients: Sequence[int]) -> list[tuple[str, str, int]]:
    """A load with a large client needs a second one that commits."""
    return [
        (load, design, n) for load in loads for design in DESIGNS for n in clients if load != "f" or n > 1
    ]


def _error(
    factor: float,
    start: Mapping[str, Any],
    points: Sequence[Sequence[Mapping[Any, Any]]],
    twin: Callable[..., dict[str, Any]],
) -> float:
    machine = {**start, FIT: times(start[FIT], factor)}
    off = []
    for of_one in points:
        real = statistics.median(row["commits_per_s"] for row in of_one)
        ours = statistics.median(twin(row, machine)["commits_per_s"] for row in of_one)
        off.append(abs(math.log(max(ours, 1.0) / real)))
    return statistics.mean(off)


def _fit(
    start: Mapping[str, Any],
    real: pd.DataFrame,
    twin: Callable[..., dict[str, Any]],
    executor: Executor,
    *,
    factors: Sequence[float],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The factor with the least mean error on the fitted loads; of two alike the nearer to the primitive."""
    real = undisturbed(real)
    fitted = real[~real["is_held_out"] & ~real["clients"].isin(CROWDS)]
    points = [mine.to_dict("records") for _, mine in fitted.groupby(["load", "design", "clients"])]
    error = partial(_error, start=dict(start), points=points, twin=twin)
    found = sweep(error, cross(factor=factors), executor=executor, desc="fit")
    tried = [{"error": each, FIT: factor} for each, factor in zip(found, factors, strict=True)]
    best = min(tried, key=lambda row: (row["error"], abs(math.log(row[FIT]))))
    return {**start, FIT: times(start[FIT], best[FIT])}, tried


def real_against_simulated(
    *,
    clients: Sequence[int] = CLIENTS,
    crowds: Sequence[int] = CROWDS,
    repeats: int = 9,
    crowd_repeats: int = 10,
    run_ms: int = RUN_MS,
    rest_ms: int = 100,
    samples: int = 2,
    factors: Sequence[float] = FACTORS,
) -> Run:
    """Measure, then fit, then simulate: one recording, with the load of the machine while it measured.

    The primitives are measured before every repeat, since what a timer costs on a virtual machine drifts within
    minutes. A real run of which the hypervisor takes too much is repeated.
    """
    from engineroom import _native

    if (cpus := os.cpu_count() or 1) < PROCESSORS:
        raise EngineRoomError(
            f"the comparison needs {PROCESSORS} CPUs, this machine has {cpus}",
            remedy="record it on a machine with more",
        )
    sweeps = [
        (repeat, _points(tuple(LOADS) if repeat % SCARCE_TIMES == 0 else (SCARCE,), clients))
        for repeat in range(repeats * SCARCE_TIMES)
    ]
    sweeps += [(repeat, _points(("a",), crowds)) for repeat in range(crowd_repeats)]
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        Sitting("host", seed=1) as sitting,
        short_slices(),
        pinned(PROCESSORS) as (scheduling, scheduler),
    ):
        primitives: dict[str, list[float]] = {}
        for repeat, points in bar(sweeps, desc="real threads", unit="repeat"):
            of_the_log = {
                "seal_a_block": [_native.redo_log.seal_ns() for _ in range(samples)],
                "call_in_an_append": [_native.redo_log.call_ns() for _ in range(samples)],
            }
            # Left alone like the runs that count: how late they wake and what interrupts them depends on the hypervisor.
            measure = partial(calibrate.measure, samples, Path(scratch))
            most_ms = MOST_STOLEN_MS * RUNS_A_SAMPLE * samples
            *_, (alone, _) = left_alone(measure, most_stolen_ms=most_ms, rest_ms=rest_ms)
            for name, ns in {**alone, **of_the_log}.items():
                primitives.setdefault(name, []).extend(ns)
            for point in points:
                real = partial(_real, *point, run_ms=run_ms, seed=repeat + 1)
                for seen, withheld in left_alone(real, rest_ms=rest_ms):
                    rows.append({**seen, **withheld, "series": "real", "repeat": repeat})
    start = _machine(primitives, scheduler)
    primitives_ns = {name: statistics.median(ns) for name, ns in primitives.items()}
    twin: Callable[..., dict[str, Any]] = partial(_twin, primitives_ns=primitives_ns, run_ms=run_ms)
    measured = pd.DataFrame(rows)
    with processes() as executor:
        parameters, tried = _fit(start, measured, twin, executor, factors=factors)
        counting = cross(real=undisturbed(measured).to_dict("records"))
        rows += sweep(partial(twin, machine=parameters), counting, executor=executor, desc="simulated")
    fitted = [
        {"parameter": FIT, "measured_ps": middle_of(start[FIT]), "fitted_ps": middle_of(parameters[FIT])}
    ]
    return sitting.run(
        "own-machine-real",
        rows,
        tables={"fitted": fitted, "tried": tried},
        scheduling=scheduling,
        machine=parameters,
        primitives_ns=primitives_ns,
        loads={name: {"says": says, "fsync_us": us} for name, (says, _, us) in LOADS.items()},
        columns=COLUMNS,
    )


def _twin(
    real: Mapping[Any, Any],
    machine: Mapping[str, Any],
    *,
    primitives_ns: Mapping[str, float],
    run_ms: int,
    **changes: Any,
) -> dict[str, Any]:
    """The simulated run that a real one is compared with, by the primitives measured before that one where there are such."""
    ns = {
        **primitives_ns,
        **{primitive: real[column] for column, primitive in APART.items() if column in real},
    }
    apart = {
        "same_socket_ps": round(1000 * calibrate.line_move(ns, ns["line_transfer"])),
        **calibrate.emulated_disk(ns),
    }
    seen = _simulated(
        real["load"],
        real["design"],
        real["clients"],
        {**machine, **apart, **changes},
        seal_ns=ns["seal_a_block"],
        run_ms=run_ms,
        seed=real["repeat"] + 1,
    )
    return {**real, **seen, "series": "simulated", "stolen_ms": 0}


def simulated_again(run: Run, rows: pd.DataFrame, **changes: Any) -> pd.DataFrame:
    """Some rows of a recording simulated anew, with other parameters of its machine: what a cost or a mechanism does."""
    machine, primitives_ns = run.provenance["machine"], run.provenance["primitives_ns"]
    return pd.DataFrame(
        _twin(row, machine, primitives_ns=primitives_ns, run_ms=RUN_MS, **changes)
        for row in rows.to_dict("records")
    )


def undisturbed(table: pd.DataFrame) -> pd.DataFrame:
    """The runs that count. Older recordings do not know which were disturbed."""
    return table[~table["is_disturbed"].astype(bool)] if "is_disturbed" in table else table


def errors(table: pd.DataFrame) -> pd.DataFrame:
    """One row a point that has a goal: medians of both, and how far the simulated one is off, the farthest first."""
    table = undisturbed(table)
    measured = [what for what in MEASURED if what in table]
    middle = several(
        table[table["clients"].isin(CLIENTS)],
        *("load", "design", "clients", "is_held_out", "series"),
        ys=measured,
        how="median",
    ).unstack("series")
    found = pd.DataFrame(
        {f"{what}_{series}": middle[what, series] for what, series in product(measured, SERIES)},
        index=middle.index,
    ).reset_index()
    for what in measured:
        found[f"{what}_off_percent"] = 100 * (found[f"{what}_simulated"] / found[f"{what}_real"] - 1)
    return found.sort_values("commits_per_s_off_percent", key=abs, ascending=False, ignore_index=True)


def within_goals_again(run: Run, *, recordings: int = 2000, seed: int = 1) -> float:
    """The share of so many recordings that are within the goals at every held-out point, if each draws its repeats from those
    of this one, with replacement: a bootstrap, whose centre is what this one found.
    """
    table = undisturbed(run.table)
    table = table[table["is_held_out"] & table["clients"].isin(CLIENTS)]
    random = np.random.default_rng(seed)

    def drawn_medians(mine: pd.DataFrame) -> np.ndarray:
        seen = mine[["commits_per_s", "fsyncs_per_commit"]].to_numpy()
        return np.asarray(np.median(seen[random.integers(0, len(seen), (recordings, len(seen)))], axis=1))

    most = np.zeros((recordings, 2))
    for _, point in table.groupby(["load", "design", "clients"]):
        real, simulated = (drawn_medians(point[point["series"] == series]) for series in SERIES)
        most = np.maximum(most, 100 * np.abs(simulated / real - 1))
    return float((most <= [GOALS["most_percent"], GOALS["fsyncs_percent"]]).all(axis=1).mean())
