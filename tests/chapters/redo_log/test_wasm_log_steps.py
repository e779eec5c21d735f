"""The steps of the log of 8.0 keep its order."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_log_steps_never_show_a_pointer_past_the_one_before_it():
    grid = [
        {"step": step, "late": late, "writer_threads": threads, "seed": seed}
        for step, late, threads, seed in itertools.product(range(0, 40, 3), (1, 3, 99), (0, 1), (1, 4))
    ]
    outcomes = set()
    for inputs, result in zip(grid, headless.evaluate("log_steps", grid)["results"], strict=True):
        assert result["flushed"] <= result["written"] <= result["ready"] <= result["reserved"]
        ends = [0, *(each["end"] for each in result["ranges"])]
        for start, each in zip(ends, result["ranges"], strict=False):
            # A block's end is not data: behind it a range starts 16 bytes later.
            assert each["start"] - start in (0, 16)
            outcomes.add(each["outcome"])
            is_whole = each["outcome"] >= 2
            assert is_whole == (each["end"] <= result["ready"]), inputs
        assert result["steps"] <= 40, "the knob has 40 steps"
    assert outcomes == set(range(6))
