"""Whether what a crowd does depends on how the operating system shares out the processors: the engines of figure 7-1 under two schedulers.

The figures have Linux 5.19's virtual run time: of the threads that wait, the one comes next that has had least, and one that wakes takes the
place at once of a thread that has had a good deal more, whatever latch that holds. The second way counts virtual run time, too, but nobody is
displaced by one that wakes; in the third, threads run in the order in which they began to wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engineroom.simulating.engine import COUNTS, Design, of_design
from engineroom.simulating.experiment import Given, Seen
from engineroom.simulating.sources import designs_under_tpcc

# As figure 7-1 has them.
LOGS = {
    "old log": Design(lock_design="8.0.15", locks=COUNTS, latches="8.0", redo="5.7"),
    "new log": Design(lock_design="8.0.15", locks=COUNTS, latches="8.0"),
    "new log and latches": Design(locks=COUNTS),
}
_A_SECOND_PS = 1_000_000_000_000
WAYS: Mapping[str, Mapping[str, int]] = {
    "first come": {"latency_ps": 0},
    "virtual run time": {},
    "nobody displaced": {"wakeup_granularity_ps": _A_SECOND_PS},
}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    machine = {**given.machine, **WAYS[point["scheduler"]]}
    return of_design(point, replace(given, machine=machine), **window)


_under_tpcc = designs_under_tpcc(
    "own-engine-scheduler",
    "throughput over the log of 5.7 and of 8.0 by how processors are shared out",
    LOGS,
    server="8.0.15",
    concurrency=(100, 300, 1000),
)
scheduler_sim = replace(
    _under_tpcc,
    points={**_under_tpcc.points, "scheduler": tuple(WAYS)},
    measure=_measure,
    columns={**_under_tpcc.columns, "scheduler": "who runs next: the first that came, or who has had least"},
)
