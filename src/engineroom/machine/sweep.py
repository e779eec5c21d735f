"""Many runs of one function at once, on any executor: a process pool, or a cluster's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar

from engineroom import progress
from engineroom.errors import EngineRoomError

__all__ = ["local_cluster", "sweep"]

T = TypeVar("T")


def sweep(
    function: Callable[..., T], points: Iterable[Mapping[str, Any]], *, executor: Executor | None = None
) -> list[T]:
    """Call `function` with the keywords of each point; the results in the order of the points.

    `executor` is anything with `submit`: `concurrent.futures.ProcessPoolExecutor(2)`, what `local_cluster` gives, or
    `distributed.Client("tcp://scheduler:8786").get_executor()` of a Dask cluster elsewhere. None runs here, one after
    the other.
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


@contextmanager
def local_cluster(workers: int = 2) -> Iterator[Executor]:
    """A Dask cluster of so many processes on this machine, for the time of the block.

    It listens on loopback alone, on ports that the system chooses, and shows no dashboard. It keeps to itself how quickly its
    processes end, which on a busy computer is a warning; what goes wrong in a run raises.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise EngineRoomError(
            "Dask's distributed is not installed", remedy="pip install -e '.[cluster]'"
        ) from error
    if workers < 1:
        raise EngineRoomError(f"workers is {workers}", remedy="pass 1 or more")
    loopback = "127.0.0.1"
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=None,
            host=loopback,
            dashboard_address=f"{loopback}:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()
