"""Machines by name: each a table of parameters, and where each number comes from (`data/machine/*.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["KINDS", "Parameter", "Preset", "load", "middle_of", "names", "parameters", "preset", "times"]

# How a number is known. What was not measured is also tried at half and at one and a half times its value.
KINDS = ("measured", "cited", "estimate", "chosen")


@dataclass(frozen=True)
class Parameter:
    """One number of a machine."""

    name: str
    value: int | list[int]
    kind: str
    source: str


@dataclass(frozen=True)
class Preset:
    """A machine's parameters; `values()` is what the compiled machine takes."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]

    def values(self) -> dict[str, int | list[int]]:
        return {parameter.name: parameter.value for parameter in self.parameters}

    def uncertain(self) -> list[str]:
        """The parameters that were not measured where the book is made and are not our choice."""
        return [p.name for p in self.parameters if p.kind in ("cited", "estimate")]

    def varied(self, name: str, factor: float) -> Preset:
        """The same machine with one parameter times `factor`; what is at least one stays at least one, and a share is at most all of it."""
        if name not in self.values():
            raise EngineRoomError(
                f"the machine {self.name} has no parameter {name!r}",
                remedy="choose from: " + ", ".join(self.values()),
            )
        return replace(
            self,
            name=f"{self.name}, {name} x {factor:g}",
            parameters=tuple(
                replace(p, value=_varied(p, factor)) if p.name == name else p for p in self.parameters
            ),
        )


def _varied(of: Parameter, factor: float) -> int | list[int]:
    varied = times(of.value, factor)
    return min(1000, varied) if isinstance(varied, int) and of.name.endswith("_permille") else varied


def times(value: int | list[int], factor: float) -> int | list[int]:
    """A parameter, or each of its quantiles, times `factor`; what is at least one stays at least one."""
    if isinstance(value, list):
        return [max(min(1, each), round(each * factor)) for each in value]
    return max(min(1, value), round(value * factor))


def middle_of(value: int | list[int]) -> int:
    """A parameter, or the median of one that is known by its quantiles."""
    return value[len(value) // 2] if isinstance(value, list) else value


def names() -> list[str]:
    """The presets of the book."""
    return sorted(path.stem for path in _folder().glob("*.json") if path.stem != "datapackage")


def preset(name: str) -> Preset:
    """A preset of the book by its name; EngineRoomError with their names for any other.

    >>> preset("four_sockets_176").values()["sockets"]
    4
    """
    if name not in names():
        raise EngineRoomError(f"there is no machine {name!r}", remedy="choose from: " + ", ".join(names()))
    return load(_folder() / f"{name}.json")


def parameters(machine: str | Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a machine of the book by its name, or those given."""
    return dict(preset(machine).values()) if isinstance(machine, str) else dict(machine)


def load(path: Path) -> Preset:
    """A machine from a file: a preset, perhaps one that says only how it differs from the preset that it is `based_on`, or what `engineroom calibrate` wrote."""
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        based_on = preset(read["based_on"]).parameters if "based_on" in read else ()
        own = [Parameter(name, **fields) for name, fields in read["parameters"].items()]
        found = tuple({parameter.name: parameter for parameter in [*based_on, *own]}.values())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineRoomError(
            f"{path} does not hold a machine's parameters: {error}",
            remedy="write one with `engineroom calibrate`, or take one of data/machine",
        ) from error
    unknown = sorted({p.kind for p in found} - set(KINDS))
    if unknown:
        raise EngineRoomError(
            f"{path}: parameters of kind {', '.join(unknown)}", remedy="use one of: " + ", ".join(KINDS)
        )
    from engineroom._native import machine

    made = Preset(path.stem, read["title"], found)
    try:
        machine.check_parameters(made.values())
    except ValueError as error:
        raise EngineRoomError(
            f"{path}: {error}",
            remedy="mend the file; engineroom._native.machine.parameters() says what a machine can be told",
        ) from error
    return made


def _folder() -> Path:
    return paths.data() / "machine"
