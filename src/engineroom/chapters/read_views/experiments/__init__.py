"""The read views' experiments: histories against the oracle, what statements cost, sessions beside purge, anomalies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.read_views.experiments.histories import DESIGNS, histories_kernel
from engineroom.chapters.read_views.experiments.isolation import anomalies_live
from engineroom.chapters.read_views.experiments.live import idle_sessions_live
from engineroom.chapters.read_views.experiments.simulated import (
    list_length_sim,
    read_only_sim,
    response_sim,
    sessions_sim,
)
from engineroom.chapters.read_views.experiments.statements import statements_live
from engineroom.runs import Run

__all__ = [
    "DESIGNS",
    "RECORD",
    "anomalies_live",
    "histories_kernel",
    "idle_sessions_live",
    "list_length_sim",
    "read_only_sim",
    "response_sim",
    "sessions_sim",
    "statements_live",
]

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("num-rv-1", "sim"): list_length_sim,
    ("num-rv-2", "sim"): response_sim,
    ("num-rv-3", "sim"): read_only_sim,
    ("own-read-views-sessions", "sim"): sessions_sim,
    ("own-read-views-idle", "live"): idle_sessions_live,
    ("own-read-views-statements", "live"): statements_live,
    ("own-read-views-anomalies", "live"): anomalies_live,
    ("own-read-views-histories", "kernel"): histories_kernel,
}
