"""The lock system's latches inside a whole engine, on the simulated machine: one mutex and shards, and nothing else between them.

Machine, load and designs are fixed before the first comparison with a published number. Both series find deadlocks in the background and
schedule by CATS, as the builds around the change of 8.0.21 did; transaction system and redo log are those of early 8.0. Statements ask
for what they asked of 8.0.15, the recorded server nearest to those builds, with one client.
"""

from __future__ import annotations

from engineroom.simulating.engine import Design, designs_under_tpcc

DESIGNS = {
    "before": Design(locks={"latching": "one mutex"}, latches="8.0"),
    "after": Design(latches="8.0"),
}
throughput_sim = designs_under_tpcc(
    "fig-7-07",
    "throughput with one mutex over all row locks and with shards",
    DESIGNS,
    server="8.0.15",
    concurrency=(50, 100, 150, 200, 250, 300),
    machine="four_sockets_176",
)
