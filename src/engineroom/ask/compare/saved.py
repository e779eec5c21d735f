"""What one side came to, kept in a file: a later run is compared with it, such as before and after an upgrade."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from engineroom import files
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.errors import EngineRoomError
from engineroom.runs import provenance

__all__ = ["Saved", "load", "save"]

_FORMAT = 1
_REMEDY = "save one side again: engineroom compare QUERY --versions 5.7 --save FILE"
_MOST_ROWS = (
    1000  # of an answer; of a larger one no row is kept, and its digest tells whether another is the same
)
_MOST_S = 1e9  # that a run may have taken
_OF_RUN = ("version", "note", "variables")
_CONTROLS = ("control_cpu_s", "control_wall_s")
_MACHINE = ("cpu", "cores", "memory_bytes")


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A side's results by the hash of each statement, with its controls, and how they were measured."""

    name: str
    made_rows: int | None
    equal_settings: Mapping[str, str]
    provenance: Mapping[str, Any]
    sides: Mapping[str, Side]
    controls: Mapping[str, Mapping[str, float | None]]

    def knows(self, statement: str) -> bool:
        """Whether it has a result of this very text."""
        return _hash(statement) in self.sides

    def beside(self, found: Comparison) -> Comparison:
        """The comparison with the saved side in front."""
        key = _hash(found.statement)
        return replace(
            found,
            sides=(self.sides[key], *found.sides),
            control_cpu_s=self.controls[key]["control_cpu_s"],
            control_wall_s=self.controls[key]["control_wall_s"],
            about_files=(*self._remarks(found), *found.about_files),
        )

    def _remarks(self, found: Comparison) -> list[str]:
        """What stands between the two runs besides the servers."""
        at = self.provenance.get("date")
        said = [
            f"{self.name}: measured at {at}. Between then and now times may differ by more than repeats show; plans, counters and rows do not."
        ]
        if self.made_rows != found.made_rows:
            said.append(
                f"Made rows: {self.made_rows or 'none'} in {self.name}, {found.made_rows or 'none'} now."
            )
        now = {name: str(value) for name, value in found.equal_settings.items()}
        names = sorted({*self.equal_settings, *now})
        if other := [name for name in names if self.equal_settings.get(name) != now.get(name)]:
            said.append(f"Settings that the two runs do not have in common: {', '.join(other)}.")
        if other := [name for name in _MACHINE if self.provenance.get(name) != found.provenance.get(name)]:
            said.append(f"{self.name} was measured on another machine: {', '.join(other)}.")
        return said


def save(file: Path, compared: Sequence[Comparison]) -> None:
    """Write the one side of each comparison."""
    first = compared[0]
    kept = {
        "format": _FORMAT,
        **{name: getattr(first.sides[0], name) for name in _OF_RUN},
        "made_rows": first.made_rows,
        "equal_settings": {name: str(value) for name, value in first.equal_settings.items()},
        "provenance": provenance.scrub(first.provenance),
        "statements": [
            {
                "sha256": _hash(each.statement),
                **{name: getattr(each, name) for name in _CONTROLS},
                **{name: getattr(each.sides[0], name) for name in _OF_STATEMENT},
                "kept_rows": _plain_rows(each.sides[0]),
            }
            for each in compared
        ],
    }
    try:
        file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise EngineRoomError(
            f"{file} cannot be written: {error.strerror}",
            remedy="name a file in a folder that you may write to",
        ) from error


def load(file: Path) -> Saved:
    """What `save` wrote. EngineRoomError for a file that holds something else, with the value."""
    read = files.read_json(file, "saved comparison", remedy=_REMEDY)
    try:
        if read["format"] != _FORMAT:
            raise ValueError(f"format is {read['format']!r:.60}")
        about = {name: _checked(name, read[name], kind) for name, kind in _ABOUT.items()}
        sides, controls = {}, {}
        for each in _checked("statements", read["statements"], "list"):
            key = _checked("sha256", each["sha256"], "str")
            controls[key] = {name: _checked(name, each[name], "float | None") for name in _CONTROLS}
            held = {name: _tuples(_checked(name, each[name], kind)) for name, kind in _OF_STATEMENT.items()}
            rows = {
                _tuples(_checked("kept_rows", row, "tuple[str | None, ...]")): _checked(
                    "kept_rows", n, "count"
                )
                for row, n in each["kept_rows"]
            }
            sides[key] = Side(
                label="saved", kept_rows=rows, **{name: about[name] for name in _OF_RUN}, **held
            )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else error
        raise EngineRoomError(f"{file.name} holds no saved comparison: {said}", remedy=_REMEDY) from error
    return Saved(
        name=f"{about['version']} saved",
        made_rows=about["made_rows"],
        equal_settings=about["equal_settings"],
        provenance=about["provenance"],
        sides=sides,
        controls=controls,
    )


def _hash(statement: str) -> str:
    return hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest()


def _plain_rows(side: Side) -> list[Any]:
    return [] if (side.rows or 0) > _MOST_ROWS else [[row, n] for row, n in side.kept_rows.items()]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _checked(name: str, value: Any, kind: str) -> Any:
    """`value`, if it is what the annotation `kind` says."""
    if not _IS[kind](value):
        raise ValueError(f"{name} is {value!r:.60}")
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_S


def _or_none(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


def _all(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _all_named(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


_IS: Mapping[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "str | None": _or_none(_is_text),
    "bool": lambda value: isinstance(value, bool),
    "count": lambda value: _is_whole(value) and 0 < value <= _MOST_ROWS,
    "int | None": _or_none(_is_whole),
    "float | None": _or_none(_is_seconds),
    "list": lambda value: isinstance(value, list),
    "tuple[float, ...]": _all(_is_seconds),
    "tuple[str, ...]": _all(_is_text),
    "tuple[str | None, ...]": _all(_or_none(_is_text)),
    "tuple[tuple[str | None, ...], ...]": _all(_all(_or_none(_is_text))),
    "Mapping": lambda value: isinstance(value, dict),
    "Mapping[str, int]": _all_named(_is_whole),
    "Mapping[str, str]": _all_named(_is_text),
}
_ABOUT = {
    "version": "str",
    "note": "str",
    "variables": "Mapping[str, str]",
    "made_rows": "int | None",
    "equal_settings": "Mapping[str, str]",
    "provenance": "Mapping",
}
_OF_STATEMENT = {
    field.name: str(field.type)
    for field in fields(Side)
    if field.name not in (*_OF_RUN, "label", "statement", "kept_rows")
}
