"""5.7 with the patches of its latches and without, on the simulated machine, and with the redo log of 8.0 besides.

Machine, load and designs are fixed before the first comparison with a published number. The patched engine has the lock system and the
sets of active transactions of late 8.0 over the redo log of 5.7, and still grants row locks in the order of asking. Statements ask for what they asked of 5.7.22 with one client.
"""

from __future__ import annotations

from engineroom.simulating.engine import Design, designs_under_tpcc

__all__ = ["DESIGNS", "patched_sim"]

FCFS = {"policy": "fcfs, 5.7"}
DESIGNS = {
    "original": Design(lock_design="5.7", latches="5.7", redo="5.7"),
    "patched": Design(locks=FCFS, redo="5.7"),
    "new_redo": Design(locks=FCFS),
}
patched_sim = designs_under_tpcc(
    "fig-7-03",
    "throughput of 5.7 as it is, with other latches, and with another redo log as well",
    DESIGNS,
    server="5.7.22",
    concurrency=(50, 100, 150, 300, 500, 1000),
    machine="four_sockets_176",
)
