"""Executors: the same results here, in a pool of processes and on a Dask cluster, and nothing left behind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest

from engineroom.chapters.cats.experiments.simulated import contended_sim
from engineroom.chapters.redo_log.experiments import simulated
from engineroom.errors import EngineRoomError
from engineroom.simulating import executors
from engineroom.simulating.executors import HERE, chosen, cluster, local_cluster, processes
from engineroom.simulating.sweep import cross, sweep

POINTS = [
    {"concurrency": (n,), "seeds": (seed,), "first_ms": 5, "longest_ms": 5}
    for n, seed in ((3, 1), (1, 1), (1, 2))
]
# Of the whole engine: figure 7-19 with few clients.
ENGINE_POINTS = [
    {"concurrency": (n,), "seeds": (1,), "first_ms": 50, "longest_ms": 50, "warmup_ms": 5} for n in (2, 8)
]


def listening() -> set[tuple[str, int]]:
    """Addresses and ports at which this process or a child of it listens; servers of earlier tests are among them."""
    me = psutil.Process()
    found = set()
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended since it was listed
            found |= {
                (connection.laddr.ip, connection.laddr.port)
                for connection in process.net_connections(kind="inet")
                if connection.status == psutil.CONN_LISTEN
            }
    return found


def said_to_a_stranger(port: int) -> str:
    """The first line of what is answered on this port to anyone that asks for the page of a cluster's identity."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /json/identity.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return client.makefile().readline().strip()


@pytest.mark.slow
def test_a_cluster_and_a_pool_give_the_tables_that_are_made_here():
    here = sweep(simulated.flushes_sim, POINTS, executor=HERE)
    engine_here = sweep(contended_sim, ENGINE_POINTS, executor=HERE)
    before, listening_before = set(psutil.Process().children(recursive=True)), listening()
    with processes(2) as pool:
        in_pool = sweep(simulated.flushes_sim, POINTS, executor=pool)
    with local_cluster(2) as executor:
        opened = listening() - listening_before
        assert {address for address, _ in opened} == {"127.0.0.1"}
        assert all(said_to_a_stranger(port) == "HTTP/1.1 404 Not Found" for _, port in opened)
        on_cluster = sweep(simulated.flushes_sim, POINTS, executor=executor)
        engine_on_cluster = sweep(contended_sim, ENGINE_POINTS, executor=executor)
    for a, b in zip(engine_here, engine_on_cluster, strict=True):
        assert (a.table["tps"] > 0).all()
        pd.testing.assert_frame_equal(a.table, b.table, check_exact=True)
        pd.testing.assert_frame_equal(a.tables["latches"], b.tables["latches"], check_exact=True)
    for a, b, c in zip(here, in_pool, on_cluster, strict=True):
        pd.testing.assert_frame_equal(a.table, b.table, check_exact=True)
        pd.testing.assert_frame_equal(a.table, c.table, check_exact=True)
    assert not here[1].table.equals(here[2].table)
    left = [child for child in psutil.Process().children(recursive=True) if child not in before]
    ending = [child for child in left if "resource_tracker" not in command(child)]
    assert psutil.wait_procs(ending, timeout=10)[1] == []


def test_an_error_on_the_cluster_comes_back_and_a_cluster_of_nobody_is_refused():
    with pytest.raises(EngineRoomError, match="workers is 0"), local_cluster(0):
        pass
    with local_cluster(1) as executor, pytest.raises(ValueError, match="clients must be 1 to 4096, got -1"):
        sweep(
            simulated.flushes_sim, [{"concurrency": (-1,), "first_ms": 1, "longest_ms": 1}], executor=executor
        )


ENDS_SLOWLY = """
import atexit, time
from engineroom.simulating.executors import local_cluster
from engineroom.simulating.sweep import sweep

def linger(seconds):
    atexit.register(time.sleep, seconds)
    return "it will"

if __name__ == "__main__":
    with local_cluster(1) as executor:
        print(*sweep(linger, [{"seconds": 8}], executor=executor))
"""


