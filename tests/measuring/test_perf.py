"""Samples of CPU time: of a program to its end, of a process while something is done, and what is said where they cannot be."""

from __future__ import annotations

import os
import shutil
import sys
import time

import pytest

from engineroom.errors import EngineRoomError
from engineroom.measuring import perf

SCRIPT = ["-F", "comm,ip,sym"]
BUSY = "import time\nwhile time.process_time() < 1: pass\nprint('done')"


@pytest.fixture
def allowed():
    try:
        perf.of_program([sys.executable, "-c", "pass"], script=SCRIPT)
    except EngineRoomError as error:
        pytest.skip(f"perf may not sample here: {error}")


@pytest.mark.usefixtures("allowed")
def test_a_program_is_sampled_to_its_end():
    printed, samples = perf.of_program([sys.executable, "-c", BUSY], hertz=500, script=SCRIPT)
    assert printed == "done\n"
    assert 20 < len(samples) < 2000
    assert all(sample.startswith("python") for sample in samples)


@pytest.mark.usefixtures("allowed")
def test_a_process_is_sampled_while_work_is_done_again_and_again():
    """Of the CPU time that the work got, not of the time that passed: on a busy computer that is less."""
    done, begun_s = [], time.process_time()

    def work():
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        done.append(None)

    samples = perf.of_process(os.getpid(), work, seconds=0.3, hertz=500, script=SCRIPT)
    cpu_s = time.process_time() - begun_s
    assert len(done) > 1
    assert 0 < len(samples) <= 2 * 500 * cpu_s


@pytest.mark.usefixtures("allowed")
def test_what_perf_refuses_is_an_error_that_says_what_it_needs():
    with pytest.raises(EngineRoomError, match="perf record ended with") as error:
        perf.of_process(2**30, lambda: None, seconds=0.1, script=SCRIPT)
    assert "perf_event_paranoid" in error.value.remedy
    with pytest.raises(EngineRoomError, match="perf script ended with"):
        perf.of_program([sys.executable, "-c", BUSY], script=["--no-such-option"])


def test_without_perf_the_reader_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert perf.why_not() == "perf is not installed"
    with pytest.raises(EngineRoomError, match="not installed") as error:
        perf.of_program(["true"], script=[])
    assert "apt-get install linux-perf" in error.value.remedy
