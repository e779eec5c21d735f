"""Many runs of one function at once, on any executor: a process pool, or a cluster's."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import multiprocessing
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, TypeVar

from engineroom import progress
from engineroom.errors import EngineRoomError
from engineroom.simulating.executors import HERE, Here, processes

__all__ = ["cross", "sweep"]

T = TypeVar("T")

# Of the values of a point: a machine is too much for an error's line.
MOST_SAID = 60
# Starting processes takes as long.
WORTH_PROCESSES_S = 2.0
HEARS_CTRL_C_S = 1.0  # at most so late


def cross(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations as points, the last column fastest.

    >>> cross(cores=[2, 4], fsync_us=[100])
    [{'cores': 2, 'fsync_us': 100}, {'cores': 4, 'fsync_us': 100}]
    """
    return [dict(zip(columns, values, strict=True)) for values in itertools.product(*columns.values())]


def sweep(
    function: Callable[..., T],
    points: Iterable[Mapping[str, Any]],
    *,
    executor: Executor | None = None,
    desc: str = "sweep",
) -> list[T]:
    """Call `function` with the keywords of each point; the results in the order of the points.

    `executor` is anything with `submit`: what `processes`, `local_cluster` and `cluster` give, or HERE. With None the sweep begins
    here, and what is left after `WORTH_PROCESSES_S` goes to a pool of processes of its own. It stays here where that cannot be: inside
    another sweep's process, and with a function of your notebook or script itself, which other processes do not know.

    The first error ends the sweep, and says at which point it happened.

    >>> sweep(pow, cross(base=[2, 3], exp=[2]))
    [4, 9]
    """
    work = [dict(point) for point in points]
    results: dict[int, T] = {}
    with (
        progress.bar(total=len(work), desc=desc, unit="run") as bar,
        contextlib.closing(_made(executor, function, work)) as made,
    ):
        for i, future in made:
            try:
                results[i] = future.result()
            except Exception as error:  # noqa: BLE001 (it is raised again)
                raise _told(error, work[i]) from error.__cause__
            bar.update()
    return [results[i] for i in range(len(work))]


def _made(
    executor: Executor | None, function: Callable[..., T], work: Sequence[Mapping[str, Any]]
) -> Generator[tuple[int, Future[T]]]:
    """What is done, as it is done; what is not when the caller has had enough is never begun."""
    first = 0
    if executor is None or isinstance(executor, Here):
        can_be_shared = (
            executor is None and not _is_of_main(function) and multiprocessing.parent_process() is None
        )
        end_s = time.monotonic() + WORTH_PROCESSES_S if can_be_shared else math.inf
        while first < len(work) and (time.monotonic() < end_s or first == len(work) - 1):
            yield first, HERE.submit(function, **work[first])
            first += 1
        if first == len(work):
            return
    with contextlib.nullcontext(executor) if executor is not None else processes() as at:
        # Dask would take some keywords for its own.
        futures = {at.submit(_call, function, work[i]): i for i in range(first, len(work))}
        try:
            left = set(futures)
            while left:
                # A signal that another thread took does not wake this one.
                done, left = wait(left, HEARS_CTRL_C_S, FIRST_COMPLETED)
                for future in done:
                    yield futures[future], future
        finally:
            for future in futures:
                future.cancel()


def _is_of_main(value: Any) -> bool:
    """Whether a function, or what a partial of one holds, is of the notebook or script itself."""
    if isinstance(value, functools.partial):
        return any(map(_is_of_main, (value.func, *value.args, *value.keywords.values())))
    return getattr(value, "__module__", None) == "__main__"


def _call(function: Callable[..., T], point: Mapping[str, Any]) -> T:
    return function(**point)


def _told(error: Exception, point: Mapping[str, Any]) -> Exception:
    """The error with its point, as far as that can be said in a line."""
    if isinstance(error, BrokenExecutor):
        return EngineRoomError(
            f"a process that simulates has died: {error}",
            remedy="it may have run out of memory: use fewer at once (ENGINEROOM_JOBS=1); a script that starts processes"
            " does it under `if __name__ == '__main__':`",
        )
    said = {name: repr(value) for name, value in point.items()}
    where = ", ".join(f"{name} {value}" for name, value in said.items() if len(value) <= MOST_SAID)
    if isinstance(error, EngineRoomError):
        return EngineRoomError(f"{error.problem} (at {where})", remedy=error.remedy)
    error.add_note(f"at {where}")
    return error
