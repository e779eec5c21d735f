"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.engine.experiments.beside_servers import against_live, held_out_live
from engineroom.chapters.engine.experiments.binlog import binlog_sim
from engineroom.chapters.engine.experiments.binlog_beside import binlog_live, held_out_binlog_live
from engineroom.chapters.engine.experiments.convoy import convoy_sim
from engineroom.chapters.engine.experiments.demands import again_live, demands_live, warehouses_live
from engineroom.chapters.engine.experiments.held import held_sim, order_sim
from engineroom.chapters.engine.experiments.hold_times import hold_times_live
from engineroom.chapters.engine.experiments.latch_order import latch_order_live, latch_order_sim
from engineroom.chapters.engine.experiments.pool import pool_sim
from engineroom.chapters.engine.experiments.purge import purge_sim
from engineroom.chapters.engine.experiments.scheduler import scheduler_sim
from engineroom.chapters.engine.experiments.simulated import patched_sim, switches_sim
from engineroom.chapters.engine.experiments.tpcc_beside import tpcc_binlog_live, tpcc_live
from engineroom.chapters.engine.experiments.whatif_beside import whatif_live
from engineroom.runs import Run

__all__ = [
    "RECORD",
    "again_live",
    "against_live",
    "binlog_live",
    "binlog_sim",
    "convoy_sim",
    "demands_live",
    "held_out_binlog_live",
    "held_out_live",
    "held_sim",
    "hold_times_live",
    "latch_order_live",
    "latch_order_sim",
    "order_sim",
    "patched_sim",
    "pool_sim",
    "purge_sim",
    "scheduler_sim",
    "switches_sim",
    "tpcc_binlog_live",
    "tpcc_live",
    "warehouses_live",
    "whatif_live",
]

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("own-demands", "live"): demands_live,
    ("own-demands-again", "live"): again_live,
    ("own-demands-warehouses", "live"): warehouses_live,
    ("own-hold-times", "live"): hold_times_live,
    ("own-engine-holds", "sim"): held_sim,
    ("own-engine-order", "sim"): order_sim,
    ("own-latch-order", "live"): latch_order_live,
    ("own-engine-latch-order", "sim"): latch_order_sim,
    ("fig-7-03", "sim"): patched_sim,
    ("own-engine-live", "live"): against_live,
    ("own-engine-held-out", "live"): held_out_live,
    ("own-engine-switches", "sim"): switches_sim,
    ("own-log-convoy", "sim"): convoy_sim,
    ("own-engine-binlog", "sim"): binlog_sim,
    ("own-engine-live-binlog", "live"): binlog_live,
    ("own-engine-held-out-binlog", "live"): held_out_binlog_live,
    ("own-engine-tpcc", "live"): tpcc_live,
    ("own-engine-tpcc-binlog", "live"): tpcc_binlog_live,
    ("own-engine-pool", "sim"): pool_sim,
    ("own-engine-purge", "sim"): purge_sim,
    ("own-engine-scheduler", "sim"): scheduler_sim,
    ("own-whatif", "live"): whatif_live,
}
