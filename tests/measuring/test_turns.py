"""Turns: everything compared is measured in each."""

from __future__ import annotations

from engineroom.measuring.turns import in_turns


def test_everything_has_a_turn_before_anything_is_repeated() -> None:
    assert list(in_turns(2, "ab", (1, 2), desc="made up")) == [
        (0, "a", 1), (0, "a", 2), (0, "b", 1), (0, "b", 2),
        (1, "a", 1), (1, "a", 2), (1, "b", 1), (1, "b", 2),
    ]  # fmt: skip
