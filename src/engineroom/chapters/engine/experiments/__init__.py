"""The experiments of the chapter: parameters in, a `Run` out. Engines beside live servers are in `engineroom.validation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.engine.experiments import (
    binlog,
    cures,
    demands,
    held,
    occupancy,
    pages,
    pool,
    purge,
    scheduler,
    simulated,
    table_locks,
)
from engineroom.runs import Run

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("own-demands", "live"): demands.demands_live,
    ("own-demands-again", "live"): demands.again_live,
    ("own-demands-warehouses", "live"): demands.warehouses_live,
    ("own-engine-cures", "live"): cures.cures_live,
    ("own-table-locks", "live"): table_locks.table_locks_live,
    ("own-engine-table-locks", "sim"): table_locks.table_locks_sim,
    ("fig-7-03", "sim"): simulated.patched_sim,
    ("own-engine-switches", "sim"): simulated.switches_sim,
    ("own-engine-binlog", "sim"): binlog.binlog_sim,
    ("own-engine-held", "sim"): held.held_sim,
    ("own-engine-occupancy", "sim"): occupancy.occupancy_sim,
    ("own-engine-pages", "sim"): pages.pages_sim,
    ("own-engine-pool", "sim"): pool.pool_sim,
    ("own-engine-purge", "sim"): purge.purge_sim,
    ("own-engine-scheduler", "sim"): scheduler.scheduler_sim,
}
