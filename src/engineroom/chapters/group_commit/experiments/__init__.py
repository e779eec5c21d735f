"""The group commit chapter's experiments: the designs simulated, crashed, and measured on live servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.group_commit.experiments.crashes import crashes_kernel
from engineroom.chapters.group_commit.experiments.live import groups_live
from engineroom.chapters.group_commit.experiments.model import groups_sim
from engineroom.chapters.group_commit.experiments.simulated import durable_sim, redo_flush_sim, stages_sim
from engineroom.runs import Run

__all__ = [
    "RECORD",
    "crashes_kernel",
    "durable_sim",
    "groups_live",
    "groups_sim",
    "redo_flush_sim",
    "stages_sim",
]

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("tab-gc-1", "sim"): redo_flush_sim,
    ("own-gc-durable", "sim"): durable_sim,
    ("own-gc-stages", "sim"): stages_sim,
    ("own-gc-crashes", "kernel"): crashes_kernel,
    ("own-gc-groups", "live"): groups_live,
    ("own-gc-groups", "sim"): groups_sim,
}
