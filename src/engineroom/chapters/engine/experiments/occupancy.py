"""What depends on how long one reader keeps a line from the next (`read_occupancy_ps`), for which no source was found.

It is at least nothing, and at most what the line takes to another core of the socket: a reader's request needs the line no longer than its way.
The transaction systems are those of figures 7-8 and 7-9. Expected before the first run: between these ends throughput moves by less than a tenth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engineroom.chapters.engine.experiments.held import LATCHES
from engineroom.simulating.engine import of_design
from engineroom.simulating.experiment import Given, Seen
from engineroom.simulating.sources import designs_under_tpcc


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    machine = {**given.machine, "read_occupancy_ps": 1000 * point["occupancy_ns"]}
    return of_design(point, replace(given, machine=machine), **window)


_under_tpcc = designs_under_tpcc(
    "own-engine-occupancy",
    "throughput of three transaction systems by how long a reader keeps a line",
    LATCHES,
    server="8.0.31",
    concurrency=(100, 250, 1000),
)
occupancy_sim = replace(
    _under_tpcc,
    points={**_under_tpcc.points, "occupancy_ns": (0, 10, 50)},
    measure=_measure,
    seeds=(1, 2),
    columns={**_under_tpcc.columns, "occupancy_ns": "how long one reader keeps a line from the next, ns"},
)
