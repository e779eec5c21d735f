"""The group commit chapter's experiments: the designs simulated, crashed, and measured on live servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.group_commit.experiments import crashes, live, model, simulated
from engineroom.runs import Run

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("tab-gc-1", "sim"): simulated.redo_flush_sim,
    ("own-gc-durable", "sim"): simulated.durable_sim,
    ("own-gc-stages", "sim"): simulated.stages_sim,
    ("own-gc-crashes", "kernel"): crashes.crashes_kernel,
    ("own-gc-groups", "live"): live.groups_live,
    ("own-gc-groups", "sim"): model.groups_sim,
}
