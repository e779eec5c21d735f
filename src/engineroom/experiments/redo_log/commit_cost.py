"""What a commit of a mini-transaction costs on the machine at hand: plain code of each log's design, no simulation."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engineroom.experiments.redo_log.designs import COMMITS, SERIES
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.sitting import Sitting

__all__ = ["BETWEEN_COMMITS_NS", "commit_cost_kernel"]

# Between two commits a thread computes as long as the cheapest mini-transaction of the recorded servers takes, a row of a bulk
# insert in 8.0: 1.1 us of CPU time. With nothing in between, whoever frees the mutex of 5.7 takes it again unseen, so that
# nobody waits for it, and a processor overlaps a commit with the next, which no server does.
BETWEEN_COMMITS_NS = 1000
OTHER_LOADS_NS = (0, 200)
COLUMNS = {
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
}


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
    with Sitting("kernel", seed=1) as sitting:
        for repeat, load, n, series in in_turns(repeats, loads, threads, COMMITS, desc="num-deg-3"):
            each = commits // n
            seen = _native.redo_log.commit_cost(
                SERIES[series].name, threads=n, commits_per_thread=each, mtr_bytes=mtr_bytes, work_ns=load
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
    return sitting.run(
        "num-deg-3",
        table[is_main].reset_index(drop=True),
        tables={"loads": table[~is_main].reset_index(drop=True)},
        mtr_bytes=mtr_bytes,
        commits=commits,
        summary="min",
        columns=COLUMNS,
    )
