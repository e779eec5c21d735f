"""What an answer says, as plain data: the only form in which anything of the answer's process comes to the tests.

A class of the student's never gets there. So an object that claims to equal everything arrives as something that equals nothing.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import itertools
import sys
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Opaque", "Unreadable", "is_record", "read", "written"]

DEEPEST = 60
MOST_YIELDED = 1_000_000


def _array(text: str) -> Any:
    return np.lib.format.read_array(io.BytesIO(base64.b64decode(text)), allow_pickle=False)


_HOLDERS = {kind.__name__: kind for kind in (tuple, set, frozenset, deque)}
_READERS: dict[str, Callable[[Any], Any]] = {
    "ellipsis": lambda _: ...,
    "bytes": base64.b64decode,
    "bytearray": lambda text: bytearray(base64.b64decode(text)),
    "range": lambda parts: range(*parts),
    "array": _array,
    "scalar": lambda text: _array(text)[()],
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
    """`value` for JSON; the student's own kinds of lists and numbers as plain ones. `number_of` knows the objects of the tests."""
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
    if isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(value), allow_pickle=False)
        name = "array" if isinstance(value, np.ndarray) else "scalar"
        return {"t": name, "v": base64.b64encode(file.getvalue()).decode()}
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Fraction | Decimal):
        return _whole_or_float(value)
    if kind in (bytes, bytearray):
        return {"t": kind.__name__, "v": base64.b64encode(value).decode()}
    if kind is range:
        return {"t": "range", "v": [value.start, value.stop, value.step]}
    if isinstance(value, dict):
        return {"t": "dict", "v": [[inner(key), inner(part)] for key, part in value.items()]}
    if name := next((name for name, holder in _HOLDERS.items() if isinstance(value, holder)), ""):
        return {"t": name, "v": [inner(part) for part in value]}
    if isinstance(value, list | KeysView | ValuesView | ItemsView):
        return [inner(part) for part in value]
    if isinstance(value, Iterator) and kind.__module__ in ("builtins", "itertools"):
        return [inner(part) for part in itertools.islice(value, MOST_YIELDED)]
    if is_record(kind):
        fields = {field.name: inner(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"t": "record", "m": kind.__module__, "n": kind.__qualname__, "v": fields}
    return {"t": "opaque", "v": kind.__name__}


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
        if kind == "record":
            found = getattr(sys.modules[form["m"]], form["n"])
            if not is_record(found):
                raise Unreadable(f"{form['n']} is no record")
            return found(**{name: read(part, ours) for name, part in value.items()})
        if kind == "yours":
            return ours[value]
        return Opaque(str(value)[:60])
    except Unreadable:
        raise
    except Exception as error:  # noqa: BLE001 (whatever a made-up form leads to)
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def is_record(kind: Any) -> bool:
    """A frozen dataclass of the book's. Others may have methods that change something."""
    return (
        isinstance(kind, type)
        and kind.__module__.startswith("engineroom.")
        and dataclasses.is_dataclass(kind)
        and bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    )


def _whole_or_float(value: Fraction | Decimal) -> int | float:
    """The tests count with these: `Decimal("0.1") == 0.1` does not hold, and a `Decimal` and a float have no sum."""
    near = float(value)
    return int(value) if near.is_integer() and value == int(value) else near
