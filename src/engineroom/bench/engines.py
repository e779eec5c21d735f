"""Engines that join the same two tables, each in a process of its own.

A process because Polars takes its number of threads from the environment, once, and because the CPU time of a process is
that of all its threads, whoever started them. The data lies in each engine's own memory before the first run.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engineroom.errors import EngineRoomError

__all__ = ["Engine", "Measured", "Task", "relations"]

Answer = tuple[int, int]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """SELECT COUNT(*), SUM(build.v + probe.v) FROM probe JOIN build USING (k)."""

    build_rows: int
    probe_rows: int
    threads: int
    keys: str = "random"  # of KEYS
    seed: int = 0


@dataclass(frozen=True)
class Measured:
    """One run: seconds, and the answer that all engines must give."""

    cpu_s: float
    wall_s: float
    count: int
    sum: int
    variant: str
    counters: Mapping[str, int]


def _scattered(rng: np.random.Generator, n: int) -> Ints:
    return rng.integers(-(2**63), 2**63, size=n, dtype=np.int64)


def _picked(rng: np.random.Generator, key: Ints, n: int) -> Ints:
    return key[rng.integers(0, key.size, size=n)]


def _random(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """Uniform 64-bit numbers; each probe row finds one build row, at random."""
    key = _scattered(rng, build_rows)
    return key, _picked(rng, key, probe_rows)


def _dense(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """The numbers from 0 on, in any order."""
    key = rng.permutation(build_rows)
    return key, _picked(rng, key, probe_rows)


def _sorted(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """The numbers from 0 on, both sides in order: a clustered index and what refers to it."""
    key = np.arange(build_rows)
    return key, np.sort(_picked(rng, key, probe_rows))


def _zipf(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """The key of rank r is asked for in proportion to r ** -1.2."""
    key = _scattered(rng, build_rows)
    return key, key[(rng.zipf(1.2, size=probe_rows) - 1) % build_rows]


def _hot(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """Half of the probe rows ask for the same key."""
    key = _scattered(rng, build_rows)
    return key, np.where(rng.random(probe_rows) < 0.5, key[0], _picked(rng, key, probe_rows))


def _duplicates(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """Each key is on four build rows."""
    key = _scattered(rng, build_rows // 4)
    return rng.permutation(np.repeat(key, 4)), _picked(rng, key, probe_rows)


def _few(rng: np.random.Generator, build_rows: int, probe_rows: int) -> tuple[Ints, Ints]:
    """One probe row in a hundred finds a build row."""
    key = _scattered(rng, build_rows)
    matches = rng.random(probe_rows) < 0.01
    return key, np.where(matches, _picked(rng, key, probe_rows), _scattered(rng, probe_rows))


KEYS: dict[str, Callable[[np.random.Generator, int, int], tuple[Ints, Ints]]] = {
    "random": _random,
    "dense": _dense,
    "sorted dense": _sorted,
    "zipf": _zipf,
    "one hot": _hot,
    "duplicate": _duplicates,
    "few matching": _few,
}


def relations(task: Task) -> dict[str, Ints]:
    """Keys as the task names them, and payloads below 1000."""
    rng = np.random.default_rng(task.seed)
    build_key, probe_key = KEYS[task.keys](rng, task.build_rows, task.probe_rows)
    return {
        "build_key": build_key,
        "build_v": rng.integers(0, 1000, size=build_key.size, dtype=np.int64),
        "probe_key": probe_key,
        "probe_v": rng.integers(0, 1000, size=task.probe_rows, dtype=np.int64),
    }


Run = Callable[[Mapping[str, Any]], tuple[int, int, Mapping[str, int]]]


def _fast(task: Task) -> dict[str, Run]:
    from engineroom import _native

    data = relations(task)
    # The other engines keep their memory from one query to the next; so does ours.
    workspace = _native.hash_join.Workspace()

    def run(options: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
        chosen = dict(options)
        probe_rows = chosen.pop("probe_rows", task.probe_rows)
        result = _native.hash_join.fast(
            data["build_key"],
            data["probe_key"][:probe_rows],
            build_payload=data["build_v"],
            probe_payload=data["probe_v"][:probe_rows],
            output="count",
            threads=task.threads,
            workspace=workspace,
            **chosen,
        )
        return result.count, result.sum, result.counters

    return {"fast": run}


def _random_reads(task: Task) -> dict[str, Run]:
    """Independent reads of one cache line each, by hashed keys: what memory gives to a look-up that needs no more."""
    from engineroom import _native

    data = relations(task)
    tables: dict[int, Any] = {}

    def reader(prefetch: bool) -> Run:
        def run(options: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
            table_bytes = int(options["table_bytes"])
            if table_bytes not in tables:
                tables[table_bytes] = _native.hash_join.RandomReads(table_bytes)
            total = tables[table_bytes].run(data["probe_key"], data["probe_v"], prefetch=prefetch)
            return data["probe_key"].size, total, {}

        return run

    return {"as the processor likes": reader(False), "prefetched": reader(True)}


def _duckdb(task: Task) -> dict[str, Run]:
    import duckdb
    import pandas as pd

    data = relations(task)
    connection = duckdb.connect(config={"threads": task.threads})
    connection.execute("SET enable_progress_bar = false")
    for name in ("build", "probe"):
        frame = pd.DataFrame({"k": data[f"{name}_key"], "v": data[f"{name}_v"]})
        connection.register("frame", frame)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        connection.unregister("frame")

    def run(_: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
        query = "SELECT count(*), sum(build.v + probe.v) FROM probe JOIN build USING (k)"
        count, total = connection.execute(query).fetchall()[0]
        return int(count), int(total), {}

    return {"SQL": run}


def _polars(task: Task) -> dict[str, Run]:
    os.environ["POLARS_MAX_THREADS"] = str(task.threads)
    import polars as pl

    if pl.thread_pool_size() != task.threads:
        raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads instead of {task.threads}")
    data = relations(task)
    build = pl.DataFrame({"k": data["build_key"], "v": data["build_v"]})
    probe = pl.DataFrame({"k": data["probe_key"], "v": data["probe_v"]})

    def query(left: Any, right: Any, engine: str) -> Run:
        def run(_: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
            joined = left.lazy().join(right.lazy(), on="k", maintain_order="none")
            asked = joined.select(pl.len().alias("n"), (pl.col("v") + pl.col("v_right")).sum().alias("s"))
            count, total = asked.collect(engine=engine).row(0)
            return int(count), int(total), {}

        return run

    return {
        f"{engine}, {order}": query(left, right, engine)
        for engine in ("streaming", "in-memory")
        for order, left, right in (("probe join build", probe, build), ("build join probe", build, probe))
    }


def _arrow(task: Task) -> dict[str, Any]:
    import pyarrow as pa

    data = relations(task)
    return {name: pa.table({"k": data[f"{name}_key"], "v": data[f"{name}_v"]}) for name in ("build", "probe")}


def _datafusion(task: Task) -> dict[str, Run]:
    import datafusion

    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(task.threads))
    for name, table in _arrow(task).items():
        # Batches of the size in which it works.
        context.register_record_batches(name, [table.to_batches(max_chunksize=8192)])

    def run(_: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
        query = "SELECT count(*) AS n, sum(build.v + probe.v) AS s FROM probe JOIN build ON probe.k = build.k"
        (row,) = context.sql(query).to_pylist()
        return int(row["n"]), int(row["s"]), {}

    return {"SQL": run}


def _acero(task: Task) -> dict[str, Run]:
    import pyarrow as pa
    from pyarrow import acero
    from pyarrow import compute as pc

    pa.set_cpu_count(task.threads)
    tables = _arrow(task)

    def query(left: str, right: str) -> Run:
        sides = [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(tables[name]))
            for name in (left, right)
        ]
        options = acero.HashJoinNodeOptions(
            "inner",
            left_keys=["k"],
            right_keys=["k"],
            left_output=["v"],
            right_output=["v"],
            output_suffix_for_left="_left",
            output_suffix_for_right="_right",
        )
        total = acero.ProjectNodeOptions([pc.field("v_left") + pc.field("v_right")], ["s"])
        sums = acero.AggregateNodeOptions(
            [("s", "count", pc.CountOptions(mode="all"), "n"), ("s", "sum", None, "s")]
        )
        plan = acero.Declaration.from_sequence(
            [
                acero.Declaration("hashjoin", options, inputs=sides),
                acero.Declaration("project", total),
                acero.Declaration("aggregate", sums),
            ]
        )

        def run(_: Mapping[str, Any]) -> tuple[int, int, Mapping[str, int]]:
            (row,) = plan.to_table(use_threads=task.threads > 1).to_pylist()
            return int(row["n"]), int(row["s"]), {}

        return run

    return {"probe join build": query("probe", "build"), "build join probe": query("build", "probe")}


_MAKERS: dict[str, Callable[[Task], dict[str, Run]]] = {
    "engineroom": _fast,
    "random reads": _random_reads,
    "duckdb": _duckdb,
    "polars": _polars,
    "datafusion": _datafusion,
    "acero": _acero,
}


def _serve(connection: Connection, name: str, task: Task) -> None:
    """In the engine's process: load, say which variants there are, then measure what is asked for."""
    try:
        variants = _MAKERS[name](task)
        connection.send(list(variants))
        while (asked := connection.recv()) is not None:
            variant, options = asked
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            count, total, counters = variants[variant](options)
            wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
            connection.send(Measured(cpu_s, wall_s, count, total, variant, dict(counters)))
    except (EOFError, KeyboardInterrupt):
        pass
    except Exception as error:  # noqa: BLE001 - whatever fails here is told to the reader there
        connection.send(RuntimeError(f"{type(error).__name__}: {error}"))


