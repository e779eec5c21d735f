"""Inputs that are drawn when an answer is graded, and an oracle beside it that the answer cannot reach.

`make class` writes the solution of a question, the cells that it stands on and the planted wrong answers into its drawn test, in the archive only. So a drawn
input needs no expected value written by hand, and an answer that fails as a planted one does on every input is recognised.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import random
import secrets
from collections import deque
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from engineroom.teach.grading.talk import Ended

__all__ = [
    "Mistaken", "Oracle", "agree", "agree_value", "dice", "keeps", "reseed", "same", "whole",
]  # fmt: skip

Args = tuple[Any, ...]
_seed: int = secrets.randbits(64)


def reseed(seed: int) -> None:
    """All inputs of this process follow from here; without it, from a number that nobody has seen."""
    global _seed  # noqa: PLW0603 (the tests are called by otter, which hands nothing through)
    _seed = seed


def dice(name: str, number: int) -> random.Random:
    """What the inputs of one case are drawn with."""
    return random.Random(f"{_seed}-{name}-{number}")


class Mistaken(AssertionError):
    """An answer that is wrong, and the headings of the planted ones that it looks like."""

    def __init__(self, said: str, looks_like: list[str]) -> None:
        super().__init__(said)
        self.looks_like = looks_like


class Oracle:
    """The solution's `name`, and that of each planted wrong answer."""

    def __init__(self, name: str, before: Sequence[str], solution: str, wrong: Mapping[str, str]) -> None:
        self.name = name
        self._before, self._solution, self._wrong = list(before), solution, dict(wrong)

    @functools.cached_property
    def value(self) -> Any:
        return self._made(self._solution)

    @functools.cached_property
    def wrong(self) -> dict[str, Any]:
        """Each planted answer that defines the name, by its heading."""
        made = {}
        for misconception, code in self._wrong.items():
            try:
                made[misconception] = self._made(code)
            except Exception:  # noqa: BLE001, S112 (one that does not run is like no answer that does)
                continue
        return made

    def _made(self, code: str) -> Any:
        space: dict[str, Any] = {"__name__": "oracle"}
        with contextlib.redirect_stdout(
            io.StringIO()
        ):  # a cell that it stands on may print what students look at
            for source in (*self._before, code):
                exec(compile(source, f"<oracle {self.name}>", "exec"), space)  # noqa: S102
        return space[self.name]


class _Raised:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        """Whether who expects the other's error catches this one, too."""
        return isinstance(other, _Raised) and isinstance(self.error, type(other.error))

    def __hash__(self) -> int:
        return hash(_Raised)

    def __repr__(self) -> str:
        return f"a {type(self.error).__name__}"


def agree(
    answer: Any,
    oracle: Oracle,
    inputs: Callable[[random.Random], Args] | Iterable[Args],
    *,
    cases: int = 60,
    same: Callable[[Any, Any], bool] | None = None,
    accepts: Callable[..., bool] | None = None,
    asks: str = "another answer",
    through: Callable[..., Any] | None = None,
) -> None:
    """Raises `Mistaken` unless `answer` does what the solution does on inputs drawn now, or on all of `inputs`.

    `same(got, expected)` compares; where many answers are right, `accepts(got, *args)` says whether one is, and `asks` what it looks for. `through(answer, *args)` is for
    answers that change something instead of returning it; all others leave what they are given as it is.
    """
    call = through or (lambda function, *args: function(*args))
    compare = same or globals()["same"]
    fixed: Any = None if callable(inputs) else list(inputs)
    draw: Any = inputs

    def given() -> Iterator[Args]:
        """One after the other, since most wrong answers fail the first."""
        return iter(fixed) if fixed is not None else map(draw, (dice(oracle.name, n) for n in range(cases)))

    def outcome(function: Any, args: Args, *, own: Args | None = None) -> Any:
        try:
            return _listed(call(function, *(copy.deepcopy(args) if own is None else own)))
        except Ended:
            raise
        except Exception as error:  # noqa: BLE001 (an error may be the right answer)
            return _Raised(error)

    def is_right(got: Any, expected: Any, args: Args) -> bool:
        if isinstance(got, _Raised) or isinstance(expected, _Raised):
            return bool(got == expected)
        return bool(accepts(got, *args)) if accepts else compare(got, expected)

    for args in given():
        expected = None if accepts else outcome(oracle.value, args)
        given_args = copy.deepcopy(args)
        got = outcome(answer, args, own=given_args)
        if is_right(got, expected, args):
            if through is None:
                _unchanged(args, given_args)
            continue
        if isinstance(got, _Raised):
            raise got.error
        every = [outcome(answer, each) for each in given()] if oracle.wrong else []
        alike = [
            misconception
            for misconception, wrong in oracle.wrong.items()
            if all(
                _alike(mine, outcome(wrong, each), compare) for mine, each in zip(every, given(), strict=True)
            )
        ]
        wanted = asks if accepts else repr(expected)
        shown = ", ".join(map(repr, args))
        raise Mistaken(
            f"{oracle.name}({shown}): expected: {wanted}; got: {got!r}{_guess(alike)}"[:2000], alike
        )


