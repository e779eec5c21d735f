"""Turns: everything compared is measured in each, and the best of some counts."""

from __future__ import annotations

import pandas as pd

from engineroom.measuring.turns import best_of_turns, in_turns


def test_everything_has_a_turn_before_anything_is_repeated() -> None:
    assert list(in_turns(2, "ab", (1, 2), desc="made up")) == [
        (0, "a", 1), (0, "a", 2), (0, "b", 1), (0, "b", 2),
        (1, "a", 1), (1, "a", 2), (1, "b", 1), (1, "b", 2),
    ]  # fmt: skip


def test_turns_are_dealt_to_three_repeats_that_keep_the_best_of_one_thing() -> None:
    rows = [
        {"series": series, "repeat": i, "cpu_ns": float(10 * k + (7 - i) % 5)}
        for k, series in enumerate("ab")
        for i in range(6)
    ]
    found = best_of_turns(pd.DataFrame(rows), "cpu_ns")
    assert found.set_index(["series", "repeat"])["cpu_ns"].to_dict() == {
        ("a", 0): 2.0,
        ("a", 1): 1.0,
        ("a", 2): 0.0,
        ("b", 0): 12.0,
        ("b", 1): 11.0,
        ("b", 2): 10.0,
    }
