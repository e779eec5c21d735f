"""The crash table: simulated servers of each design crash at random events under each durability, and recover from both logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engineroom.chapters.group_commit.experiments.designs import DESIGNS
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.simulating.sweep import cross, sweep

# innodb_flush_log_at_trx_commit, sync_binlog.
DURABILITIES: Mapping[str, tuple[int, int]] = {
    "1/1": (1, 1),
    "1/0": (1, 0),
    "1/1000": (1, 1000),
    "2/1": (2, 1),
    "2/1000": (2, 1000),
    "0/1": (0, 1),
    "0/0": (0, 0),
}
KINDS = ("power loss", "kill")
CRASHES = 10_000
# Runs of one call; a run crashes about so often.
_RUNS, _PER_RUN = 50, 20
_COUNTED = (
    *("runs", "crashes", "commits", "rotations", "lost", "only_in_binlog", "only_in_engine"),
    *("crashes_with_loss", "impossible", "wrong_outcomes", "disorders", "hangs"),
)


COLUMNS = {
    "series": "design of the commit",
    "durability": "innodb_flush_log_at_trx_commit/sync_binlog",
    "crash": "loss of power, or a kill of the process alone",
    "runs": "servers that ran",
    "crashes": "crashes, each with a recovery",
    "commits": "transactions acknowledged in these runs",
    "rotations": "binlog files ended",
    "lost": "acknowledged transactions that recovery rolls back, summed over the crashes",
    "only_in_binlog": "transactions whole in the binlog that recovery does not commit",
    "only_in_engine": "transactions committed that the binlog has not whole",
    "crashes_with_loss": "crashes with at least one lost transaction",
    "impossible": "crashes that did what the settings exclude",
    "wrong_outcomes": "transactions that recovery does not treat as the table says",
    "disorders": "binlog, GTIDs and engine not in one order; stages misused",
    "hangs": "runs that did not end",
    "step": "how far a transaction had come",
    "redo": "its state in the redo log behind the crash",
    "binlog": "what is left of its events",
    "is_committed": "whether recovery commits it",
    "transactions": "transactions, summed over the crashes",
}


def crashes_kernel(
    *,
    crashes: int = CRASHES,
    designs: Sequence[str] = DESIGNS,
    durabilities: Sequence[str] = tuple(DURABILITIES),
    kinds: Sequence[str] = KINDS,
    seed: int = 1_000_000,
) -> Run:
    """At least so many crashes of each design, durability and kind of crash: counts, and the table of outcomes."""
    points = cross(series=designs, durability=durabilities, crash=kinds)
    with Sitting("kernel", seed=seed) as sitting:
        seen = sweep(
            _crash, [{**point, "crashes": crashes, "seed": seed} for point in points], desc="own-gc-crashes"
        )
    return sitting.run(
        "own-gc-crashes",
        [{**point, "repeat": 0, **counts} for point, (counts, _) in zip(points, seen, strict=True)],
        tables={
            "outcomes": [
                {**point, **row}
                for point, (_, outcomes) in zip(points, seen, strict=True)
                for row in outcomes
            ]
        },
        columns=COLUMNS,
    )


def _crash(
    *, series: str, durability: str, crash: str, crashes: int, seed: int
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    from engineroom import _native

    flush, sync = DURABILITIES[durability]
    total: dict[str, int] = {}
    outcomes: dict[tuple[str, str, str, bool], int] = {}
    while total.get("crashes", 0) < crashes:
        seen = _native.group_commit.crash_runs(
            design=series,
            sync_binlog=sync,
            flush_log_at_trx_commit=flush,
            is_kill=crash == "kill",
            seed=seed,
            runs=_RUNS,
            crashes_per_run=_PER_RUN,
        )
        seed += _RUNS
        for name in _COUNTED:
            total[name] = total.get(name, 0) + seen[name]
        for row in seen["outcomes"]:
            key = (row["step"], row["redo"], row["binlog"], row["is_committed"])
            outcomes[key] = outcomes.get(key, 0) + row["transactions"]
    return total, [
        {"step": step, "redo": redo, "binlog": binlog, "is_committed": int(is_committed), "transactions": n}
        for (step, redo, binlog, is_committed), n in outcomes.items()
    ]
