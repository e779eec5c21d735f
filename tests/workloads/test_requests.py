"""Requests as text: values in their places, quoted; wrong ones refused."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from engineroom.workloads.requests import Request, in_text


def test_values_stand_in_their_places_as_literals():
    when = datetime.datetime(2024, 2, 1, 3, 4, 5)
    request = Request(
        "r", "INSERT INTO t VALUES (?, ?, ?, ?, ?)", (-1, Decimal("2.50"), None, "it's \\ here", when)
    )
    assert (
        in_text(request) == "INSERT INTO t VALUES (-1, 2.50, NULL, 'it''s \\\\ here', '2024-02-01 03:04:05')"
    )


def test_a_value_with_a_question_mark_is_not_taken_for_a_place():
    assert in_text(Request("r", "SELECT ?, ?", ("a?b", 2))) == "SELECT 'a?b', 2"


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_another_number_of_values_than_places_is_refused(values):
    with pytest.raises(ValueError, match="2 places"):
        in_text(Request("r", "SELECT ?, ?", values))


@pytest.mark.parametrize("value", [1.5, b"x", True, [1]])
def test_a_value_of_another_type_is_refused(value):
    with pytest.raises(TypeError, match="no integer"):
        in_text(Request("r", "SELECT ?", (value,)))