class Engine:
    """One engine in a process that loads the task's data. A context manager that begins when they are loaded and ends the process."""

    def __init__(self, name: str, task: Task) -> None:
        self.name = name
        self.task = task
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, name, task), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        self.variants: list[str] = self._receive()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # it may have ended already
            self._connection.send(None)
        self._process.join(timeout=10)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()

    def run(self, variant: str | None = None, **options: Any) -> Measured:
        """Measure one run of a variant, by default the first."""
        self._connection.send((variant or self.variants[0], options))
        measured: Measured = self._receive()
        return measured

    def fastest_variant(self) -> str:
        """The one with the least CPU time, after a first run that pays for memory."""
        self.run()
        if len(self.variants) == 1:
            return self.variants[0]
        return min(map(self.run, self.variants), key=lambda run: run.cpu_s).variant

    def _receive(self) -> Any:
        try:
            answer = self._connection.recv()
        except EOFError:
            self._process.join(timeout=10)
            raise EngineRoomError(
                f"{self.name} ended with exit code {self._process.exitcode} while it joined"
                f" {self.task.build_rows} with {self.task.probe_rows} rows",
                remedy="free some memory (the largest bench needs about 4 GiB) and run it again",
            ) from None
        if isinstance(answer, Exception):
            raise EngineRoomError(
                f"{self.name} failed: {answer}",
                remedy="run `make bench`, which installs the versions that the book was measured with",
            ) from answer
        return answer
