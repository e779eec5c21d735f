from __future__ import annotations

import json
import os

import pytest

from engineroom.measuring.fresh import in_fresh_processes


def test_each_repeat_runs_in_a_process_of_its_own():
    rows = in_fresh_processes(2, eval, '[{"process": __import__("os").getpid()}]', desc="processes")
    assert [row["repeat"] for row in rows] == [0, 1]
    assert len({os.getpid(), *(row["process"] for row in rows)}) == 3


def test_what_is_measured_gets_its_arguments_and_its_error_comes_back():
    rows = in_fresh_processes(1, json.loads, '[{"n": 1}, {"n": 2}]', desc="processes")
    assert rows == [{"n": 1, "repeat": 0}, {"n": 2, "repeat": 0}]
    with pytest.raises(json.JSONDecodeError):
        in_fresh_processes(1, json.loads, "", desc="processes")
