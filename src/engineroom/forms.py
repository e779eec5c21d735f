"""What a file must hold, said as types, and the one place that checks it: recordings, exported runs, figures.yaml, servers.toml.

A form is `str`, `int`, `float`, `bool`, `None`, `Any`, a union, `Literal`, `list[...]`, `tuple[..., ...]`, `dict[str, ...]`, a
`TypedDict`, which lets further keys pass, or a dataclass, whose fields are the only keys. The first thing that does not fit is named by
its place: `figures[3].effects[0].published is 'two', not a number`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, Required, TypeVar, Union, get_args, get_origin, get_type_hints

from engineroom.errors import EngineRoomError

__all__ = ["FormError", "require"]

T = TypeVar("T")

_WORDS: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
}
_LONGEST_SHOWN = 60


class FormError(EngineRoomError):
    """A file that holds something else than it must."""


def require(form: type[T], value: Any, *, file: str, remedy: str) -> T:
    """`value` if it has this form; FormError naming `file` and the place in it otherwise."""
    fault = _fault(form, value, "")
    if fault is not None:
        raise FormError(f"{file}: {fault}", remedy=remedy)
    checked: T = value
    return checked


def _fault(form: Any, value: Any, place: str) -> str | None:
    """The first thing that does not fit, or None."""
    origin = get_origin(form)
    if form is Any:
        return None
    if origin in (Required, NotRequired):
        return _fault(get_args(form)[0], value, place)
    if form is None or form in _WORDS:
        return None if _is_plain(form, value) else _other(value, place, _words(form))
    if origin is Literal:
        return None if value in get_args(form) else _other(value, place, _words(form))
    if origin in (Union, types.UnionType):
        faults = [_fault(part, value, place) for part in get_args(form)]
        if None in faults:
            return None
        # Of the one part that is made of others, its own fault says more than the names of all.
        nested = [
            fault
            for part, fault in zip(get_args(form), faults, strict=True)
            if _kind(part) is not None and isinstance(value, _kind(part) or ())
        ]
        return nested[0] if nested else _other(value, place, _words(form))
    if origin in (list, tuple):
        if not isinstance(value, list):
            return _other(value, place, "a list")
        item = get_args(form)[0]
        if item in _WORDS and all(_is_plain(item, each) for each in value):
            return None  # a long list is the usual case, and its places need no names
        return _first(_fault(item, each, f"{place}[{k}]") for k, each in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            return _other(value, place, "named values")
        if (odd := [key for key in value if not isinstance(key, str)]) != []:
            return f"{_at(place)}has the name {_shown(odd[0])}, which is no text"
        return _first(_fault(get_args(form)[1], each, _inside(place, key)) for key, each in value.items())
    return _fault_of_fields(form, value, place)


def _fault_of_fields(form: Any, value: Any, place: str) -> str | None:
    """Of a TypedDict or a dataclass."""
    if not isinstance(value, Mapping):
        return _other(value, place, "named values")
    fields, required = _fields(form)
    lacking = next((name for name in fields if name in required and name not in value), None)
    if lacking is not None:
        return f"{_at(place)}has no {lacking}"
    if dataclasses.is_dataclass(form):
        unknown = next((name for name in value if name not in fields), None)
        if unknown is not None:
            return f"{_at(place)}has {_shown(unknown)}, which means nothing here"
    return _first(
        _fault(each, value[name], _inside(place, name)) for name, each in fields.items() if name in value
    )


@functools.cache
def _fields(form: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """The fields of a TypedDict or a dataclass, and the names of those that must be there."""
    hints = get_type_hints(form, include_extras=True)
    if dataclasses.is_dataclass(form):
        missing = dataclasses.MISSING
        needed = (
            each.name
            for each in dataclasses.fields(form)
            if each.default is missing and each.default_factory is missing
        )
        return hints, frozenset(needed)
    # Where annotations are texts, `__required_keys__` does not know of NotRequired.
    return hints, frozenset(name for name, hint in hints.items() if get_origin(hint) is not NotRequired)


def _is_plain(form: Any, value: Any) -> bool:
    if form is None:
        return value is None
    if isinstance(value, bool):
        return form is bool
    return isinstance(value, int | float if form is float else form)


def _kind(form: Any) -> type | None:
    """What JSON calls a form that is made of others."""
    origin = get_origin(form)
    if origin in (list, tuple):
        return list
    return dict if origin is dict or dataclasses.is_dataclass(form) or typing.is_typeddict(form) else None


def _words(form: Any) -> str:
    if form is None:
        form = type(None)
    if form in _WORDS:
        return _WORDS[form]
    if get_origin(form) is Literal:
        return "one of " + ", ".join(map(str, get_args(form)))
    if get_origin(form) in (Union, types.UnionType):
        return " or ".join(_words(part) for part in get_args(form))
    return "a list" if _kind(form) is list else "named values"


def _first(faults: typing.Iterator[str | None]) -> str | None:
    return next((fault for fault in faults if fault is not None), None)


def _inside(place: str, name: str) -> str:
    step = name if name.isidentifier() else f"[{_shown(name)}]"
    return f"{place}.{step}" if place and not step.startswith("[") else place + step


def _at(place: str) -> str:
    return f"{place} " if place else "it "


def _other(value: Any, place: str, wanted: str) -> str:
    return f"{_at(place)}is {_shown(value)}, not {wanted}"


def _shown(value: Any) -> str:
    """The beginning of a value; what would steer a terminal is written as an escape."""
    if isinstance(value, Mapping):
        return "named values"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
