"""A file that holds something else than it must is refused by its name and the place in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from engineroom.forms import FormError, require


@dataclass(frozen=True)
class Closed:
    name: str
    times: int = 1


class Open(TypedDict):
    kind: Literal["a", "b"]
    ratio: float
    reason: str | None
    parts: list[Closed]
    named: NotRequired[dict[str, bool]]


GOOD: dict[str, Any] = {"kind": "a", "ratio": 2, "reason": None, "parts": [{"name": "x"}]}


def fault(**changes: Any) -> str:
    value = {**GOOD, **changes}
    with pytest.raises(FormError) as caught:
        require(Open, {k: v for k, v in value.items() if v is not ...}, file="it.json", remedy="mend it")
    assert caught.value.remedy == "mend it"
    assert caught.value.problem.startswith("it.json: ")
    return caught.value.problem.removeprefix("it.json: ")


@pytest.mark.parametrize("more", [{}, {"named": {"x y": True}}, {"a key of a later release": [1]}])
def test_what_fits_comes_back_as_it_is(more: dict[str, Any]):
    value = {**GOOD, **more}
    assert require(Open, value, file="it.json", remedy="") is value


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "c"}, 'kind is "c", not one of a, b'),
        ({"kind": ["a"]}, "kind is a list, not one of a, b"),
        ({"ratio": "two"}, 'ratio is "two", not a number'),
        ({"ratio": True}, "ratio is true, not a number"),
        ({"ratio": ...}, "it has no ratio"),
        ({"reason": 7}, "reason is 7, not a text or nothing"),
        ({"parts": {}}, "parts is named values, not a list"),
        ({"parts": [{"name": "x"}, 3]}, "parts[1] is 3, not named values"),
        ({"parts": [{"times": 3}]}, "parts[0] has no name"),
        ({"parts": [{"name": "x", "times": 1.5}]}, "parts[0].times is 1.5, not a whole number"),
        ({"parts": [{"name": "x", "time": 1}]}, 'parts[0] has "time", which means nothing here'),
        ({"named": {"x y": 0}}, 'named["x y"] is 0, not true or false'),
        ({"named": {7: True}}, "named has the name 7, which is no text"),
        ({"kind": "\x1b[31m" + "x" * 100}, 'kind is "\\u001b[31m' + "x" * 49 + "…, not one of a, b"),
    ],
)
def test_the_first_fault_is_named_by_its_place(changes: dict[str, Any], said: str):
    assert fault(**changes) == said


def test_a_fault_inside_one_part_of_a_union_is_that_parts():
    with pytest.raises(FormError, match=r"it: \[1\] is \"x\", not a whole number"):
        require(list[int] | None, [1, "x"], file="it", remedy="")  # type: ignore[arg-type]
