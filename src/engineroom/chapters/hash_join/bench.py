"""Our fast hash join against DuckDB, Polars, DataFusion and Acero, its own spilling and what memory allows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import ExitStack

from engineroom.bench import Row, Sitting, row
from engineroom.bench.engines import Engine, Measured, Task
from engineroom.errors import EngineRoomError

__all__ = ["PACKAGES", "bench"]

# Each peer and the package that it is in.
PEERS = {"duckdb": "duckdb", "polars": "polars", "datafusion": "datafusion", "acero": "pyarrow"}
PACKAGES = tuple(PEERS.values())
MILLION = 1_000_000
# Build rows, probe rows, how many times the better peer's CPU time ours is to fit into.
SIZES = ((MILLION, 10 * MILLION, 3.0), (10 * MILLION, 10 * MILLION, 4.0))
# Keys as other people's are: build rows, probe rows, on one thread. Ours is to be no slower on any of them.
DISTRIBUTIONS = (
    ("random", 5 * MILLION, 5 * MILLION),
    ("random", 10 * MILLION, MILLION),
    ("dense", MILLION, 10 * MILLION),
    ("dense", 5 * MILLION, 5 * MILLION),
    ("sorted dense", MILLION, 10 * MILLION),
    ("sorted dense", 5 * MILLION, 20 * MILLION),
    ("zipf", MILLION, 10 * MILLION),
    ("one hot", MILLION, 10 * MILLION),
    ("duplicate", MILLION, 5 * MILLION),
    ("few matching", MILLION, 10 * MILLION),
    ("few matching", 5 * MILLION, 5 * MILLION),
)
THREADS = (1, 2)
# With five engines, fifteen tasks and up to 30 million rows, more take over five minutes.
REPEATS = 3
STORAGES = ("file", "memory")
SPILLING = 1.2  # times the CPU time without a bound, at most
# With so few probe rows a join is nearly its build phase alone, in both layouts.
FEW_PROBE_ROWS = 10_000
TABLE_BYTES_PER_ROW = 128 / 3  # of our table: two lines of 64 bytes for three rows on the average


def bench(sitting: Sitting) -> list[Row]:
    """All goals of the chapter. Engines take turns, and the best of the repeats counts: others' load only adds."""
    versions = _versions()
    rows: list[Row] = []
    alone: dict[tuple[int, int, int], Measured] = {}
    for (build_rows, probe_rows, goal), threads in itertools.product(SIZES, THREADS):
        task = Task(build_rows, probe_rows, threads)
        compared, alone[build_rows, probe_rows, threads] = _row(sitting, task, versions, goal)
        rows.append(compared)
    for keys, build_rows, probe_rows in DISTRIBUTIONS:
        task = Task(build_rows, probe_rows, 1, keys)
        rows.append(_row(sitting, task, versions, 1.0)[0])
    rows += _spilling(sitting, SIZES[-1])
    rows += [_probe_limit(sitting, size) for size in SIZES]
    for build_rows, probe_rows, _ in SIZES:
        one, two = (alone[build_rows, probe_rows, threads] for threads in THREADS)
        rows.append(
            row(
                f"join {_size(Task(build_rows, probe_rows, 2))}, 1 against 2 threads (a quiet machine)",
                ours=two.wall_s,
                unit="wall s",
                peer_value=one.wall_s,
                ratio=one.wall_s / two.wall_s,
                side=">=",
                goal=1.7,
                condition=sitting.is_quiet,
            )
        )
    return rows


def _row(sitting: Sitting, task: Task, versions: dict[str, str], goal: float) -> tuple[Row, Measured]:
    """Our join of a task against the best of the peers, and our run."""
    best = _against_peers(sitting, task)
    ours = best.pop("engineroom")
    sitting.notes[_size(task) + f", {task.threads} thread(s), CPU s"] = {
        name: {"cpu_s": run.cpu_s, "wall_s": run.wall_s, "variant": run.variant} for name, run in best.items()
    }
    peer = min(best, key=lambda name: best[name].cpu_s)
    compared = row(
        f"join {_size(task)}, {_threads(task.threads)}",
        ours=ours.cpu_s,
        unit="CPU s",
        peer=f"{peer} {versions[peer]} ({best[peer].variant})",
        peer_value=best[peer].cpu_s,
        ratio=best[peer].cpu_s / ours.cpu_s,
        side=">=",
        goal=goal,
    )
    return compared, ours


