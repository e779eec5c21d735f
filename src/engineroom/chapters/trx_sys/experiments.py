"""The transaction system's mutexes inside a whole engine, on the simulated machine: one, two, and shards beside them.

Machine, load and designs are fixed before the first comparison with a published number. All series have the sharded lock system of 8.0.21
and the redo log of 8.0, as the builds around both changes had; nothing but the transaction system differs. Statements ask for what
they asked of 8.0.31 with one client.
"""

from __future__ import annotations

from engineroom.simulating.engine import Design
from engineroom.simulating.sources import designs_under_tpcc

SERVER = "8.0.31"
CLIENTS = (50, 100, 150, 200, 250, 300)
TWO_MUTEXES = {"before": Design(latches="8.0"), "after": Design(latches="8.0, split")}
SHARDS = {"before": Design(latches="8.0, split"), "after": Design(latches="8.0, sharded")}

two_mutexes_sim = designs_under_tpcc(
    "fig-7-08",
    "throughput with one mutex of the transaction system and with another one for the numbers of commits",
    TWO_MUTEXES,
    server=SERVER,
    concurrency=CLIENTS,
)
shards_sim = designs_under_tpcc(
    "fig-7-09",
    "throughput with one set of active transactions and with 256 parts of it",
    SHARDS,
    server=SERVER,
    concurrency=CLIENTS,
)

RECORD = {("fig-7-08", "sim"): two_mutexes_sim, ("fig-7-09", "sim"): shards_sim}
