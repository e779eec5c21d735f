"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.lock_sys.experiments.conflicts import conflicts
from engineroom.chapters.lock_sys.experiments.deadlock_log import (
    cost_of_printing,
    deadlock_log,
    deadlock_print,
)
from engineroom.chapters.lock_sys.experiments.latches import latches_sim
from engineroom.chapters.lock_sys.experiments.throughput import throughput_sim
from engineroom.runs import Run

__all__ = [
    "RECORD",
    "conflicts",
    "cost_of_printing",
    "deadlock_log",
    "deadlock_print",
    "latches_sim",
    "throughput_sim",
]

# What `engineroom record` can measure: figure and method -> a function, called with what the command says, or with nothing.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("own-lock-conflicts", "live"): conflicts,
    ("fig-7-16", "live"): deadlock_log,
    ("own-deadlock-print", "live"): deadlock_print,
    ("own-lock-latches", "sim"): latches_sim,
    ("fig-7-07", "sim"): throughput_sim,
}
