"""The simulated machine and the engine held against real ones: threads of the computer at hand, what others measured on many cores, live servers.

A key of `RECORD` that begins with a chapter's word is recorded in that chapter's folder, and shown on its page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.runs import Run
from engineroom.validation import formulas
from engineroom.validation.experiments import (
    beside,
    configuration,
    crowds,
    hash_index,
    holds,
    latch_order,
    published,
    real,
    sixteen,
    whatif,
)

RECORD: Mapping[tuple[str, ...], Callable[..., Run | list[Run]]] = {
    ("own-machine-validation", "sim"): formulas.formulas_sim,
    ("own-machine-real", "host"): real.real_against_simulated,
    ("own-machine-crowds", "sim"): crowds.crowds_sim,
    ("own-machine-configuration", "sim"): configuration.configuration_sim,
    **{("engine", each.figure, "live"): each for each in beside.COMPARISONS},
    **{("engine", each.figure, "sim"): each.engines for each in beside.COMPARISONS},
    ("engine", "own-whatif", "live"): whatif.whatif_live,
    ("engine", "own-hold-times", "live"): holds.hold_times_live,
    ("engine", "own-engine-holds", "sim"): holds.held_sim,
    ("engine", "own-engine-published", "sim"): published.published_sim,
    ("engine", "own-engine-crowd", "sim"): sixteen.crowd_sim,
    ("engine", "own-engine-hash-index", "sim"): sixteen.hash_index_sim,
    ("engine", "own-hash-index", "live"): hash_index.hash_index_live,
    ("engine", "own-latch-order", "live"): latch_order.latch_order_live,
    ("engine", "own-engine-latch-order", "sim"): latch_order.latch_order_sim,
}
