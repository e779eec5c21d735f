"""Real threads left alone: scheduled before others, on processors of their own, in runs that the hypervisor does not disturb."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from engineroom.errors import EngineRoomError
from engineroom.runs import provenance

__all__ = ["MOST_STOLEN_MS", "left_alone", "pinned", "short_slices"]

# Of round robin. With the usual 100 ms a run of 400 is four slices long, and chance decides who has them.
SLICE_MS = 4
_SLICE_FILE = Path("/proc/sys/kernel/sched_rr_timeslice_ms")
# What the hypervisor of a virtual machine may withhold from a run, of all processors: one step of the system's count.
MOST_STOLEN_MS = 10
# It may move a virtual processor to where a line takes several times as long.
MOST_MOVED = 1.5
ATTEMPTS = 60
_COARSE_CLOCK = 6  # Linux's CLOCK_MONOTONIC_COARSE, which goes from tick to tick

_Seen = TypeVar("_Seen")


def _line_ns() -> float:
    from engineroom._native import machine

    return machine.line_transfer()


def _copy_and_write_ns() -> tuple[float, float]:
    from engineroom._native import machine

    return machine.copy_beside_write()


def left_alone(
    run: Callable[[], _Seen], *, most_stolen_ms: float = MOST_STOLEN_MS, rest_ms: int
) -> Iterator[tuple[_Seen, dict[str, Any]]]:
    """Runs until the hypervisor leaves one alone, which is the last; with each, what was withheld from it and how far apart the
    processors lay.

    Copying varies by a quarter from one measurement to the next: it is measured before and after the run. Between two runs the
    machine rests: Linux takes the processor from real-time threads that leave nothing to others.
    """
    for attempt in range(ATTEMPTS):
        copied = [_copy_and_write_ns()]
        line_ns = _line_ns()
        before = provenance.steal_s() or 0.0
        seen = run()
        stolen_ms = round(1000 * ((provenance.steal_s() or 0.0) - before))
        after_ns = _line_ns()
        copied.append(_copy_and_write_ns())
        copy_ns, write_ns = (statistics.mean(times) for times in zip(*copied, strict=True))
        has_moved = max(line_ns, after_ns) > MOST_MOVED * min(line_ns, after_ns)
        is_disturbed = stolen_ms > most_stolen_ms or has_moved
        apart = {"line_ns": line_ns, "copy_ns": copy_ns, "write_ns": write_ns, "line_after_ns": after_ns}
        yield seen, {"stolen_ms": stolen_ms, **apart, "is_disturbed": is_disturbed}
        time.sleep(rest_ms / 1000)
        if not is_disturbed:
            return
        time.sleep(min(attempt, 5))
    raise EngineRoomError(
        f"the hypervisor withheld more than {most_stolen_ms:g} ms of processor time from each of {ATTEMPTS} runs, or moved"
        " the processors meanwhile",
        remedy="record when the computer's host has less to do",
    )


@contextmanager
def short_slices() -> Iterator[None]:
    """Round robin with slices of SLICE_MS where this process may set them, for the whole system while it lasts."""
    usual = None
    with suppress(OSError):
        usual = _SLICE_FILE.read_text(encoding="ascii")
        _SLICE_FILE.write_text(str(SLICE_MS), encoding="ascii")
    try:
        yield
    finally:
        with suppress(OSError):
            if usual is not None:
                _SLICE_FILE.write_text(usual, encoding="ascii")


@contextmanager
def pinned(processors: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Real-time scheduling on so many processors where this process may; says what it got, and as parameters of a machine."""
    if not hasattr(os, "sched_setaffinity"):
        yield "as usual: this system cannot pin a process", {}
        return
    before, policy, parameter = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    got, scheduler = "as usual", dict[str, int]()
    os.sched_setaffinity(0, sorted(before)[:processors])
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        scheduler = {
            "slice_ps": round(os.sched_rr_get_interval(0) * 1e12),
            "tick_ps": round(time.clock_getres(_COARSE_CLOCK) * 1e12),
        }
        got = f"SCHED_RR, priority 1, slices of {scheduler['slice_ps'] / 1e9:g} ms"
    try:
        yield f"{got}, {min(processors, len(before))} processors", scheduler
    finally:
        os.sched_setscheduler(0, policy, parameter)
        os.sched_setaffinity(0, before)
