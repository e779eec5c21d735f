"""Our own redo log against the least that an append can be, its group commit against the disk, what a commit costs two threads, and how
long a reader waits for the chapter's simulated figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from engineroom.bench import Row, Sitting, row
from engineroom.bench.figures import PROCESSORS, simulated_again
from engineroom.chapters.redo_log.experiments import commit_cost, simulated, whole_engine

__all__ = ["bench"]

# Short and many: a repeat in which both threads kept their processors is likelier, and the best one counts. Each fills the
# buffer of 16 MiB six times, so that threads write lines that the other one wrote last.
APPENDS = 1_000_000
APPEND_REPEATS = 40
COMMITS = 200_000
RECORD_BYTES = 100
REPEATS = 9
CLIENTS = 16
FSYNC_NS = 5_000_000
MILLION = 1_000_000
# Those that a reader is most likely to simulate again, with all their seeds.
FIGURES: Mapping[str, Callable[..., Any]] = {
    "7-1": whole_engine.throughput_engine_sim,
    "7-2": simulated.load_time_sim,
    "7-4": simulated.where_time_goes_sim,
    "7-6": simulated.flushes_sim,
}
FIGURE_S = 30.0


def bench(sitting: Sitting) -> list[Row]:
    """All goals of the chapter. What is compared takes turns, and the best of the repeats counts: others' load only adds."""
    return [*_append(sitting), _group_commit(sitting), _commit_cost(sitting), *_figures(sitting)]


def _append(sitting: Sitting) -> list[Row]:
    """One append, and what a second thread adds.

    Threads are pinned, each to a processor of its own; they must not be siblings of one core. The bare loop is no measure of
    what two threads can do: they take the counter's line and the line that two records share from each other with every record.
    """
    from engineroom import _native

    sitting.says(f"{APPENDS} appends by 1 and 2 threads, {APPEND_REPEATS} times")
    wall_ns: dict[tuple[bool, int], list[float]] = {}
    cpu_ns: dict[tuple[bool, int], list[float]] = {}
    for _ in range(APPEND_REPEATS):
        for threads in (1, 2):
            for bare in (True, False):
                cpu_s = time.process_time()
                each = APPENDS // threads
                ns = _native.redo_log.append(
                    threads=threads, appends_per_thread=each, group_bytes=RECORD_BYTES, bare=bare
                )
                cpu_ns.setdefault((bare, threads), []).append((time.process_time() - cpu_s) * 1e9 / APPENDS)
                wall_ns.setdefault((bare, threads), []).append(ns / APPENDS)
    cpu = {key: min(values) for key, values in cpu_ns.items()}
    wall = {key: min(values) for key, values in wall_ns.items()}
    sitting.notes["append, ns"] = {
        f"{'bare' if bare else 'ours'}, {n} thread(s)": {"cpu": cpu[bare, n], "wall": wall[bare, n]}
        for bare, n in cpu
    }
    return [
        row(
            f"append of {RECORD_BYTES} bytes against fetch_add and memcpy",
            ours=cpu[False, 1],
            unit="CPU ns",
            peer_value=cpu[True, 1],
            ratio=cpu[False, 1] / cpu[True, 1],
            side="<=",
            goal=2.0,
        ),
        row(
            f"append of {RECORD_BYTES} bytes, 1 against 2 threads (a quiet machine)",
            ours=wall[False, 2],
            unit="wall ns",
            peer_value=wall[False, 1],
            ratio=wall[False, 1] / wall[False, 2],
            side=">=",
            goal=1.3,
            condition=sitting.is_quiet,
        ),
    ]


def _group_commit(sitting: Sitting) -> Row:
    """Commits per second against batch / t: what an fsync of t seconds allows to groups of the size that formed."""
    from engineroom import _native

    sitting.says(f"group commit of {CLIENTS} clients")
    best: dict[str, Any] = {}
    for _ in range(3):
        seen = _native.redo_log.group_commit(
            clients=CLIENTS, fsync_ns=FSYNC_NS, run_ns=1000 * MILLION, group_bytes=RECORD_BYTES
        )
        seen["per_s"] = seen["commits"] / seen["elapsed_ns"] * 1e9
        seen["limit_per_s"] = seen["commits"] / seen["fsyncs"] / FSYNC_NS * 1e9
        seen["ratio"] = seen["per_s"] / seen["limit_per_s"]
        best = max(best or seen, seen, key=lambda one: one["ratio"])
    sitting.notes["group commit"] = best
    return row(
        f"group commit of {CLIENTS} clients, fsync {FSYNC_NS / MILLION:g} ms, against batch / t (a quiet machine)",
        ours=best["per_s"],
        unit="commits/s",
        peer_value=best["limit_per_s"],
        ratio=best["ratio"],
        side=">=",
        goal=0.9,
        condition=sitting.is_quiet,
    )


def _commit_cost(sitting: Sitting) -> Row:
    """5.7's commit against 8.0's with two threads, log threads off so that no third thread takes part.

    A commit's time is what it adds to the work between two commits.
    """
    from engineroom import _native

    sitting.says(f"{COMMITS} mini-transaction commits of two designs, {REPEATS} times")
    with_work: dict[str, list[float]] = {"5.7": [], "8.0, writer threads off": []}
    alone: list[float] = []
    for _ in range(REPEATS):
        for design, values in with_work.items():
            seen = _native.redo_log.commit_cost(
                design,
                threads=2,
                commits_per_thread=COMMITS // 2,
                mtr_bytes=RECORD_BYTES,
                work_ns=commit_cost.BETWEEN_COMMITS_NS,
            )
            values.append(seen["elapsed_ns"] / COMMITS)
            alone.append(seen["work_elapsed_ns"] / COMMITS)
    # On a busy machine a difference of two elapsed times can come out below 0.
    old, new = (max(min(values) - min(alone), 0.1) for values in with_work.values())
    return row(
        "mini-transaction commit, 8.0 against 5.7, 2 thread(s) (a quiet machine)",
        ours=new,
        unit="wall ns",
        peer="the design of 5.7",
        peer_value=old,
        ratio=new / old,
        side="<=",
        goal=1.0,
        condition=sitting.is_quiet,
    )


def _figures(sitting: Sitting) -> list[Row]:
    """Seconds until a simulated figure is there."""
    return [
        row(
            f"figure {name} simulated, three seeds on {PROCESSORS} processors (a quiet machine)",
            ours=took.wall_s,
            unit="wall s",
            ratio=took.wall_s,
            side="<=",
            goal=FIGURE_S,
            condition=sitting.is_quiet,
        )
        for name, took in simulated_again(sitting, FIGURES).items()
    ]
