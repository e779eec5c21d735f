"""How long a reader waits for simulated figures: the code that recorded them runs again."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engineroom.bench import Sitting
from engineroom.simulating.executors import processes

__all__ = ["PROCESSORS", "Took", "simulated_again"]

PROCESSORS = 2


@dataclass(frozen=True)
class Took:
    """What one figure took: until it was there, and of the processors of all its processes together."""

    wall_s: float
    cpu_s: float


def simulated_again(sitting: Sitting, figures: Mapping[str, Callable[..., Any]]) -> dict[str, Took]:
    """Each figure with all its points and seeds on two processors, once: what is simulated is the same each time.

    Both times go into the sitting's notes.
    """
    took = {}
    for name, simulate in figures.items():
        sitting.says(f"figure {name} is simulated again")
        start_s, cpu_before_s = time.perf_counter(), _cpu_of_children_s()
        with processes(PROCESSORS) as executor:
            simulate(executor=executor)
        took[name] = Took(time.perf_counter() - start_s, _cpu_of_children_s() - cpu_before_s)
    sitting.notes["simulated figures, CPU s"] = {name: each.cpu_s for name, each in took.items()}
    sitting.notes["simulated figures, wall s"] = {name: each.wall_s for name, each in took.items()}
    return took


def _cpu_of_children_s() -> float:
    """Of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
