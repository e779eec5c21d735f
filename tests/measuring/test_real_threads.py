"""Real threads left alone: a disturbed run is kept and repeated, and scheduling is as before afterwards."""

from __future__ import annotations

import os

import pytest

from engineroom.errors import EngineRoomError
from engineroom.measuring import real_threads


def attempts_with(monkeypatch, stolen_s):
    """The runs of one point when the hypervisor takes so much of each."""
    taken = iter(
        sum(stolen_s[:i])
        for i in range(len(stolen_s) + 1)
        for _ in ((0,) if i in (0, len(stolen_s)) else (0, 1))
    )
    monkeypatch.setattr(real_threads.provenance, "steal_s", lambda: next(taken))
    monkeypatch.setattr(real_threads, "_line_ns", lambda: 40.0)
    monkeypatch.setattr(real_threads, "_copy_and_write_ns", lambda: (4000.0, 5000.0))
    monkeypatch.setattr(real_threads.time, "sleep", lambda _: None)
    return real_threads.left_alone(lambda: {"commits_per_s": 1.0}, most_stolen_ms=10, rest_ms=0)


def test_a_run_of_which_the_hypervisor_takes_much_is_kept_and_repeated(monkeypatch):
    seen = list(attempts_with(monkeypatch, [0.3, 0.02, 0.01]))
    assert [(withheld["stolen_ms"], withheld["is_disturbed"]) for _, withheld in seen] == [
        (300, True), (20, True), (10, False),
    ]  # fmt: skip


def test_a_run_in_which_the_processors_move_is_kept_and_repeated(monkeypatch):
    lines = iter([40.0, 40.0, 40.0, 170.0, 170.0, 160.0])
    monkeypatch.setattr(real_threads, "_line_ns", lambda: next(lines))
    monkeypatch.setattr(real_threads, "_copy_and_write_ns", lambda: (4000.0, 5000.0))
    monkeypatch.setattr(real_threads.time, "sleep", lambda _: None)
    monkeypatch.setattr(real_threads.provenance, "steal_s", lambda: 0.0)
    first, second = (
        list(real_threads.left_alone(lambda: {"commits_per_s": 1.0}, most_stolen_ms=10, rest_ms=0))
        for _ in range(2)
    )
    assert [(seen["line_ns"], seen["is_disturbed"]) for _, seen in first] == [(40.0, False)]
    assert [(seen["line_ns"], seen["is_disturbed"]) for _, seen in second] == [(40.0, True), (170.0, False)]


def test_copying_is_measured_before_and_after_a_run(monkeypatch):
    times = iter([(4000.0, 5000.0), (6000.0, 9000.0)])
    monkeypatch.setattr(real_threads, "_line_ns", lambda: 40.0)
    monkeypatch.setattr(real_threads, "_copy_and_write_ns", lambda: next(times))
    monkeypatch.setattr(real_threads.provenance, "steal_s", lambda: 0.0)
    ((_, apart),) = real_threads.left_alone(dict, most_stolen_ms=10, rest_ms=0)
    assert (apart["copy_ns"], apart["write_ns"]) == (5000.0, 7000.0)


def test_a_hypervisor_that_never_leaves_a_run_alone_is_an_error_that_says_what_to_do(monkeypatch):
    with pytest.raises(EngineRoomError, match="withheld more than 10 ms") as error:
        list(attempts_with(monkeypatch, [0.1] * real_threads.ATTEMPTS))
    assert "host has less to do" in str(error.value.remedy)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin a process")
def test_a_pinned_process_is_free_again_afterwards():
    def scheduled():
        return os.sched_getaffinity(0), os.sched_getscheduler(0)

    def fail():
        with real_threads.pinned(1) as (said, scheduler):
            assert len(os.sched_getaffinity(0)) == 1
            assert said.endswith("1 processors")
            assert said.startswith("SCHED_RR") == bool(scheduler)
            raise ValueError("made up")

    before = scheduled()
    with pytest.raises(ValueError, match="made up"):
        fail()
    assert scheduled() == before
