"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.lock_sys.experiments import conflicts, deadlock_log, simulated
from engineroom.runs import Run

# What `engineroom record` can measure: figure and method -> a function, called with what the command says, or with nothing.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("own-lock-conflicts", "live"): conflicts.conflicts,
    ("fig-7-16", "live"): deadlock_log.deadlock_log,
    ("own-deadlock-print", "live"): deadlock_log.deadlock_print,
    ("own-lock-latches", "sim"): simulated.latches_sim,
    ("fig-7-07", "sim"): simulated.throughput_sim,
}
