"""The redo log chapter's experiments: the log of 5.6, 5.7 and 8.0 simulated, on real threads and live, and what a commit costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.redo_log.experiments import (
    commit_cost,
    host,
    live,
    simulated,
    whole_engine,
    writer_threads,
)
from engineroom.runs import Run

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-01", "sim"): whole_engine.throughput_engine_sim,
    ("fig-7-02", "sim"): simulated.load_time_sim,
    ("fig-7-04", "sim"): simulated.where_time_goes_sim,
    ("fig-7-04", "host"): host.where_time_goes_host,
    ("fig-7-06", "sim"): simulated.flushes_sim,
    ("fig-7-06", "live"): live.flushes_live,
    ("num-ch7-1", "sim"): whole_engine.few_clients_engine_sim,
    ("num-deg-3", "kernel"): commit_cost.commit_cost_kernel,
    ("num-deg-3", "sim"): simulated.commit_cost_sim,
    ("own-redo-engine-profile", "sim"): whole_engine.profile_engine_sim,
    ("own-redo-few-clients", "sim"): simulated.few_clients_sim,
    ("own-redo-throughput", "sim"): simulated.throughput_sim,
    ("own-redo-writer-threads", "live"): writer_threads.writer_threads_live,
}
MADE_TOGETHER = {("fig-7-04", method): ("fig-7-05",) for method in ("sim", "host")}
