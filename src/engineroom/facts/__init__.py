"""The numbers of a page: typed, computed by tested code, and printed in one way each.

The module `facts/<page>.py` has a function `facts()`, whose result is a frozen dataclass of groups: one group for each recording that
the page tells about, or for what is computed while the page is made. A group's fields are its facts, each with its unit in its
name and, in `fact(...)`, the way in which it is printed:

    @dataclass(frozen=True, kw_only=True)
    class NoIndex(Facts):
        rows: int = fact("{:,}")
        old_s: float = fact("{:.2f} s")

The first cell of a page is `seen = facts.of("hash_join")`, after which `{glue:text}` shows each fact by group and name
(`no_index.old_s`). A field without `fact(...)` is shown by a cell instead: a group, a `Table`, a plan's text.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from engineroom import address_grammars
from engineroom.listing import listed

if TYPE_CHECKING:
    import pandas as pd

    from engineroom.runs import Run

__all__ = [
    "Facts",
    "Range",
    "Text",
    "came_out",
    "fact",
    "failed",
    "fall_percent",
    "glue",
    "listed",
    "names",
    "of",
    "shown_by_cells",
    "span",
]

Shown = str | Callable[[Any], str]


class Range(NamedTuple):
    """The least and the most of some values."""

    least: float
    most: float


class Text(str):
    """A longer text in MyST, which a cell shows as a part of the page."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def span(each: str, unit: str) -> Callable[[Range], str]:
    """How a Range is printed: "210 to 840 ms", and "1.00 ms" where both ends look alike."""

    def shown(value: Range) -> str:
        ends = dict.fromkeys((each.format(value.least), each.format(value.most)))
        return f"{' to '.join(ends)} {unit}".rstrip()

    return shown


def fact(shown: Shown = "{}", *, keys: Collection[object] = ()) -> Any:
    """A field that the text of a page shows, by a format or a function of the value.

    With `keys` the field is a mapping of just these, and each value is a fact of its own: `fsyncs_per_txn.50`.
    """
    return dataclasses.field(metadata={"shown": shown, "keys": tuple(keys)})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Facts:
    """A group of facts, or of groups. Values are checked against their types: a page shows no `nan`, and no list where a number is promised."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if not _is(value, hints[each.name]):
                raise TypeError(f"{type(self).__name__}.{each.name} is {value!r}, not {hints[each.name]}")
            keys = each.metadata.get("keys")
            if keys and tuple(value) != keys:
                raise TypeError(f"{type(self).__name__}.{each.name} has {list(value)}, not {list(keys)}")

    def texts(self) -> dict[str, str]:
        """Each fact as the page prints it, by its name there."""
        found: dict[str, str] = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Facts):
                found |= {f"{each.name}.{name}": text for name, text in value.texts().items()}
            elif "shown" in each.metadata:
                found |= {
                    name: _print(value[key] if each.metadata["keys"] else value, each.metadata["shown"])
                    for name, key in _named(each)
                }
        return found


def names(kind: type[Facts]) -> list[str]:
    """The names of a page's facts, by its class alone: nothing is read or computed."""
    return [name for name, is_glued in _walk(kind) if is_glued]


def shown_by_cells(kind: type[Facts]) -> list[str]:
    """The names of what a page shows by cells: tables and longer texts."""
    return [name for name, is_glued in _walk(kind) if not is_glued]


def of(page: str) -> Any:
    """The facts of a page of the book, each of them glued for its text; call it from the page's first cell."""
    found: Facts = importlib.import_module(f"{__name__}.{page}").facts()
    glue(found)
    return found


def came_out(run: Run, claims: Mapping[str, Callable[[Run], bool]]) -> str:
    """How many expectations a run has as they were written down, and whether it decides any."""
    held = sum(holds(run) for holds in claims.values())
    doubt = ", in a run that was not quiet enough to decide any" if run.why_busy else ""
    return f"Of {len(claims)} expectations that we had written down, {held} came out{doubt}."


def failed(run: Run, claims: Mapping[str, Callable[[Run], bool]]) -> str:
    """The expectations that a run does not have, as a sentence; nothing if it has them all."""
    wrong = [says for says, holds in claims.items() if not holds(run)]
    if not wrong:
        return ""
    return f"{'This one' if len(wrong) == 1 else 'These'} did not: {'; '.join(wrong)}."


def fall_percent(rates: pd.Series[float], clients: int) -> float:
    """By how much the throughput of so many clients is below the highest one, in percent; `rates` is by number of clients."""
    return float(100 * (1 - rates[clients] / rates.max()))


def glue(facts: Facts) -> None:
    """Put every fact under its name for `{glue:text}`."""
    address_grammars.skip()
    from myst_nb import glue as put

    for name, text in facts.texts().items():
        put(name, text, display=False)


def _walk(kind: type[Facts]) -> Iterator[tuple[str, bool]]:
    hints = typing.get_type_hints(kind)
    for each in dataclasses.fields(kind):
        hint = hints[each.name]
        if isinstance(hint, type) and issubclass(hint, Facts):
            yield from ((f"{each.name}.{name}", is_glued) for name, is_glued in _walk(hint))
        elif "shown" in each.metadata:
            yield from ((name, True) for name, _ in _named(each))
        else:
            yield each.name, False


def _named(each: dataclasses.Field[Any]) -> list[tuple[str, object]]:
    keys = each.metadata["keys"]
    return [(f"{each.name}.{key}", key) for key in keys] if keys else [(each.name, None)]


def _print(value: Any, shown: Shown) -> str:
    return shown(value) if callable(shown) else shown.format(value)


def _is(value: object, hint: Any) -> bool:
    """Whether a value is what its field promises. Numbers of NumPy are numbers; `nan` is none."""
    kind = typing.get_origin(hint) or hint
    if kind is types.UnionType:
        return any(_is(value, each) for each in typing.get_args(hint))
    if isinstance(value, bool):
        return kind is bool
    if kind is int:
        return isinstance(value, Integral)
    if kind is float:
        return isinstance(value, Real) and not math.isnan(value)
    if kind is Range:
        return isinstance(value, Range) and all(_is(each, float) for each in value)
    if kind is Mapping:
        key, of_key = typing.get_args(hint)
        return isinstance(value, Mapping) and all(_is(k, key) and _is(v, of_key) for k, v in value.items())
    return isinstance(value, kind)
