from __future__ import annotations

import pytest

from engineroom.chapters.lock_sys import numbers
from engineroom.chapters.lock_sys.experiments.scripts import scripts


def test_what_readers_predict_is_what_the_kernel_does() -> None:
    assert [numbers.behind_the_range(design) for design in ("5.7", "9.7")] == ["waits", "ok"]
    assert [numbers.objects_of_insert(is_asked=asked) for asked in (False, True)] == [0, 1]
    assert [numbers.freed(design) for design in ("5.7", "9.7")] == [["B"], ["B", "D"]]


def test_one_row_takes_three_latches_in_5_7_and_seven_in_9_7() -> None:
    assert [numbers.latches_of_one_row(design) for design in ("5.7", "9.7")] == [3, 7]


def test_random_runs_without_a_mistake_break_nothing() -> None:
    assert numbers.checked()[["runs", "waits", "deadlocks"]].gt(0).all()
    assert numbers.broken() == 0


def test_a_rate_is_told_to_two_digits() -> None:
    assert [numbers.two_digits(rate) for rate in (2_599_500, 371_786)] == [2_600_000, 370_000]


def test_a_gain_begins_where_the_published_one_does() -> None:
    assert (numbers.fewer_clients, numbers.gain_clients) == (100, 150)
    assert numbers.gain(numbers.engine.table.assign(tpmC=2.0)) == pytest.approx(1)


def test_a_script_that_differs_is_told_up_to_its_statement() -> None:
    script = next(iter(scripts(4, seed=1)))
    second = script.statements[1]
    told = numbers.so_far(script.text(), f"{second.session}: {second.sql('t')}")
    assert told.splitlines()[-1].endswith(second.sql("t"))
    assert len(told.splitlines()) < len(script.text().splitlines())
