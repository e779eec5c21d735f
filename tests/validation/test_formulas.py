"""The simulated machine against queueing formulas."""

from __future__ import annotations

import pytest

from engineroom.validation import formulas as validation


def test_the_formulas_of_the_small_cases_by_hand():
    # One server: the chance to wait is the load. One client: it never waits. No think time: the server never idles.
    assert validation.erlang_c(1, 0.7) == pytest.approx(0.7)
    assert validation.repairman(1, 1, 3.0, 1.0) == pytest.approx(1 / 4)
    assert validation.mva(1, 3.0, [1.0, 2.0]) == (pytest.approx(1 / 6), pytest.approx(3.0))
    assert validation.repairman(2, 1, 1e-9, 1.0) == pytest.approx(1.0)
    # One thread never finds its lock taken. Two that try again at once are two clients of one server.
    assert validation.retrials(1, 3.0, 1.0, 9.0) == pytest.approx(1 / 4)
    assert validation.retrials(2, 3.0, 1.0, 1e-9) == pytest.approx(validation.repairman(2, 1, 3.0, 1.0))
    # Two that never compute outside: one holds, the other tries again; the lock is free until either does.
    assert validation.retrials(2, 1e-9, 1.0, 5.0) == pytest.approx(1.0)


def test_a_validation_that_is_wrong_does_not_hold():
    right = next(case for case in validation.CASES if "2 clients" in case.name)
    wrong = validation.Case(right.name, right.theory * 1.05, right.measure, right.arguments)
    assert not validation.validate([wrong])["holds"].any()
