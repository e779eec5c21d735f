"""The calls that a page unfolds are those that were counted."""

from __future__ import annotations

import pytest

from engineroom.chapters.low_concurrency.figures import insert_calls
from engineroom.runs import newest
from engineroom.show import headless

CALLS = insert_calls(newest("own-low-concurrency-instructions", "instructions"))


@pytest.mark.usefixtures("node")
def test_the_page_unfolds_the_recorded_calls():
    [seen] = headless.evaluate("insert_calls", [{}])["results"]
    assert [tuple(each) for each in seen["calls"]] == CALLS


@pytest.mark.parametrize("side", [2, 3])
def test_what_a_function_calls_is_no_wider_than_the_function(side):
    for i, caller in enumerate(CALLS):
        called = 0
        for each in CALLS[i + 1 :]:
            if each[0] <= caller[0]:
                break
            called += each[side] if each[0] == caller[0] + 1 else 0
        assert called <= caller[side], caller