def agree_value(value: Any, oracle: Oracle, *, accepts: Callable[[Any], bool] | None = None) -> None:
    """As `agree`, for an answer that is no function."""
    if accepts(value) if accepts else same(value, oracle.value):
        return
    alike = [misconception for misconception, wrong in oracle.wrong.items() if same(value, wrong)]
    raise Mistaken(f"{oracle.name} is not {value!r}{_guess(alike)}"[:2000], alike)


def keeps(function: Callable[..., Any], *args: Any) -> None:
    """Raises `Mistaken` if a call changes what it is given. What else it does is not looked at."""
    given = copy.deepcopy(args)
    with contextlib.suppress(Exception):
        _listed(function(*given))
    _unchanged(args, given)


def _unchanged(before: Args, after: Args) -> None:
    for was, now in zip(before, after, strict=True):
        if not same(now, was):
            raise Mistaken(
                f"it changes what it is given, {was!r}, to {now!r}: let it work on a copy"[:2000], []
            )


def same(got: Any, wanted: Any) -> bool:
    """Whether two values say the same, whatever kinds of numbers, lists and sets they are made of."""
    got = _listed(got)
    if isinstance(wanted, _Raised) or isinstance(got, _Raised):
        return bool(got == wanted)
    if wanted is None or isinstance(wanted, str | bytes):
        if type(got) in (np.str_, np.bytes_):
            got = got.item()
        return type(got) is type(wanted) and bool(got == wanted)
    if _is_number(wanted):
        if not _is_number(got):
            return False
        if isinstance(got, np.ndarray):
            got = got[()]
        if isinstance(got, Fraction | Decimal):
            if got == wanted:
                return True
            got = float(got)
        if not (np.isfinite(got) and np.isfinite(wanted)):
            return bool(got == wanted)
        return bool(got == wanted or abs(got - wanted) <= 1e-9 * max(abs(got), abs(wanted)))
    if isinstance(wanted, set | frozenset):
        try:
            return _is_many(got) and set(got) == wanted
        except TypeError:
            return False
    if isinstance(wanted, dict):
        return (
            isinstance(got, dict)
            and set(got) == set(wanted)
            and all(same(got[key], part) for key, part in wanted.items())
        )
    if _is_many(wanted):
        return (
            _is_many(got)
            and not isinstance(got, set | frozenset)
            and len(got) == len(wanted)
            and all(map(same, got, wanted))
        )
    return bool(got == wanted)


def whole(value: Any) -> int:
    """The whole number that an answer gives, of whatever kind. AssertionError for any other."""
    if not (_is_number(value) and np.isfinite(float(value)) and int(value) == value):
        raise AssertionError(f"a whole number, not {value!r}")
    return int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | Fraction | Decimal | np.number | np.bool_) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def _is_many(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset | range | deque | np.ndarray)


def _listed(value: Any) -> Any:
    """What comes one by one, as from a generator or of a dictionary, as a list."""
    return list(value) if isinstance(value, Iterator | KeysView | ValuesView | ItemsView) else value


def _alike(one: Any, other: Any, compare: Callable[[Any, Any], bool]) -> bool:
    if isinstance(one, _Raised) or isinstance(other, _Raised):
        return bool(one == other)
    try:
        return bool(compare(one, other))
    except Exception:  # noqa: BLE001 (what a wrong answer returns need not be comparable)
        return False


def _guess(alike: list[str]) -> str:
    return f" (it looks like: {'; '.join(alike)})" if alike else ""
