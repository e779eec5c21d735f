"""What a commit of a mini-transaction costs on the machine at hand: plain code of each log's design, no simulation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd

from engineroom.chapters.redo_log.experiments.designs import COMMITS, SERIES
from engineroom.measuring.fresh import in_fresh_processes
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting

# A server's regime. Between two commits a thread computes as long as the cheapest mini-transaction of the recorded servers takes, a row
# of a bulk insert in 8.0: 1.1 us of CPU time. The log buffer is as large as 5.7 and 8.0 install it.
BETWEEN_COMMITS_NS = 1000
LOG_BUFFER_BYTES = 16 << 20
# The other one: nearly nothing in between, and a buffer that stays in a cache.
BACK_TO_BACK_NS = 50
SMALL_BUFFER_BYTES = 64 << 10
COUNTED_COMMITS = 1000
COLUMNS = {
    "threads": "threads that commit mini-transactions, nothing else",
    "repeat": "the process, from 0: each of its values is the median of its rounds",
    "log_buffer_bytes": "size of the log buffer",
    "between_ns": "mean computing between two commits of a thread",
    "round": "the round of that process, from 0: the designs take turns in each",
    "nanoseconds": "elapsed time of all threads over commits, less that of the work between them; CPU time with one thread",
    "cpu_ns": "CPU time of the committing threads over commits, less that of the work between them",
    "elapsed_ns": "elapsed time of all threads over commits, less that of the work between them",
    "latch_waits_percent": "commits that did not get the mutex of 5.7 at once",
    "locked_ops": "locked instructions of a commit that nobody disturbs, counted",
    "atomic_stores": "its stores without a lock to words that other threads read, counted",
}


def commit_cost_kernel(
    *,
    threads: Sequence[int] = (1, 2, 4, 8, 16),
    commits: int = 100_000,
    processes: int = 12,
    rounds: int = 5,
    mtr_bytes: int = 100,
) -> Run:
    """The degradation article's statement, on the machine at hand: plain code, no simulation.

    A commit's time is what it adds to the same work without commits, measured in the same call: CPU time with one thread, elapsed time
    with more. The designs take turns in each round of each process, the first of them another one in each round. The rows are of a server's regime;
    the table `loads` has one thread in the others, `rounds` has all that was measured, `counts` what was counted beside it.
    """
    from engineroom import _native

    others = [
        regime
        for regime in itertools.product(
            (LOG_BUFFER_BYTES, SMALL_BUFFER_BYTES), (BETWEEN_COMMITS_NS, BACK_TO_BACK_NS)
        )
        if regime != (LOG_BUFFER_BYTES, BETWEEN_COMMITS_NS)
    ]
    cells = [(n, LOG_BUFFER_BYTES, BETWEEN_COMMITS_NS) for n in threads] + [(1, *regime) for regime in others]
    with Sitting("kernel", seed=1) as sitting:
        measured = in_fresh_processes(
            processes, _commits_once, cells, commits, rounds, mtr_bytes, desc="num-deg-3"
        )
    counts = [
        {
            "series": series,
            **{
                name: count / COUNTED_COMMITS
                for name, count in _native.redo_log.commit_counts(
                    SERIES[series].name, commits_per_thread=COUNTED_COMMITS, mtr_bytes=mtr_bytes
                ).items()
            },
        }
        for series in COMMITS
    ]
    by_round = pd.DataFrame(measured)
    place = ["threads", "series", "repeat", "log_buffer_bytes", "between_ns"]
    by_process = by_round.drop(columns="round").groupby(place, sort=False).median().reset_index()
    of_server = (by_process["log_buffer_bytes"] == LOG_BUFFER_BYTES) & (
        by_process["between_ns"] == BETWEEN_COMMITS_NS
    )
    return sitting.run(
        "num-deg-3",
        by_process[of_server].reset_index(drop=True),
        tables={"loads": by_process[~of_server].reset_index(drop=True), "rounds": by_round, "counts": counts},
        mtr_bytes=mtr_bytes,
        commits=commits,
        rounds=rounds,
        log_buffer_bytes=LOG_BUFFER_BYTES,
        between_ns=BETWEEN_COMMITS_NS,
        columns=COLUMNS,
    )


def _commits_once(
    cells: Sequence[tuple[int, int, int]], commits: int, rounds: int, mtr_bytes: int
) -> list[dict[str, Any]]:
    from engineroom import _native

    rows = []
    for turn in range(rounds):
        first = turn % len(COMMITS)
        for (n, buffer_bytes, between_ns), series in itertools.product(
            cells, (*COMMITS[first:], *COMMITS[:first])
        ):
            each = commits // n
            seen = _native.redo_log.commit_cost(
                SERIES[series].name,
                threads=n,
                commits_per_thread=each,
                mtr_bytes=mtr_bytes,
                work_ns=between_ns,
                log_buffer_bytes=buffer_bytes,
            )
            cpu_ns, elapsed_ns = (
                (seen[time] - seen[f"work_{time}"]) / (each * n) for time in ("cpu_ns", "elapsed_ns")
            )
            rows.append(
                {
                    "threads": n,
                    "series": series,
                    "log_buffer_bytes": buffer_bytes,
                    "between_ns": between_ns,
                    "round": turn,
                    "nanoseconds": cpu_ns if n == 1 else elapsed_ns,
                    "cpu_ns": cpu_ns,
                    "elapsed_ns": elapsed_ns,
                    "latch_waits_percent": 100 * seen["latch_waits"] / (each * n),
                }
            )
    return rows
