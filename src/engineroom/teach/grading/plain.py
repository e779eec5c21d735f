"""What an answer says, as plain data: the only form in which anything of the answer's process comes to the tests.

It is made once, over there. So an object that says something else when it is read again has been read, and one that claims to
equal everything arrives as something that equals nothing.
"""

from __future__ import annotations

import base64
import itertools
from collections import deque
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

__all__ = ["Opaque", "Unreadable", "read", "written"]

DEEPEST = 60
MOST_YIELDED = 1_000_000
_HOLDERS = {kind.__name__: kind for kind in (tuple, set, frozenset, deque)}
_READERS: dict[str, Callable[[Any], Any]] = {
    "ellipsis": lambda _: ...,
    "bytes": base64.b64decode,
    "bytearray": lambda text: bytearray(base64.b64decode(text)),
    "range": lambda parts: range(*parts),
}


class Unreadable(Exception):
    """What came is no value of this form."""


class Opaque:
    """What is no data, such as an object of a student's class: the tests have its kind, and it equals itself only."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self._kind} of the answer>"


def written(value: Any, number_of: Callable[[Any], int | None], depth: int = 0) -> Any:
    """`value` for JSON: arrays, columns, iterators and the student's own kinds of lists and numbers as plain ones.

    `number_of` knows the objects of the tests.
    """
    kind = type(value)

    def inner(part: Any) -> Any:
        return written(part, number_of, depth + 1)

    if (number := number_of(value)) is not None:
        return {"t": "yours", "v": number}
    if depth > DEEPEST:
        return {"t": "opaque", "v": kind.__name__}
    if value is None or kind in (bool, str, int, float):
        return value
    if value is ...:
        return {"t": "ellipsis", "v": None}
    if isinstance(value, Fraction | Decimal):
        return _whole_or_float(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray):
        name = "bytes" if isinstance(value, bytes) else "bytearray"
        return {"t": name, "v": base64.b64encode(value).decode()}
    if kind is range:
        return {"t": "range", "v": [value.start, value.stop, value.step]}
    if isinstance(value, Mapping):
        return {"t": "dict", "v": [[inner(key), inner(part)] for key, part in value.items()]}
    if name := next((name for name, holder in _HOLDERS.items() if isinstance(value, holder)), ""):
        return {"t": name, "v": [inner(part) for part in value]}
    if not isinstance(value, type) and callable(getattr(value, "tolist", None)):
        return inner(_of_array(value))
    try:
        parts = iter(value)
    except TypeError:
        return {"t": "opaque", "v": kind.__name__}
    listed = [inner(part) for part in itertools.islice(parts, MOST_YIELDED)]
    is_set = isinstance(value, AbstractSet) and not isinstance(value, KeysView | ValuesView | ItemsView)
    return {"t": "set", "v": listed} if is_set else listed


def _of_array(value: Any) -> Any:
    """What an array holds, or a column of pandas: one that has names for its rows holds something for each name."""
    index: Any = getattr(value, "index", None)
    is_column = type(value).__module__.partition(".")[0] == "pandas" and index is not None
    if is_column and index.dtype.kind not in "iu":
        return dict(zip(index.tolist(), value.tolist(), strict=True))
    return value.tolist()


def read(form: Any, ours: list[Any]) -> Any:
    """The value of a form, which an answer may have made up. `ours` are the tests' objects that it may name."""
    try:
        if isinstance(form, list):
            return [read(part, ours) for part in form]
        if not isinstance(form, dict):
            return form
        kind, value = form["t"], form["v"]
        if kind in _READERS:
            return _READERS[kind](value)
        if kind in _HOLDERS:
            return _HOLDERS[kind](read(part, ours) for part in value)
        if kind == "dict":
            return {read(key, ours): read(part, ours) for key, part in value}
        if kind == "yours":
            return ours[value]
        return Opaque(str(value)[:60])
    except Exception as error:  # noqa: BLE001 (whatever a made-up form leads to)
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def _whole_or_float(value: Fraction | Decimal) -> int | float:
    """The tests count with these: `Decimal("0.1") == 0.1` does not hold, and a `Decimal` and a float have no sum."""
    near = float(value)
    return int(value) if near.is_integer() and value == int(value) else near
