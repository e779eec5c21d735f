"""Where many runs are made: in this process, in processes of this machine, or on a Dask cluster.

Each is an executor of `concurrent.futures`. Those that start something do it for the time of a `with` block and leave nothing behind,
also when the block ends by an error, by Ctrl-C, or when this process is killed.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, ParamSpec, TypeVar

from engineroom.errors import EngineRoomError

__all__ = ["HERE", "Here", "chosen", "cluster", "jobs_by_default", "local_cluster", "processes"]

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_S = 10


class Here(Executor):
    """One after the other, in this process and thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (whoever asks for the result gets it)
            future.set_exception(error)
        return future


HERE = Here()


def jobs_by_default() -> int:
    """`ENGINEROOM_JOBS`, or as many as this process may use processors."""
    asked = os.environ.get("ENGINEROOM_JOBS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise EngineRoomError(f"ENGINEROOM_JOBS is {asked!r}", remedy="set it to 1 or more, or not at all")
    return int(asked)


@contextlib.contextmanager
def processes(jobs: int | None = None) -> Iterator[Executor]:
    """A pool of so many processes, by default `jobs_by_default`; one job is done here, without a process."""
    jobs = jobs_by_default() if jobs is None else jobs
    if jobs < 1:
        raise EngineRoomError(f"jobs is {jobs}", remedy="pass 1 or more")
    if jobs == 1:
        yield HERE
        return
    started = _Started()
    pool = ProcessPoolExecutor(jobs, mp_context=started, initializer=_begin)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        # What a worker has begun may take minutes, and nobody wants it any more. It may have inherited to ignore SIGTERM.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started.running():
            process.kill()
        raise
    finally:
        for process in started.running():
            process.join()


class _Started(SpawnContext):
    """Starts processes afresh, not as copies of this one, which may have threads; and keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self.processes: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        process = _Worker(*args, **kwargs)
        self.processes.append(process)
        return process

    def running(self) -> list[SpawnProcess]:
        """Those that have begun: Ctrl-C may come while one is being started."""
        return [process for process in self.processes if process.pid is not None]


class _Worker(SpawnProcess):
    """Begins with SIGINT blocked, until `_begin` ignores it."""

    def start(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Ctrl-C reaches all processes of a terminal: it is for the one that has the pool, and a worker ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


@contextlib.contextmanager
def local_cluster(workers: int = 2) -> Iterator[Executor]:
    """A Dask cluster of so many workers in this process, for the time of the block.

    Nobody else can reach it: whoever talks to a scheduler makes it run what he likes, also another user of this computer. Dask's
    HTTP servers cannot be left out; they listen on loopback and have no page. Our kernels let other threads run, so that its workers do
    work at the same time. It keeps to itself how quickly its parts end, which on a busy computer is a warning; what goes wrong in a run
    raises.
    """
    distributed = _distributed()
    if workers < 1:
        raise EngineRoomError(f"workers is {workers}", remedy="pass 1 or more")
    import dask

    nowhere = "127.0.0.1:0"
    with (
        dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=None,
            processes=False,
            protocol="inproc://",
            dashboard_address=nowhere,
            worker_dashboard_address=nowhere,
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The Dask cluster whose scheduler listens at `address`, such as `tcp://scheduler:8786`. Its workers need this package."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineRoomError(
            f"no Dask scheduler answers at {address}: {error}",
            remedy="start one with `dask scheduler`, and workers that have this package with `dask worker ADDRESS`",
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise EngineRoomError(
                f"the Dask scheduler at {address} has no workers",
                remedy="start some that have this package with `dask worker ADDRESS`",
            )
        yield client.get_executor()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise EngineRoomError(
            "Dask's distributed is not installed", remedy="pip install -e '.[cluster]'"
        ) from error
    return distributed


def chosen(
    *, address: str | None = None, jobs: int | None = None
) -> contextlib.AbstractContextManager[Executor]:
    """The cluster at `address`, else processes of this machine."""
    if address is None:
        return processes(jobs)
    if jobs is not None:
        raise EngineRoomError("both a cluster and a number of jobs are given", remedy="give one of the two")
    return cluster(address)