def _against_peers(sitting: Sitting, task: Task) -> dict[str, Measured]:
    """The best run of each engine, after a check that all runs have the same answer."""
    sitting.says(
        f"join {_size(task)}, {_threads(task.threads)}, by {1 + len(PEERS)} engines, {REPEATS} times"
    )
    with ExitStack() as stack:
        engines = [Engine(name, task) for name in ("engineroom", *PEERS)]  # they load beside each other
        for engine in engines:
            stack.enter_context(engine)
        variants = {engine.name: engine.fastest_variant() for engine in engines}
        runs: dict[str, list[Measured]] = {engine.name: [] for engine in engines}
        for _ in range(REPEATS):
            for engine in engines:
                runs[engine.name].append(engine.run(variants[engine.name]))
    answers = {name: {(run.count, run.sum) for run in some} for name, some in runs.items()}
    if len(set.union(*answers.values())) != 1:
        raise EngineRoomError(
            f"the engines disagree on count and sum of {_size(task)}: {answers}",
            remedy="report it with this message: one of them is wrong, and no time of it counts",
        )
    return {name: _best(some) for name, some in runs.items()}


def _spilling(sitting: Sitting, size: tuple[int, int, float]) -> list[Row]:
    """A join with a quarter of its memory against the same with all of it, by where the rest goes."""
    build_rows, probe_rows, _ = size
    task = Task(build_rows, probe_rows, 1)
    sitting.says(f"join {_size(task)} with a quarter of its memory, {REPEATS} times")
    with Engine("engineroom", task) as engine:
        memory_bytes = engine.run().counters["peak_memory_bytes"] // 4
        roomy: list[Measured] = []
        tight: dict[str, list[Measured]] = {storage: [] for storage in STORAGES}
        for _ in range(REPEATS):
            roomy.append(engine.run())
            for storage, runs in tight.items():
                runs.append(engine.run(memory_bytes=memory_bytes, storage=storage))
    best = _best(roomy)
    rows = []
    for storage, runs in tight.items():
        spilled = _best(runs)
        if spilled.counters["bytes_written"] == 0 or spilled.counters["peak_memory_bytes"] > memory_bytes:
            raise EngineRoomError(
                f"with {memory_bytes} bytes the join took {spilled.counters['peak_memory_bytes']} and wrote"
                f" {spilled.counters['bytes_written']}",
                remedy="report it with this message: the bound is not kept",
            )
        sitting.notes[f"spilling to {storage}"] = {
            "memory_bytes": memory_bytes,
            **spilled.counters,
            "wall_s": spilled.wall_s,
        }
        rows.append(
            row(
                f"join {_size(task)}, spilling to {storage} with a quarter of its memory",
                ours=spilled.cpu_s,
                unit="CPU s",
                peer_value=best.cpu_s,
                ratio=spilled.cpu_s / best.cpu_s,
                side="<=",
                goal=SPILLING,
            )
        )
    return rows


def _probe_limit(sitting: Sitting, size: tuple[int, int, float]) -> Row:
    """A probe row's share of the join, partitioning included, against one independent read of a table of the same size."""
    build_rows, probe_rows, _ = size
    task = Task(build_rows, probe_rows, 1)
    table_bytes = round(build_rows * TABLE_BYTES_PER_ROW)
    sitting.says(f"a probe row of {_size(task)} and independent reads, {REPEATS} times")
    with Engine("engineroom", task) as engine, Engine("random reads", task) as reader:
        whole, few, reads = [], [], []
        for _ in range(REPEATS):
            whole.append(engine.run())
            few.append(engine.run(probe_rows=FEW_PROBE_ROWS, may_swap=False))
            reads += [reader.run(variant, table_bytes=table_bytes) for variant in reader.variants]
    ours_ns = (_best(whole).cpu_s - _best(few).cpu_s) / (probe_rows - FEW_PROBE_ROWS) * 1e9
    limit_ns = _best(reads).cpu_s / probe_rows * 1e9
    return row(
        f"a probe row of {_size(task)} against an independent read of {table_bytes // MILLION} MB",
        ours=ours_ns,
        unit="CPU ns",
        peer_value=limit_ns,
        ratio=ours_ns / limit_ns,
        side="<=",
        goal=2.0,
    )


def _best(runs: Iterable[Measured]) -> Measured:
    """The run with the least CPU time, with the least wall time of all."""
    some = list(runs)
    best = min(some, key=lambda run: run.cpu_s)
    wall_s = min(run.wall_s for run in some)
    return Measured(best.cpu_s, wall_s, best.count, best.sum, best.variant, best.counters)


def _size(task: Task) -> str:
    keys = "" if task.keys == "random" else f" of {task.keys} keys"
    return f"{task.build_rows // MILLION}M x {task.probe_rows // MILLION}M{keys}"


def _threads(n: int) -> str:
    return "1 thread" if n == 1 else f"{n} threads"


def _versions() -> dict[str, str]:
    import importlib.metadata

    return {name: importlib.metadata.version(package) for name, package in PEERS.items()}
