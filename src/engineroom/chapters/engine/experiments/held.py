"""What holding latches longer costs: one transaction system against two mutexes and shards, as figures 7-8 and 7-9 have them.

Latches are held for what the engine does under them and no longer; as long as the figures have it, where 9.7.4 stands for the designs with
a second mutex; and as long with 8.0.31 in its place, whose functions take longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engineroom.simulating.engine import Design, holds, of_design
from engineroom.simulating.experiment import Given, Seen
from engineroom.simulating.sources import designs_under_tpcc

LATCHES = {latches: Design(latches=latches) for latches in ("8.0", "8.0, split", "8.0, sharded")}
HELD: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "no longer": dict,
    "as 9.7.4": holds,
    "as 8.0.31": lambda: holds(newest_as="8.0.31"),
}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    load = {**given.load, "holds": HELD[point["held"]]()}
    return of_design(point, replace(given, load=load), **window)


_under_tpcc = designs_under_tpcc(
    "own-engine-held",
    "throughput of three transaction systems by how long latches are held",
    LATCHES,
    server="8.0.31",
    concurrency=(100, 250),
)
held_sim = replace(
    _under_tpcc,
    points={**_under_tpcc.points, "held": tuple(HELD)},
    measure=_measure,
    columns={**_under_tpcc.columns, "held": "how long the latches of the designs with a second mutex are"},
)
