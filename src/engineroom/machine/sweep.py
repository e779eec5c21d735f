"""Many runs of one function at once, on any executor: a process pool, or a cluster's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar

from engineroom import progress

__all__ = ["sweep"]

T = TypeVar("T")


def sweep(
    function: Callable[..., T], points: Iterable[Mapping[str, Any]], *, executor: Executor | None = None
) -> list[T]:
    """Call `function` with the keywords of each point; the results in the order of the points.

    `executor` is anything with `submit`: `concurrent.futures.ProcessPoolExecutor(2)`, or with Dask
    `distributed.Client(...).get_executor()`. None runs here, one after the other.
    """
    work = [dict(point) for point in points]
    with progress.bar(total=len(work), desc="sweep", unit="run") as bar:
        if executor is None:
            results = []
            for point in work:
                results.append(function(**point))
                bar.update()
            return results
        futures = [executor.submit(function, **point) for point in work]
        try:
            results = []
            for future in futures:
                results.append(future.result())
                bar.update()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return results
