"""Whole engines beside curves of the sources' author that nothing here was calibrated on, and that no claim of the ledger reads.

The engines are those of the sources' server (`simulating.sources`). 4-43 is the curve on which three numbers were calibrated; the others are
held out: 8-20 (active ids as a sorted vector, and as a bitmap), 8-27 (with the bitmap, views closed under the mutex and without it), 8-35 and 8-36 (the improved
server, at most 256 and 512 transactions inside), 8-16 (its group commit with one condition and with one for each session, at most 128 statements inside), and 5-21
(SysBench with one lock mutex and with shards). The thread pool of 8-35 is no part of the engine. For 5-21 the book does not tell the distribution: rows are drawn
evenly. A transaction of SysBench is 20 queries.

Machine, load and designs were fixed before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engineroom.simulating.engine import COLUMNS, COUNTS, TPCC_WINDOW, Design, observed
from engineroom.simulating.experiment import Experiment, Given, Seen
from engineroom.simulating.sources import MACHINE, improved, sysbench, tpcc

QUERIES = 20
BITMAP = {"ids": "bitmap"}
# innodb_thread_concurrency = 128.
TICKETS = {"admits": "statements", "most_inside": 128}
# Figure and series -> the engine, and whether SysBench is its load.
CURVES: Mapping[str, tuple[Design, bool]] = {
    "4-43 remote": (improved(), False),
    "5-21 before": (Design(locks={"latching": "one mutex", **COUNTS}, latches="8.0"), True),
    "5-21 after": (Design(locks=COUNTS, latches="8.0"), True),
    "8-16 before": (improved(commit={}, engine=TICKETS), False),
    "8-16 after": (improved(engine=TICKETS), False),
    "8-20 before": (Design(), False),
    "8-20 after": (Design(trx_sys=BITMAP), False),
    "8-27 before": (Design(trx_sys=BITMAP), False),
    "8-27 after": (Design(trx_sys={**BITMAP, "closes_without_mutex": True}), False),
    "8-35 limit256": (improved(engine={"most_inside": 256}), False),
    "8-36 throttled": (improved(engine={"most_inside": 512}), False),
}
# 4-43 has three of the four nodes; 8-16 is drawn up to 500 clients.
SOCKETS = {"4-43": 3}
MOST_CLIENTS = {"8-16": 500}


def _load() -> dict[str, Any]:
    return {
        "tpcc": tpcc("8.0.15", 1000),
        "sysbench": sysbench("8.0.15", rows=1_000_000, distribution="uniform"),
    }


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    design, is_sysbench = CURVES[point["series"]]
    figure = point["series"].partition(" ")[0]
    if point["concurrency"] > MOST_CLIENTS.get(figure, point["concurrency"]):
        return Seen([])
    machine = {**given.machine, "sockets": SOCKETS.get(figure, given.machine["sockets"])}
    load = given.load["sysbench" if is_sysbench else "tpcc"]
    row, waits = observed(
        design, Given(machine=machine, load=load, seed=given.seed), clients=point["concurrency"], **window
    )
    return Seen([{**row, "qps": QUERIES * row["tps"]} if is_sysbench else row], {"latches": waits})


published_sim = Experiment(
    figure="own-engine-published",
    says="throughput of the sources' server beside curves of its author that nothing was calibrated on",
    points={"concurrency": (50, 100, 200, 500, 1000), "series": tuple(CURVES)},
    measure=_measure,
    options=TPCC_WINDOW,
    load=_load,
    machine=MACHINE,
    columns={**COLUMNS, "qps": "queries per second of virtual time, of SysBench"},
)
