"""What the lock system's exercises are checked against."""

from __future__ import annotations

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
    assert [job.name for job in jobs] == list("ABCD")
    assert any(job.first > job.then for job in jobs)
    assert all({job.first, job.then} <= set(job.rows) for job in jobs)


@pytest.mark.parametrize("seed", range(5))
def test_the_session_to_end_blocks_fewer_directly_than_another(seed):
    waits, to_end = classroom.blocked(seed)
    direct = [other for _, other in waits]
    assert to_end not in {waiting for waiting, _ in waits}
    assert direct.count(to_end) < max(direct.count(other) for other in direct)


def test_ranges_are_ranges_and_end_before_the_last_row():
    for seed in range(40):
        rows, low, high = classroom.ranged(seed)
        assert low < high < rows[-1]


def test_inserts_that_wait_are_those_into_the_locked_gaps():
    found = classroom.inserts_that_wait([10, 20, 30], 15, 25, "REPEATABLE READ")
    assert found == [*range(11, 20), *range(21, 30)]
    assert classroom.inserts_that_wait([10, 20, 30], 15, 25, "READ COMMITTED") == []
