from __future__ import annotations

import os

import pytest

from engineroom.measuring.fresh import in_fresh_processes


def test_each_repeat_runs_in_a_process_of_its_own():
    seen = list(in_fresh_processes(2, os.getpid, desc="processes"))
    assert [repeat for repeat, _ in seen] == [0, 1]
    assert len({os.getpid(), *(process for _, process in seen)}) == 3


def test_what_is_measured_gets_its_arguments_and_its_error_comes_back():
    assert list(in_fresh_processes(1, divmod, 7, 2, desc="processes")) == [(0, (3, 1))]
    with pytest.raises(ZeroDivisionError):
        list(in_fresh_processes(1, divmod, 7, 0, desc="processes"))
