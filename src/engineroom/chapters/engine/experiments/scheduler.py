"""Whether what a crowd does hangs on how the operating system shares out the processors: the engines of figure 7-1 under two schedulers.

All other simulated figures have queues of threads that run in the order in which they began to wait. Linux counts virtual run time: of the
threads that wait, the one comes next that has had least, and one that wakes takes the place at once of a thread that has had a good deal more,
whatever latch that holds. The last way counts virtual run time, too, but nobody is displaced by one that wakes: what is left of a
difference then comes from the order alone.

Made after a look at the old and the new log with two seeds, which showed the difference for 300 clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engineroom.simulating.engine import Design, designs_under_tpcc, of_design
from engineroom.simulating.experiment import Given, Seen

# As figure 7-1 has them.
LOGS = {
    "old log": Design(lock_design="8.0.15", latches="8.0", redo="5.7"),
    "new log": Design(lock_design="8.0.15", latches="8.0"),
    "new log and latches": Design(),
}
# Linux 5.19, kernel/sched/fair.c: 6 ms x (1 + log2 of the CPUs), CPUs counted up to 8.
LATENCY_PS = 24_000_000_000
_A_SECOND_PS = 1_000_000_000_000
WAYS: Mapping[str, Mapping[str, int]] = {
    "first come": {},
    "virtual run time": {"latency_ps": LATENCY_PS},
    "nobody displaced": {"latency_ps": LATENCY_PS, "wakeup_granularity_ps": _A_SECOND_PS},
}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    machine = {**given.machine, **WAYS[point["scheduler"]]}
    return of_design(point, replace(given, machine=machine), **window)


_under_tpcc = designs_under_tpcc(
    "own-engine-scheduler",
    "throughput over the log of 5.7 and of 8.0 by how processors are shared out",
    LOGS,
    server="8.0.15",
    concurrency=(100, 200, 300, 1000),
    machine="four_sockets_176",
)
scheduler_sim = replace(
    _under_tpcc,
    points={**_under_tpcc.points, "scheduler": tuple(WAYS)},
    measure=_measure,
    columns={**_under_tpcc.columns, "scheduler": "who runs next: the first that came, or who has had least"},
)
