"""A sweep: order, errors with their point, where it runs by default."""

from __future__ import annotations

import functools
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from engineroom.errors import EngineRoomError
from engineroom.simulating import sweep as module
from engineroom.simulating.executors import HERE, processes
from engineroom.simulating.sweep import cross, sweep

# Importable by a process that is started afresh, as an experiment is and a test is not.
WORK = """
import os
import time

from engineroom.errors import EngineRoomError


def squared(x, plus=0):
    time.sleep(0.2 / (1 + x))  # the later, the earlier
    return x * x + plus


def process(_):
    return os.getpid()


def refuse(x, much=""):
    if x == 2:
        raise EngineRoomError("no", remedy="ask again")
    raise ValueError("never")


def leave(x):
    os._exit(3)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "work_of_a_sweep.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "work_of_a_sweep", raising=False)
    import work_of_a_sweep

    return work_of_a_sweep


def test_the_last_column_of_a_cross_is_the_fastest():
    assert cross(a=(1, 2), b="xy") == [
        {"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"},
    ]  # fmt: skip


def test_results_are_in_the_order_of_the_points_wherever_they_are_made(work):
    points = cross(x=range(5))
    plus_one = functools.partial(work.squared, plus=1)
    with processes(2) as pool, ThreadPoolExecutor(2) as threads:
        for executor in (HERE, threads, pool):
            assert sweep(plus_one, points, executor=executor) == [1, 2, 5, 10, 17]
    assert sweep(plus_one, []) == []


def test_a_short_sweep_stays_here_and_the_rest_of_a_long_one_does_not(work, monkeypatch):
    assert set(sweep(work.process, cross(_=range(3)))) == {os.getpid()}
    monkeypatch.setenv("ENGINEROOM_JOBS", "2")
    monkeypatch.setattr(module, "WORTH_PROCESSES_S", 0.0)
    assert os.getpid() not in sweep(work.process, cross(_=range(3)))
    assert sweep(work.process, cross(_=range(1))) == [os.getpid()]
    # What other processes do not know stays, too: a function of a notebook, also as an argument.
    monkeypatch.setattr(work.process, "__module__", "__main__")
    for function in (work.process, functools.partial(work.process), functools.partial(call, work.process)):
        assert set(sweep(function, cross(_=range(3)))) == {os.getpid()}


def call(function, _):
    return function(_)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_says_at_which_point_it_happened(work, jobs):
    with processes(jobs) as executor:
        with pytest.raises(ValueError, match="never") as error:
            sweep(work.refuse, [{"x": 1, "much": "." * 100}], executor=executor)
        assert error.value.__notes__ == ["at x 1"]
        with pytest.raises(EngineRoomError, match=r"no \(at x 2\)") as refused:
            sweep(work.refuse, [{"x": 2}], executor=executor)
        assert refused.value.remedy == "ask again"


def test_here_nothing_is_begun_after_an_error():
    seen = []

    def fail(x):
        seen.append(x)
        raise ValueError(x)

    with pytest.raises(ValueError, match="0"):
        sweep(fail, cross(x=range(3)), executor=HERE)
    assert seen == [0]


def test_a_process_that_dies_is_told_with_what_to_do(work):
    with pytest.raises(EngineRoomError, match="has died") as error, processes(2) as executor:
        sweep(work.leave, cross(x=(1, 2)), executor=executor)
    assert "ENGINEROOM_JOBS=1" in error.value.remedy
