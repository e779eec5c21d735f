"""The binary log chapter's experiments: bytes and CPU time, measured, and throughput of many clients, simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.binlog.experiments.measured import (
    KINDS_OF_ROWS,
    Setting,
    costs_live,
    demands_kernel,
    levels,
    sizes_kernel,
    sizes_live,
    statements,
    units,
)
from engineroom.chapters.binlog.experiments.simulated import compression_sim, images_sim, places_sim
from engineroom.runs import Run

__all__ = [
    "KINDS_OF_ROWS",
    "MADE_TOGETHER",
    "RECORD",
    "Run",
    "Setting",
    "compression_sim",
    "costs_live",
    "demands_kernel",
    "images_sim",
    "levels",
    "places_sim",
    "sizes_kernel",
    "sizes_live",
    "statements",
    "units",
]

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-27", "live"): sizes_live,
    ("fig-7-27", "kernel"): sizes_kernel,
    ("own-binlog-levels", "kernel"): levels,
    ("own-binlog-cpu", "live"): costs_live,
    ("own-binlog-demands", "kernel"): demands_kernel,
    ("fig-7-26", "sim"): compression_sim,
    ("fig-7-28", "sim"): images_sim,
    ("own-binlog-places", "sim"): places_sim,
}
MADE_TOGETHER = {
    ("fig-7-27", method): ("fig-7-29", "num-ch7-2", "own-binlog-transactions")
    for method in ("live", "kernel")
}
