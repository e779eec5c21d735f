"""A process per repeat: where code and memory come to lie is dealt again with each, and nanoseconds depend on it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from engineroom.progress import bar

__all__ = ["in_fresh_processes"]


def in_fresh_processes(
    repeats: int, measured: Callable[..., Iterable[Mapping[str, Any]]], /, *arguments: Any, desc: str
) -> list[dict[str, Any]]:
    """The rows that `measured`, a module's function, returns in each process, with the process's number as `repeat`; one after the other."""
    spawned = multiprocessing.get_context("spawn")
    rows: list[dict[str, Any]] = []
    for repeat in bar(range(repeats), desc=desc, unit="process"):
        with ProcessPoolExecutor(1, mp_context=spawned) as pool:
            rows += [{**row, "repeat": repeat} for row in pool.submit(measured, *arguments).result()]
    return rows
