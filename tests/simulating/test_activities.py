"""Shares of time by names for call paths."""

from __future__ import annotations

from engineroom.simulating.activities import percent, time_by

ACTIVITIES = [
    (("client", "statement"), "work", 60),
    (("client", "commit"), "spin", 30),
    (("client", "commit"), "parked", 1000),
    (("log_writer",), "memory", 10),
]


def test_time_is_by_name_on_the_cpu_and_what_has_no_name_is_left_out():
    assert time_by(ACTIVITIES, lambda path: path[-1]) == {"statement": 60, "commit": 30, "log_writer": 10}
    assert time_by(ACTIVITIES, lambda path: "all" if path[0] == "client" else None) == {"all": 90}
    assert time_by(ACTIVITIES, lambda path: path[-1], states=("parked",)) == {"commit": 1000}


def test_shares_are_of_all_that_has_a_name():
    assert percent({"b": 30, "a": 10}) == {"a": 25.0, "b": 75.0}
    assert list(percent({"b": 30, "a": 10})) == ["a", "b"]
    assert percent({"a": 0}) == {"a": 0.0}
