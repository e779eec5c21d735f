"""Sweeps: the same results here, in a pool of processes and on a Dask cluster of this machine."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
import psutil
import pytest

from engineroom.errors import EngineRoomError
from engineroom.experiments import redo_log
from engineroom.machine.sweep import local_cluster, sweep

POINTS = [{"clients": (n,), "seeds": (seed,), "run_ms": 5} for n, seed in ((3, 1), (1, 1), (1, 2))]


def listening() -> list[str]:
    """Addresses at which this process or a child of it listens."""
    me = psutil.Process()
    return [
        connection.laddr.ip
        for process in (me, *me.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]


@pytest.mark.slow
def test_a_cluster_and_a_pool_give_the_tables_that_are_made_here():
    here = sweep(redo_log.flushes_sim, POINTS)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        in_pool = sweep(redo_log.flushes_sim, POINTS, executor=pool)
    before = set(psutil.Process().children(recursive=True))
    with local_cluster(2) as executor:
        assert set(listening()) == {"127.0.0.1"}
        on_cluster = sweep(redo_log.flushes_sim, POINTS, executor=executor)
    for a, b, c in zip(here, in_pool, on_cluster, strict=True):
        pd.testing.assert_frame_equal(a.table, b.table, check_exact=True)
        pd.testing.assert_frame_equal(a.table, c.table, check_exact=True)
    assert not here[1].table.equals(here[2].table)
    left = [child for child in psutil.Process().children(recursive=True) if child not in before]
    assert [child for child in left if "resource_tracker" not in " ".join(child.cmdline())] == []
    assert listening() == []


def test_an_error_on_the_cluster_comes_back_and_a_cluster_of_nobody_is_refused():
    with pytest.raises(EngineRoomError, match="workers is 0"), local_cluster(0):
        pass
    with local_cluster(1) as executor, pytest.raises(ValueError, match="clients must be at least 1, got -1"):
        sweep(redo_log.flushes_sim, [{"clients": (-1,), "run_ms": 1}], executor=executor)


ENDS_SLOWLY = """
import atexit, time
from engineroom.machine.sweep import local_cluster, sweep

def linger(seconds):
    atexit.register(time.sleep, seconds)
    return "it will"

if __name__ == "__main__":
    with local_cluster(1) as executor:
        print(*sweep(linger, [{"seconds": 30}], executor=executor))
"""


@pytest.mark.slow
def test_a_cluster_that_ends_slowly_says_nothing_in_a_notebook(tmp_path):
    """What a cell writes to stderr is a warning of the book. A busy computer ends its processes as late as this one."""
    script = tmp_path / "ends_slowly.py"
    script.write_text(ENDS_SLOWLY)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("it will\n", "")
