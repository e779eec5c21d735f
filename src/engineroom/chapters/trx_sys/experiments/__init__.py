"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.trx_sys.experiments.simulated import shards_sim, two_mutexes_sim
from engineroom.runs import Run

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-08", "sim"): two_mutexes_sim,
    ("fig-7-09", "sim"): shards_sim,
}
