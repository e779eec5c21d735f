"""A program that is kept on one processor is there, and what comes after it anywhere again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engineroom.measuring.processors import apart, on_processor

ALLOWED = "import os; print(sorted(os.sched_getaffinity(0)))"


def test_the_client_is_not_where_its_server_s_thread_is_unless_there_is_one_processor():
    server, client = apart()
    assert {server, client} <= os.sched_getaffinity(0)
    assert (server == client) == (len(os.sched_getaffinity(0)) == 1)


def test_programs_of_the_block_stay_on_its_processor_and_later_ones_do_not():
    before = os.sched_getaffinity(0)
    for number in apart():
        with on_processor(number):
            said = subprocess.run([sys.executable, "-c", ALLOWED], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == f"[{number}]"
        assert os.sched_getaffinity(0) == before


def test_an_error_in_the_block_gives_the_processors_back():
    before = os.sched_getaffinity(0)
    with pytest.raises(RuntimeError, match="once"), on_processor(min(before)):
        raise RuntimeError("once")
    assert os.sched_getaffinity(0) == before


def test_a_processor_that_is_not_there_is_an_error():
    before = os.sched_getaffinity(0)
    with pytest.raises(OSError, match="Invalid argument"), on_processor(max(before) + 10_000):
        pass
    assert os.sched_getaffinity(0) == before