@pytest.mark.slow
def test_a_cluster_that_ends_slowly_says_nothing_in_a_notebook(tmp_path):
    """What a cell writes to stderr is a warning of the book. A busy computer ends its processes as late as this one: Dask warns of
    a worker's process that has not ended after four seconds.
    """
    script = tmp_path / "ends_slowly.py"
    script.write_text(ENDS_SLOWLY)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("it will\n", "")


def test_a_scheduler_elsewhere_serves_a_sweep_by_its_address():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as there,
        chosen(address=there.scheduler_address) as executor,
    ):
        points = cross(key=(7,), workers=(2,))  # names that Dask would take for its own
        assert sweep(dict, points, executor=executor) == points


def test_a_scheduler_that_nobody_runs_is_an_error_that_says_what_to_start(monkeypatch):
    monkeypatch.setattr(executors, "CONNECT_S", 0.2)
    with (
        pytest.raises(EngineRoomError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1") as error,
        cluster("tcp://127.0.0.1:1"),
    ):
        pass
    assert "dask scheduler" in error.value.remedy


def test_a_wrong_number_of_processes_is_refused(monkeypatch):
    with pytest.raises(EngineRoomError, match="jobs is 0"), processes(0):
        pass
    with pytest.raises(EngineRoomError, match="both"), chosen(address="tcp://127.0.0.1:1", jobs=2):
        pass
    monkeypatch.setenv("ENGINEROOM_JOBS", "many")
    with pytest.raises(EngineRoomError, match="ENGINEROOM_JOBS is 'many'"), processes():
        pass
    monkeypatch.setenv("ENGINEROOM_JOBS", "1")
    with processes() as executor:
        assert executor is HERE


SLEEPS = """
import os, signal, sys, threading, time
from engineroom.simulating.executors import processes
from engineroom.simulating.sweep import cross, sweep

def sleeper(seconds):
    os.write(1, b"begun\\n")  # at once: where Python does not buffer, print sends the newline by itself
    time.sleep(seconds)

def take():
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

if __name__ == "__main__":
    {first}
    with processes(2) as executor:
        sweep(sleeper, cross(seconds=(600, 600, 600)), executor=executor)
"""
# What a sweep is begun with.
BEFORE = {
    "as usual": "pass",
    "where SIGTERM is ignored": "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "in another thread": "threading.Thread(target=take, daemon=True).start()",
}


@pytest.mark.parametrize(
    ("by", "how"), [*((signal.SIGINT, how) for how in BEFORE), (signal.SIGKILL, "as usual")]
)
def test_a_sweep_that_ends_early_leaves_no_process(tmp_path, by, how):
    """Ctrl-C is sent to the whole group, as a terminal does; a kill reaches the one that has the pool.

    The system gives Ctrl-C to a thread of its choice, which need not be the one that waits for results.
    """
    script = tmp_path / "sleeps.py"
    script.write_text(SLEEPS.replace("{first}", BEFORE[how]))
    with subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            assert [running.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
            started = psutil.Process(running.pid).children(recursive=True)
            assert len(started) >= 2
            if how == "in another thread":
                running.stdin.write("now\n")
                running.stdin.flush()
            elif by == signal.SIGINT:
                os.killpg(running.pid, by)
            else:
                running.send_signal(by)
            _, said = running.communicate(timeout=60)
        finally:
            # One that goes on would be waited for.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode != 0
    # One traceback, of the one that has the pool.
    assert said.count("KeyboardInterrupt") == (by == signal.SIGINT)
    assert said.count("Traceback") <= 1
    assert psutil.wait_procs(started, timeout=30)[1] == []


def test_an_error_ends_what_others_have_begun(tmp_path, monkeypatch):
    (tmp_path / "one_fails.py").write_text(
        "import time\ndef one(i):\n    if i == 0: raise ValueError('the first')\n    time.sleep(600)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import one_fails

    before = time.monotonic()
    with pytest.raises(ValueError, match="the first"), processes(2) as executor:
        sweep(one_fails.one, cross(i=range(5)), executor=executor)
    assert time.monotonic() - before < 300
    children = psutil.Process().children(recursive=True)
    assert not [child for child in children if "spawn_main" in command(child)]


def command(process):
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
