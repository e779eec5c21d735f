"""A process per repeat: where code and memory come to lie is dealt again with each, and nanoseconds depend on it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from engineroom.progress import bar

__all__ = ["in_fresh_processes"]

T = TypeVar("T")


def in_fresh_processes(
    repeats: int, measured: Callable[..., T], /, *arguments: Any, desc: str
) -> Iterator[tuple[int, T]]:
    """(repeat, what `measured` returns), each in a process of its own, one after the other; `measured` is a module's function."""
    spawned = multiprocessing.get_context("spawn")
    for repeat in bar(range(repeats), desc=desc, unit="process"):
        with ProcessPoolExecutor(1, mp_context=spawned) as pool:
            yield repeat, pool.submit(measured, *arguments).result()
