"""Figure 7-1, and the chapter's statement on fewer than 50 connections, by a whole engine of which nothing but the redo log differs.

Both engines have the lock system of 8.0.15 and one mutex over transactions, as builds of 8.0 around the new redo log had, and statements
ask for what they asked of 8.0.15 with one client. For figure 7-1 a third engine has the new log and the latches over row locks and
transactions that came later: it shows which queue takes over from the log, and whether the loss is that queue's. Machine, load and designs
are fixed before the first comparison. What the redo log does alone are figures of our own (simulated.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engineroom.simulating.engine import COLUMNS, Design, designs_under_tpcc, of_design
from engineroom.simulating.experiment import Given, Seen

__all__ = ["BUILDS", "LOGS", "few_clients_engine_sim", "throughput_engine_sim"]

SERVER, MACHINE = "8.0.15", "four_sockets_176"
LOGS = {
    "old_redo": Design(lock_design="8.0.15", latches="8.0", redo="5.7"),
    "new_redo": Design(lock_design="8.0.15", latches="8.0"),
}
BUILDS = {"before": LOGS["old_redo"], "after": LOGS["new_redo"], "new_latches": Design()}

throughput_engine_sim = designs_under_tpcc(
    "fig-7-01",
    "throughput of a whole engine over the log of 5.7 and of 8.0, and over that of 8.0 with later latches",
    BUILDS,
    server=SERVER,
    concurrency=(50, 100, 150, 200, 250, 300),
    machine=MACHINE,
)


def _few_clients(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    seen = of_design(point, given, **window)
    return replace(seen, rows=[{**row, "throughput": row["tps"]} for row in seen.rows])


few_clients_engine_sim = replace(
    designs_under_tpcc(
        "num-ch7-1",
        "the chapter's statement on fewer than 50 connections: a whole engine over the log of 5.7 and of 8.0",
        LOGS,
        server=SERVER,
        concurrency=(1, 2, 5, 10, 20, 40),
        machine=MACHINE,
    ),
    measure=_few_clients,
    columns={**COLUMNS, "throughput": COLUMNS["tps"]},
)
