"""The redo log on live servers: the steady fsync, and who flushes more often."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys

import pytest

from engineroom.chapters.redo_log.experiments import live as redo_log_live
from engineroom.chapters.redo_log.experiments import writer_threads
from engineroom.errors import EngineRoomError
from engineroom.workloads.steady_fsync import preloaded

# An fsync of a pipe fails, unless it never reaches the kernel.
FSYNC_OF_A_PIPE = "import os; os.fsync(os.pipe()[0])"


@pytest.mark.skipif(sys.platform != "linux", reason="a library is preloaded this way on Linux only")
def test_a_process_started_in_the_block_has_the_steady_fsync_and_a_later_one_has_not() -> None:
    def fsyncs() -> int:
        return subprocess.run(
            [sys.executable, "-c", FSYNC_OF_A_PIPE], capture_output=True, check=False
        ).returncode

    before = os.environ.get("LD_PRELOAD")
    with preloaded(10):
        assert fsyncs() == 0
    assert fsyncs() != 0
    assert os.environ.get("LD_PRELOAD") == before


def test_without_a_compiler_the_reader_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineRoomError, match="gcc"), preloaded(10):
        pass
    with pytest.raises(EngineRoomError, match="sysbench"):
        redo_log_live.flushes_live()


def test_a_share_of_the_commits_lies_at_or_below_the_end_of_a_bucket() -> None:
    buckets = [(10, 1), (20, 2), (40, 1)]
    assert [writer_threads.at_share(buckets, share) for share in (0.25, 0.5, 0.75, 0.95)] == [10, 20, 20, 40]
    assert math.isnan(writer_threads.at_share([], 0.5))


def test_a_negative_time_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"), preloaded(-1):
        pass


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
@pytest.mark.alone
def test_the_log_threads_flush_more_often_than_a_single_client_needs() -> None:
    run = redo_log_live.flushes_live(
        clients=(1,),
        repeats=1,
        seconds=2,
        table_rows=10_000,
        series=("old_redo", "9.7_writer_threads_on", "9.7_writer_threads_off"),
    )
    flushes = run.table.set_index("series")["flushes_per_transaction"]
    assert 0.9 < flushes["old_redo"] < 1.2
    assert 0.9 < flushes["9.7_writer_threads_off"] < 1.3
    assert flushes["9.7_writer_threads_on"] > 1.2 * flushes["9.7_writer_threads_off"]
    # One client finds no row locked: what is counted is commits and nothing else.
    assert run.table[["rolled_back", "row_lock_waits"]].to_numpy().sum() == 0
    assert (run.table["client_cpu_percent"] > 0).all()
    assert all(about["variables_differing"] for about in run.provenance["servers"].values())
