"""A run of either machine for a trace viewer: Chrome's trace format, which Perfetto opens; and where time went, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["STATES", "chrome_trace", "folded_stacks", "write_chrome_trace"]

STATES = ("work", "memory", "spin", "runnable", "parked", "io", "sleeping")
CORES, THREADS = 1, 2


def chrome_trace(run: Mapping[str, Any]) -> dict[str, Any]:
    """The run's intervals: one track per core with what ran there, one per thread with what it waited for.

    The run must have been made with the parameter `trace_intervals`.
    """
    names = run["names"]
    threads = run.get("threads", [])
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": CORES, "name": "process_name", "args": {"name": "cores"}},
        {"ph": "M", "pid": THREADS, "name": "process_name", "args": {"name": "threads"}},
    ]
    events += [
        {"ph": "M", "pid": THREADS, "tid": i, "name": "thread_name", "args": {"name": name}}
        for i, name in enumerate(threads)
    ]
    for start, end, thread, core, state, site in run["trace"].tolist():
        on_core = core >= 0
        name = names[site] if STATES[state] in ("parked", "io") else STATES[state]
        events.append(
            {
                "ph": "X",
                "pid": CORES if on_core else THREADS,
                "tid": core if on_core else thread,
                "ts": start / 1e6,
                "dur": (end - start) / 1e6,
                "name": threads[thread] if on_core and STATES[state] == "work" else name,
                "cat": STATES[state],
            }
        )
    return {
        "displayTimeUnit": "ns",
        "traceEvents": events,
        "otherData": {"intervals_not_kept": run["intervals_not_kept"]},
    }


def write_chrome_trace(run: Mapping[str, Any], path: Path) -> None:
    """Write the trace to a file that Perfetto or chrome://tracing opens."""
    path.write_text(json.dumps(chrome_trace(run)), encoding="utf-8")


def folded_stacks(run: Mapping[str, Any]) -> str:
    """Where virtual time went, one line a stack with its microseconds: what flame-graph tools read."""
    return "\n".join(
        ";".join((*path, state)) + f" {round(ps / 1e6)}"
        for path, state, ps in run["activities"]
        if ps >= 500_000
    )
