"""What latches of pages cost that are all in memory: the engines of figure 7-3, with few warehouses and with many.

Each search writes the lines of its index's latch and of its root: the latch of its cell in the page hash, its fix count, its own latch. A statement
searches as often as one of 5.7.22 without the adaptive hash index (`own-hash-index`), which the author's server has off. The leaf is latched while a
lock on its row is asked for, and exclusively while the redo of a change is written; so a thread that waits for `lock_mutex` or the log keeps
the page. `warehouse` and `district` lie on few pages, and each payment appends to the last page of a partition of `history`. The other
figures have none of this.

Expected before it was recorded: throughput moves by less than 5 % at each point. Seen before were single runs with one seed: 7-3, and
7-19 with 32 warehouses up to 1,000 clients, where it moved by -2.4 to 1.2 %. In the first recording all reads of a table with partitions
went to the root of one of them, by mistake; since the second, to that of the session's. In these two each statement searched once, and nobody latched an index; since the third it
has a server's counts, and since the fourth intention locks look where their server's do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engineroom.chapters.engine.experiments.simulated import patched_sim
from engineroom.simulating.engine import of_design, with_searches
from engineroom.simulating.experiment import Given, Seen

# The author's tables, but for warehouse, district and item.
PARTITIONS = 16
PAGES: Mapping[str, Mapping[str, Any]] = {
    "unlatched": {},
    "latched": {"has_page_latches": True, "partitions": PARTITIONS},
}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    engine = {**given.load["engine"], **PAGES[point["pages"]]}
    load = {**given.load, "engine": engine, "warehouses": point["warehouses"]}
    return of_design(point, replace(given, load=load), **window)


def _load() -> dict[str, Any]:
    load = patched_sim.load() if callable(patched_sim.load) else dict(patched_sim.load)
    searching = with_searches(load["demands"], load["demands_of"], "tpcc", hash_index=False)
    return {**load, "demands": searching}


pages_sim = replace(
    patched_sim,
    figure="own-engine-pages",
    says="throughput of 5.7 as it is, with other latches, and with another redo log as well, by whether pages are latched",
    points={
        **patched_sim.points,
        "concurrency": (50, 150, 300, 1000),
        "warehouses": (32, 1000),
        "pages": tuple(PAGES),
    },
    load=_load,
    measure=_measure,
    columns={
        **patched_sim.columns,
        "warehouses": "of TPC-C",
        "pages": "whether pages are latched, all of them in memory",
    },
)
