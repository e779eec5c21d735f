"""Row locks on real threads: what one lock costs without contention, and whether a second thread gets in the way of the first.

Each session has a table of its own, so nobody waits for a row: what is left are the latches over the queues, one mutex or shards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from engineroom.bench import Row, Sitting, row

__all__ = ["bench"]

MUTEX, SHARDS = "5.7", "9.7"
NAMES = {MUTEX: "one mutex", SHARDS: "shards"}
ROWS = 10
RUN_NS = 50_000_000
# Short and many, in turns: a repeat in which both threads kept their processors is likelier, and the best one counts.
REPEATS = 40


def bench(sitting: Sitting) -> list[Row]:
    """What a second thread adds with each design, and CPU time and latches of one lock alone."""
    from engineroom._native import lock_sys as kernel

    seen: dict[tuple[str, int], list[dict[str, Any]]] = {}
    sitting.says(f"row locks of two designs by 1 and 2 threads, {REPEATS} times")
    for _ in range(REPEATS):
        for threads in (1, 2):
            for design in NAMES:
                one = kernel.on_threads(design=design, threads=threads, rows=ROWS, run_ns=RUN_NS)
                seen.setdefault((design, threads), []).append(one)
    per_s = {
        key: max(1e9 * one["row_locks"] / one["elapsed_ns"] for one in all_) for key, all_ in seen.items()
    }
    cpu_ns = {
        key: min(one["cpu_ns"] / one["row_locks"] for one in all_ if one["row_locks"])
        for key, all_ in seen.items()
    }
    latches = {design: _latches_of_one_row(design) for design in NAMES}
    sitting.notes["of a row lock"] = {
        f"{NAMES[design]}, {threads} thread(s)": {
            "per_s": per_s[design, threads],
            "cpu_ns": cpu_ns[design, threads],
        }
        for design, threads in per_s
    }
    sitting.notes["latches of a transaction of one row"] = {NAMES[name]: n for name, n in latches.items()}
    return [
        _second_thread(SHARDS, per_s, side=">=", goal=1.8, is_quiet=sitting.is_quiet),
        _second_thread(MUTEX, per_s, side="<=", goal=1.0, is_quiet=sitting.is_quiet),
    ]


def _second_thread(
    design: str,
    per_s: Mapping[tuple[str, int], float],
    *,
    side: Literal[">=", "<="],
    goal: float,
    is_quiet: bool,
) -> Row:
    return row(
        f"row locks by 2 threads on tables of their own against 1, {NAMES[design]} (a quiet machine)",
        ours=per_s[design, 2],
        unit="locks/s",
        peer="1 thread",
        peer_value=per_s[design, 1],
        ratio=per_s[design, 2] / per_s[design, 1],
        side=side,
        goal=goal,
        condition=is_quiet,
    )


def _latches_of_one_row(design: str) -> int:
    from engineroom._native import lock_sys as kernel

    seen = kernel.on_threads(design=design, rows=1, run_ns=RUN_NS)
    return round(float(seen["latches"]) / float(seen["transactions"]))
