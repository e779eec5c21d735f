"""The binary log chapter's experiments: bytes and CPU time, measured, and throughput of many clients, simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.binlog.experiments import group_replication, measured, simulated
from engineroom.runs import Run

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-27", "live"): measured.sizes_live,
    ("fig-7-27", "kernel"): measured.sizes_kernel,
    ("own-binlog-levels", "kernel"): measured.levels,
    ("own-binlog-cpu", "live"): measured.costs_live,
    ("own-binlog-group-replication", "live"): group_replication.group_live,
    ("own-binlog-demands", "kernel"): measured.demands_kernel,
    ("fig-7-26", "sim"): simulated.compression_sim,
    ("fig-7-28", "sim"): simulated.images_sim,
    ("own-binlog-places", "sim"): simulated.places_sim,
}
MADE_TOGETHER = {
    ("fig-7-27", method): ("fig-7-29", "num-ch7-2", "own-binlog-transactions")
    for method in ("live", "kernel")
}
