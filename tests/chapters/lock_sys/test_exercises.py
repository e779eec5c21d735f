"""What the lock system's exercises are checked against."""

from __future__ import annotations

from collections import Counter

import pytest

from engineroom.chapters.lock_sys import exercises as classroom


def test_opposite_orders_can_deadlock_and_one_order_cannot():
    assert classroom.can_deadlock({"A": [1, 2], "B": [2, 1]})
    assert not classroom.can_deadlock({"A": [1, 2], "B": [1, 2], "C": [2]})
    assert classroom.can_deadlock({"A": [1, 2], "B": [2, 3], "C": [3, 1]}), "a cycle of three"


def test_opposite_orders_behind_a_row_that_both_take_first_are_right_too():
    assert not classroom.can_deadlock({"A": [9, 1, 2], "B": [9, 2, 1]})


@pytest.mark.parametrize("seed", range(5))
def test_jobs_have_an_order_that_is_not_that_of_the_keys(seed):
    jobs = classroom.jobs(seed)
    assert any(job["first"] > job["then"] for job in jobs)
    assert all({job["first"], job["then"]} <= set(job["rows"]) for job in jobs)


def test_waits_have_queues_of_any_shape_and_mostly_another_session_blocks_more_directly():
    shapes, misleading = set(), 0
    for seed in range(60):
        waits = classroom.blocked(seed)
        waiting, direct = {one for one, _ in waits}, Counter(other for _, other in waits)
        heads = {other for _, other in waits} - waiting
        assert len(heads) >= 2
        shapes.add((len(heads), max(direct.values()), len(waits) > len(waiting)))
        misleading += max(direct, key=lambda session: direct[session]) not in heads
    assert len(shapes) > 10
    assert misleading > 15
