"""Clients that lock rows of their own, on the simulated machine: what one mutex lets through, and what came in its place.

Nobody waits for a row and nobody shares a table, so that all that is common is what guards the queues. The load is one of locks
alone, a lock every 5 us, as a locking scan takes them: a server does more besides, and its mutex is asked for less often. Two designs
of one part of 9.7 each take away one of its two ideas: one shard instead of 512, and a global latch in one part instead of 64.

The lock system's latches inside a whole engine, on the simulated machine: one mutex and shards, and nothing else between them.

Machine, load and designs are fixed before the first comparison with a published number. Both series find deadlocks in the background and
schedule by CATS, as the builds around the change of 8.0.21 did; transaction system and redo log are those of early 8.0. Statements ask
for what they asked of 8.0.15, the recorded server nearest to those builds, with one client. Up to the sixth recording an intention lock looked at all others
on its table. It looks at none as live servers of 8.0 do; single seeds had been seen with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engineroom.simulating import settling
from engineroom.simulating.engine import COUNTS, Design
from engineroom.simulating.experiment import Experiment, Given
from engineroom.simulating.sources import designs_under_tpcc

# A transaction of ten rows; a lock every 5 us.
LOAD: Mapping[str, int] = {"rows": 10, "row_ns": 5_000}
# A transaction takes less than 0.1 ms when nobody waits.
WINDOW = {"first_ms": 20, "longest_ms": 5120, "warmup_ms": 10}


@dataclass(frozen=True)
class Latches:
    """A version's lock system, and what of it is changed."""

    design: str
    locks: Mapping[str, Any] = field(default_factory=dict)


SERIES: Mapping[str, Latches] = {
    "one_mutex": Latches("5.7"),
    "sharded": Latches("9.7"),
    "sharded_one_shard": Latches("9.7", {"page_shards": 1, "table_shards": 1}),
    "sharded_one_part": Latches("9.7", {"global_parts": 1}),
}
COLUMNS = {
    "clients": "in a closed loop",
    "row_locks_per_second": "locks on rows that were taken and let go, per second of virtual time",
    "latches_per_transaction": "latches of the lock system taken by a transaction of ten rows, those of the transactions left out",
    "cpu_us_per_transaction": "CPU time of all threads over transactions, microseconds; spinning is in it",
    "waits": "for a row: none",
    "transactions": "transactions counted",
    **settling.COLUMNS,
}


def _simulate(point: Mapping[str, Any], given: Given, **window: Any) -> dict[str, Any]:
    from engineroom import _native

    latches = SERIES[point["series"]]
    seen: dict[str, Any] = _native.lock_sys.simulate(
        design=latches.design,
        parameters=dict(given.machine),
        load={**given.load, "clients": point["clients"]},
        locks=dict(latches.locks),
        seed=given.seed,
        **window,
    )
    return seen


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = settling.settled(partial(_simulate, point, given), **window)
    n = max(1, seen["transactions"])
    return {
        "row_locks_per_second": seen["transactions"] * given.load["rows"] / seen["window_ms"] * 1000,
        "latches_per_transaction": sum(seen[f"{kind}_latches"] for kind in ("global", "page", "table")) / n,
        "cpu_us_per_transaction": seen["cpu_ns"] / n / 1000,
        "waits": seen["waits"],
        "transactions": seen["transactions"],
        **settling.window(seen),
    }


latches_sim = Experiment(
    figure="own-lock-latches",
    says="clients that lock rows of their own: one mutex, shards, and the shards' design without each of its two ideas",
    points={"clients": (1, 4, 16, 64, 176), "series": tuple(SERIES)},
    measure=_measure,
    options=WINDOW,
    load=LOAD,
    machine="four_sockets_176",
    columns=COLUMNS,
)

DESIGNS = {
    "before": Design(locks={"latching": "one mutex", **COUNTS}, latches="8.0"),
    "after": Design(locks=COUNTS, latches="8.0"),
}
throughput_sim = designs_under_tpcc(
    "fig-7-07",
    "throughput with one mutex over all row locks and with shards",
    DESIGNS,
    server="8.0.15",
    concurrency=(50, 100, 150, 200, 250, 300),
)
