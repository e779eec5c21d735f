"""Shares of time: what the threads of a run did, by any names for their call paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

__all__ = ["ON_CPU", "Activity", "percent", "time_by"]

# The call path by our names, outermost first; the state; picoseconds. A run has them as its `activities`.
Activity: TypeAlias = tuple[Sequence[str], str, int]

# What a profiler of CPU samples sees; a parked thread is in no sample.
ON_CPU = ("work", "memory", "spin")


def time_by(
    activities: Iterable[Activity],
    name: Callable[[Sequence[str]], str | None],
    *,
    states: Collection[str] = ON_CPU,
) -> dict[str, int]:
    """Picoseconds in `states` by what `name` says of the path; a path without a name is left out."""
    found: dict[str, int] = {}
    for path, state, ps in activities:
        if state in states and (said := name(path)) is not None:
            found[said] = found.get(said, 0) + ps
    return found


def percent(times: Mapping[str, int]) -> dict[str, float]:
    """Each time as a share of all, by name in the alphabet's order; 0 where there is no time at all."""
    whole = max(1, sum(times.values()))
    return {name: 100 * ps / whole for name, ps in sorted(times.items())}
