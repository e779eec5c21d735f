"""The redo log chapter's experiments: the log of 5.6, 5.7 and 8.0 simulated, on real threads and live, and what a commit costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.redo_log.experiments.commit_cost import (
    BETWEEN_COMMITS_NS,
    LOG_BUFFER_BYTES,
    commit_cost_kernel,
)
from engineroom.chapters.redo_log.experiments.designs import COMMITS, DESIGNS, SERIES
from engineroom.chapters.redo_log.experiments.host import where_time_goes_host
from engineroom.chapters.redo_log.experiments.live import flushes_live
from engineroom.chapters.redo_log.experiments.simulated import (
    COMMIT_THREADS,
    LARGE_TRANSACTIONS,
    LOAD_WORKERS,
    MACHINE,
    commit_cost_sim,
    components,
    few_clients_sim,
    flushes_sim,
    load_time_sim,
    throughput_sim,
    where_time_goes_sim,
)
from engineroom.chapters.redo_log.experiments.whole_engine import (
    few_clients_engine_sim,
    profile_engine_sim,
    throughput_engine_sim,
)
from engineroom.chapters.redo_log.experiments.writer_threads import writer_threads_live
from engineroom.machine.presets import parameters
from engineroom.runs import Run
from engineroom.simulating.loads import SYSBENCH, TPCC

__all__ = [
    "BETWEEN_COMMITS_NS",
    "COMMITS",
    "COMMIT_THREADS",
    "DESIGNS",
    "LARGE_TRANSACTIONS",
    "LOAD_WORKERS",
    "LOG_BUFFER_BYTES",
    "MACHINE",
    "MADE_TOGETHER",
    "RECORD",
    "SERIES",
    "SYSBENCH",
    "TPCC",
    "commit_cost_kernel",
    "commit_cost_sim",
    "components",
    "few_clients_engine_sim",
    "few_clients_sim",
    "flushes_live",
    "flushes_sim",
    "load_time_sim",
    "parameters",
    "profile_engine_sim",
    "throughput_engine_sim",
    "throughput_sim",
    "where_time_goes_host",
    "where_time_goes_sim",
    "writer_threads_live",
]

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-01", "sim"): throughput_engine_sim,
    ("fig-7-02", "sim"): load_time_sim,
    ("fig-7-04", "sim"): where_time_goes_sim,
    ("fig-7-04", "host"): where_time_goes_host,
    ("fig-7-06", "sim"): flushes_sim,
    ("fig-7-06", "live"): flushes_live,
    ("num-ch7-1", "sim"): few_clients_engine_sim,
    ("num-deg-3", "kernel"): commit_cost_kernel,
    ("num-deg-3", "sim"): commit_cost_sim,
    ("own-redo-engine-profile", "sim"): profile_engine_sim,
    ("own-redo-few-clients", "sim"): few_clients_sim,
    ("own-redo-throughput", "sim"): throughput_sim,
    ("own-redo-writer-threads", "live"): writer_threads_live,
}
MADE_TOGETHER = {("fig-7-04", method): ("fig-7-05",) for method in ("sim", "host")}
