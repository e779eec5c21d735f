"""The solved capstone: its predictions would be taken, and what it says of the changes is what the engine does."""

from __future__ import annotations

import itertools

import pytest

from engineroom.teach import capstone, solved


def left(*mended):
    return [name for name in solved.PLAN if name not in mended]


def test_the_server_has_the_three_causes_that_the_bounds_know():
    assert set(capstone.causes(solved.SEED)) == set(solved.PLAN)
    assert solved.SEED != 0, "the book's own is for those who solve it"


def test_the_bounds_predict_each_change_as_well_as_question_8_asks():
    _, slow = solved._seen()
    found = capstone.gains(capstone.causes(solved.SEED))
    for name in solved.PLAN:
        assert 1 / 1.5 < solved.predicted(left(name)) / slow["orders_per_s"] / found[name] < 1.5
    assert solved.predicted([]) / slow["orders_per_s"] == pytest.approx(found["all"], rel=0.25)


@pytest.mark.parametrize("n", range(4))
def test_the_bounds_predict_several_changes_at_once(n):
    for mended in itertools.combinations(solved.PLAN, n):
        rest = {name: capstone.causes(solved.SEED)[name] for name in left(*mended)}
        assert 1 / 1.5 < solved.predicted(rest) / capstone.orders_per_s(rest) < 1.5


def test_what_the_guide_says_of_the_order_of_changes_holds():
    first = {name: solved.gain(left(name)) for name in solved.PLAN}
    assert max(first, key=lambda name: first[name]) == "disk"
    assert first["pool"] == pytest.approx(1, abs=0.03)
    assert solved.gain(left("counter", "pool")) > 4 * max(
        solved.gain(left("disk", "pool")), solved.gain(left("disk", "counter"))
    )
    without = capstone.counters({name: capstone.causes(solved.SEED)[name] for name in left("counter")})
    assert without["row_lock_ms_per_order"] < 0.01


def test_numbers_have_three_digits():
    assert [solved._digits(number) for number in (22_320.4, 352.9, 1.5064, 0.0348, 1.0)] == [
        "22,300",
        "353",
        "1.51",
        "0.0348",
        "1",
    ]
