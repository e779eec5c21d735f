"""The threshold above which a run decides nothing."""

from __future__ import annotations

import pytest

from engineroom.runs import quiet


def about(load: float | None, steal: float | None) -> dict[str, object]:
    return {"during": {"load_before": load, "steal_percent": steal}}


@pytest.mark.parametrize(
    ("load", "steal", "is_quiet"),
    [(0.0, 0.0, True), (1.5, 1.0, True), (1.51, 0.0, False), (0.0, 1.1, False), (None, None, True)],
)
def test_a_run_is_quiet_up_to_the_threshold(load, steal, is_quiet):
    assert (quiet.why_busy("live", about(load, steal)) is None) is is_quiet


def test_the_reason_says_both_numbers_and_their_limits():
    assert quiet.why_busy("kernel", about(4.9, 2.0)) == (
        "the machine was busy: load 4.9 before it, of at most 1.5; 2 % of the processors' time withheld, of at most 1 %"
    )


def test_virtual_time_knows_no_load_of_others():
    assert quiet.why_busy("sim", about(80.0, 50.0)) is None
    assert quiet.rule("sim") is None


def test_a_run_that_says_nothing_of_its_load_is_not_held_to_be_busy():
    assert quiet.why_busy("live", {}) is None
    assert quiet.why_busy("sim", {"load": {"statements": 4}}) is None


def test_what_only_counts_is_measured_beside_any_work():
    counted = {**about(80.0, 50.0), "counts": "bytes of a log"}
    assert quiet.why_busy("live", counted) is None
    assert quiet.rule("live", counted) is None
    assert quiet.rule("live", about(80.0, 50.0)) is not None
