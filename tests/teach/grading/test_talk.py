"""What one process can ask of the other's objects."""

from __future__ import annotations

import itertools
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from multiprocessing import Pipe
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engineroom.chapters.group_commit import exercises as group_commit
from engineroom.teach.grading import talk
from engineroom.teach.grading.talk import Answer, Ended, Function, StudentError


@pytest.fixture
def lent():
    """A function that lends a function of the answer's process to the tests."""
    channels = []

    def lend(function: Callable[..., Any]) -> Function:
        ours, theirs = Pipe()
        channels.extend((ours, theirs))
        server = talk._Server(theirs, {"answer": function})

        def serve() -> None:
            with pytest.raises(Ended):
                server.serve()

        threading.Thread(target=serve, daemon=True).start()
        value = Answer(ours, most_asked=100).value("answer")
        assert isinstance(value, Function)
        return value

    yield lend
    for channel in channels:
        channel.close()


VALUES = [
    None, True, 2**80, -0.5, float("inf"), "text", b"bytes", ..., range(3), (1, (2, [3])), {1: {"a"}, (2,): frozenset()},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_data_comes_back_as_it_went(lent, value):
    back = lent(lambda given: given)(value)
    assert (back, type(back)) == (value, type(value))


class Pairs:
    """An iterable of a student's."""

    def __iter__(self):
        return iter([(1, 2), (3, 4)])


class Row:
    """A sequence of the old kind."""

    def __len__(self):
        return 2

    def __getitem__(self, place):
        return [5, 6][place]


class Size(int):
    """A number of a student's."""


PLAIN = {
    "a number of its own kind": (Size(3), 3),
    "a dictionary of another kind": (Counter("aab"), {"a": 2, "b": 1}),
    "exact numbers": (
        [Fraction(6, 2), Fraction(1, 10), Decimal("0.1"), Decimal(2**80), Decimal("Infinity")],
        [3, 0.1, 0.1, 2**80, float("inf")],
    ),
    "an array": (np.arange(3), [0, 1, 2]),
    "a table": (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
    "an array of one number": (np.array(2.5), 2.5),
    "an array of objects": (np.array([1, "a", None, (2, 3)], dtype=object), [1, "a", None, (2, 3)]),
    "an object in an array": (np.array({"a": np.int64(1)}, dtype=object), {"a": 1}),
    "numbers": ([np.int8(1), np.float64(0.5), np.bool_(True), np.str_("a")], [1, 0.5, True, "a"]),
    "an array of numbers": (array("d", [1, 2.5]), [1.0, 2.5]),
    "a column": (pd.Series([3, 1], index=[7, 9]), [3, 1]),
    "a column with names": (pd.Series({"a": 3, "b": 1}), {"a": 3, "b": 1}),
    "names of rows": (pd.Index(["a", "b"]), ["a", "b"]),
    "an iterable": (Pairs(), [(1, 2), (3, 4)]),
    "a sequence": (Row(), [5, 6]),
    "a mapping": (MappingProxyType({"a": 1}), {"a": 1}),
    "keys": ({"a": 1}.keys(), ["a"]),
    "a dictionary of arrays": ({"a": np.array([1, 2])}, {"a": [1, 2]}),
}


@pytest.mark.parametrize("form", PLAIN)
def test_any_form_of_data_is_plain_here(lent, form):
    value, plain = PLAIN[form]
    back = lent(lambda: value)()
    assert back == plain
    assert repr(back) == repr(plain), "the numbers, too"


def test_what_comes_one_by_one_comes_as_a_list(lent):
    back = lent(lambda n: ((i for i in range(n)), zip("ab", itertools.count(n)), itertools.chain([1], [2])))(
        2
    )
    assert back == ([0, 1], [("a", 2), ("b", 3)], [1, 2])
    with pytest.raises(ZeroDivisionError):
        lent(lambda: (1 / i for i in range(2)))()


def test_a_list_changed_in_place_is_changed_here(lent):
    rows = [3, 1, 2]
    assert lent(lambda given: given.sort())(rows) is None
    assert rows == [1, 2, 3]


def test_an_object_of_the_tests_is_used_from_there_and_stays_here(lent):
    arrivals = group_commit.Arrivals(["a", "b"])
    assert lent(lambda log: log.fetch())(arrivals) == ["a", "b"]
    assert arrivals.did == ["fetch"]


def test_a_function_of_the_tests_may_call_one_of_the_answer(lent):
    calls = []

    def twice(n: int) -> Any:
        calls.append(n)
        return answer(None, 2 * n)

    answer = lent(lambda function, n: function(n) + 1 if function else n)
    assert answer(twice, 3) == 7
    assert calls == [3]


def test_an_error_is_raised_here_by_its_name(lent):
    with pytest.raises(ZeroDivisionError, match="by zero"):
        lent(lambda: 1 / 0)()
    with pytest.raises(StudentError, match="SystemExit: 3"):
        lent(lambda: sys.exit(3))()

    class TooFew(ValueError):
        pass

    def refuse() -> None:
        raise TooFew("one turn")

    with pytest.raises(ValueError, match="TooFew: one turn"):
        lent(refuse)()


def test_an_object_of_theirs_equals_itself_only(lent):
    class Yes:
        __hash__ = object.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    answer = lent(Yes)()
    assert answer != 3
    assert [answer] != [3]


@pytest.mark.parametrize("name", ["__class__", "_prepared", "__globals__"])
def test_nothing_private_of_ours_can_be_asked(lent, name):
    with pytest.raises(AttributeError):
        lent(lambda log: log._server.ask(log._number, "attribute", (name,), {}))(group_commit.Arrivals([]))


def test_who_asks_without_end_is_cut_off(lent):
    def ask(log: Any) -> None:
        while True:
            log.end_of_redo()

    with pytest.raises(Ended, match="too often"):
        lent(ask)(group_commit.Arrivals([]))
