"""Engines that differ in one part or in several, on the simulated machine, under TPC-C with 1000 warehouses.

Figure 7-3 is 5.7 with the patches of its latches and without, and with the redo log of 8.0 besides. A figure of our own has all eight
combinations of an old and a new redo log, lock system and transaction system, so that a reader sees what each is worth behind the others.

Machine, load and designs are fixed before the first comparison with a published number. The patched engine has the lock system and the
sets of active transactions of late 8.0 over the redo log of 5.7, and still grants row locks in the order of asking. Statements ask for
what they asked of 5.7.22 with one client. For the combinations they ask for what they asked of 8.0.15, and all of them find deadlocks in
the background and schedule by CATS.

Intention locks look at those that their lock system does: 5.7's at each on their table, 8.0's at none. Before the seventh recording of figure 7-3
and the fourth of the combinations each looked at all (`own-table-locks`). What that moves in figure 7-3 had been seen before, with one seed.
"""

from __future__ import annotations

from itertools import product

from engineroom.simulating.engine import COUNTS, EACH, Design
from engineroom.simulating.sources import designs_under_tpcc

FCFS = {"policy": "fcfs, 5.7", **COUNTS}
DESIGNS = {
    "original": Design(lock_design="5.7", latches="5.7", redo="5.7", locks=EACH),
    "patched": Design(locks=FCFS, redo="5.7"),
    "new_redo": Design(locks=FCFS),
}
patched_sim = designs_under_tpcc(
    "fig-7-03",
    "throughput of 5.7 as it is, with other latches, and with another redo log as well",
    DESIGNS,
    server="5.7.22",
    concurrency=(50, 100, 150, 300, 500, 1000),
)

# Which parts are new -> the engine that has them.
COMBINATIONS = {
    " and ".join(name for name, is_new in (("redo", redo), ("locks", locks), ("trx", trx)) if is_new)
    or "none": Design(
        locks=COUNTS if locks else {"latching": "one mutex", **COUNTS},
        latches="8.0, sharded" if trx else "8.0",
        redo="8.0" if redo else "5.7",
    )
    for redo, locks, trx in product((False, True), repeat=3)
}
# A crowd behind an old part settles in no window that a reader would wait for.
switches_sim = designs_under_tpcc(
    "own-engine-switches",
    "throughput with each combination of an old and a new redo log, lock system and transaction system",
    COMBINATIONS,
    server="8.0.15",
    concurrency=(50, 150, 300, 1000),
    window={"first_ms": 100, "longest_ms": 200, "warmup_ms": 100},
)
