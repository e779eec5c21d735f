"""The read views' experiments: histories against the oracle, what statements cost, sessions beside purge, anomalies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.read_views.experiments import (
    counted,
    histories,
    isolation,
    live,
    simulated,
    statements,
)
from engineroom.runs import Run

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("num-rv-1", "sim"): simulated.list_length_sim,
    ("num-rv-2", "sim"): simulated.response_sim,
    ("num-rv-3", "sim"): simulated.read_only_sim,
    ("own-read-views-walk", "sim"): simulated.walk_sim,
    ("own-read-views-idle-model", "sim"): simulated.idle_sim,
    ("own-read-views-idle", "live"): live.idle_sessions_live,
    ("own-read-views-statements", "live"): statements.statements_live,
    ("own-read-views-instructions", "instructions"): counted.views_counted,
    ("own-read-views-anomalies", "live"): isolation.anomalies_live,
    ("own-read-views-histories", "kernel"): histories.histories_kernel,
}
