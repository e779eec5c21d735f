"""What others measured on many cores, and the simulated machine that each study describes (`data/studies`).

A study's machine has the numbers that the study itself gives. The others are those of a machine of the book, its `preset`; none is
fitted to what the study measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.machine import presets
from engineroom.machine.presets import Parameter, Preset

# How a published number becomes the time between two turns of all threads together, ns.
UNITS = ("ns_of_one_thread", "turns_per_s", "us_of_all", "ms_of_all")
_NS = {"us_of_all": 1e3, "ms_of_all": 1e6}


@dataclass(frozen=True)
class Series:
    """One lock or operation of a study, and how `engineroom._native.machine.crowd` is told about it."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """Where the numbers of a study are from, how its program loops, and the machine that it ran on.

    `beyond` has what else the machine is from more threads on: a study may know more distances than the simulated machine.
    """

    name: str
    title: str
    source: Mapping[str, str]
    loop: str
    unit: str
    series: tuple[Series, ...]
    machine: Preset
    own: tuple[str, ...]  # the parameters that the study gives; the others are the preset's
    turns: int = 0  # of all threads together, where a time of all of them was published
    pool: int = 0  # so many threads take the turns of more; 0: each has a thread
    compared_to: int = 0  # threads; beyond, the simulated machine has no CPUs; 0: all
    is_pinned: bool = False  # each thread to a core, and to siblings when there is no core left
    chosen: Mapping[str, str] = field(default_factory=dict)
    beyond: tuple[int, Mapping[str, int]] | None = None

    def published(self) -> pd.DataFrame:
        """A row a measured value: series, threads, repeat, and `ns_per_turn`: the time between two turns of all together."""
        table = pd.read_csv(_folder() / f"{self.name}.csv")
        if self.compared_to:
            table = table[table["threads"] <= self.compared_to]
        return table.assign(ns_per_turn=self._ns_per_turn(table))[
            ["series", "threads", "repeat", "ns_per_turn"]
        ]

    def _ns_per_turn(self, table: pd.DataFrame) -> pd.Series[float]:
        if self.unit == "ns_of_one_thread":
            return table["published"] / table["threads"]
        if self.unit == "turns_per_s":
            return 1e9 / table["published"]
        return table["published"] * _NS[self.unit] / self.turns

    def machine_for(self, threads: int) -> dict[str, int | list[int]]:
        """The parameters of the machine for so many threads."""
        values = self.machine.values()
        if self.beyond is not None and threads > self.beyond[0]:
            values |= self.beyond[1]
        return values

    def cpus(self, threads: int) -> list[int] | None:
        """Where the threads run, in the machine's numbering; None: where its scheduler puts them."""
        if not self.is_pinned:
            return None
        machine = {name: presets.middle_of(value) for name, value in self.machine.values().items()}
        siblings = machine["threads_per_core"]
        cores = machine["sockets"] * machine["cores_per_socket"]
        return sorted(i % cores * siblings + i // cores for i in range(threads))

    def varied(self, parameter: str, factor: float) -> Study:
        """The same study on its machine with one parameter times `factor`."""
        beyond = self.beyond
        if beyond is not None and parameter in beyond[1]:
            changed = {parameter: presets.times(beyond[1][parameter], factor)}
            beyond = (beyond[0], {**beyond[1], **changed})  # type: ignore[dict-item]
        return replace(self, machine=self.machine.varied(parameter, factor), beyond=beyond)


def names() -> list[str]:
    """The studies of the book."""
    return sorted(path.stem for path in _folder().glob("*.json") if path.stem != "datapackage")


def study(name: str) -> Study:
    """A study of the book by its name."""
    if name not in names():
        raise EngineRoomError(f"there is no study {name!r}", remedy="choose from: " + ", ".join(names()))
    return load(_folder() / f"{name}.json")


def load(path: Path) -> Study:
    """A study from its description; what it measured lies beside it in a file of the same name."""
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        unit, own = read["value"]["unit"], read["parameters"]
        made = Study(
            name=path.stem,
            title=read["title"],
            source=read["study"],
            loop=read["loop"],
            unit=unit,
            turns=read["value"].get("turns", 0),
            series=tuple(Series(name, options) for name, options in read["series"].items()),
            machine=_machine(path.stem, read["title"], read["preset"], own),
            own=tuple(own),
            pool=read.get("pool", 0),
            compared_to=read.get("compared_to", 0),
            is_pinned="cpus" in read,
            chosen=read["chosen"],
            beyond=_beyond(read.get("beyond")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineRoomError(
            f"{path} does not describe a study: {error!r}", remedy="mend the file after one of data/studies"
        ) from error
    problem = _problem(made)
    if problem:
        raise EngineRoomError(f"{path}: {problem}", remedy="mend the file after one of data/studies")
    return made


def _machine(name: str, title: str, preset: str, own: Mapping[str, Mapping[str, Any]]) -> Preset:
    parameters = {parameter.name: parameter for parameter in presets.preset(preset).parameters}
    parameters |= {each: Parameter(each, **fields) for each, fields in own.items()}
    return Preset(name, title, tuple(parameters.values()))


def _beyond(read: Mapping[str, Any] | None) -> tuple[int, Mapping[str, int]] | None:
    if read is None:
        return None
    return read["threads"], {name: fields["value"] for name, fields in read["parameters"].items()}


def _problem(made: Study) -> str:
    """What is wrong with a description that can be read, or nothing."""
    from engineroom._native import machine

    if made.unit not in UNITS:
        return f"unit is {made.unit!r}, not one of {', '.join(UNITS)}"
    if made.unit in _NS and made.turns < 1:
        return f"a time of all threads together needs the number of turns, got {made.turns}"
    if unknown := sorted({p.kind for p in made.machine.parameters} - set(presets.KINDS)):
        return f"parameters of kind {', '.join(unknown)}"
    options = {option for series in made.series for option in series.options} - {"operation"}
    if unexplained := sorted(options - set(made.chosen) - {"yields", "pauses"}):
        return f"the series say {', '.join(unexplained)}, which `chosen` does not explain"
    try:
        machine.check_parameters(made.machine_for(1))
        machine.check_parameters(made.machine_for(1 << 30))
    except ValueError as error:
        return str(error)
    return ""


def _folder() -> Path:
    return paths.data() / "studies"
