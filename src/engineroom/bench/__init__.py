"""What the chapters promise about speed, measured in one sitting: `python -m engineroom.bench [--record] [word ...]`.

A chapter has a module `bench` with a function `bench(sitting) -> list[Row]` and, where it
compares with other packages, `PACKAGES`. Each word's rows go to `_build/bench/<word>.json`, what machine and moment they
come from to `<word>.provenance.json`, and both are printed. With `--record` the sitting is kept in `data/recorded/bench`, where the
pages take their numbers from. A bench says each thing that it measures on stderr, and takes five minutes at most.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil

from engineroom import chapters, files, paths
from engineroom.errors import EngineRoomError
from engineroom.runs import provenance, quiet

__all__ = ["Row", "Sitting", "main", "row", "run", "table", "words"]


@dataclass(frozen=True)
class Row:
    """One promise and what came of it.

    `peer` is None where the goal is a limit of the same run, or a rate; `holds` where the goal's condition was not met.
    """

    name: str
    ours: float
    unit: str
    peer: str | None
    peer_value: float | None
    ratio: float
    goal: str
    holds: bool | None


def row(
    name: str,
    *,
    ours: float,
    unit: str,
    ratio: float,
    side: Literal[">=", "<="],
    goal: float,
    peer: str | None = None,
    peer_value: float | None = None,
    condition: bool = True,
) -> Row:
    """A row whose ratio is to lie on one side of its goal; `condition` is whether the machine let it be judged."""
    holds = ratio >= goal if side == ">=" else ratio <= goal
    digits = 5
    return Row(
        name=name,
        ours=float(f"{ours:.{digits}g}"),
        unit=unit,
        peer=peer,
        peer_value=None if peer_value is None else float(f"{peer_value:.{digits}g}"),
        ratio=round(ratio, 3),
        goal=f"{side} {goal:g}",
        holds=bool(holds) if condition else None,
    )


@dataclass
class Sitting:
    """What a bench is given: the load before it all, and a place for the rows' provenance."""

    word: str
    load_before: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)
    began_s: float = field(default_factory=time.monotonic)

    def says(self, what: str) -> None:
        """Tell who waits what is measured now."""
        print(f"{time.monotonic() - self.began_s:4.0f} s  {self.word}: {what}", file=sys.stderr, flush=True)

    @property
    def is_quiet(self) -> bool:
        """Whether nobody used the machine when the sitting began."""
        return self.load_before <= quiet.LOAD_OF_OTHERS


def words() -> list[str]:
    """The chapters that have a bench, by name."""
    return sorted(modules())


def modules() -> dict[str, str]:
    """The module of each bench by its word."""
    every = ((page.word, page.module("bench")) for page in chapters.recorded())
    return {word: module for word, module in every if importlib.util.find_spec(module)}


def run(word: str, load_before: float) -> tuple[list[Row], dict[str, Any]]:
    """Measure one chapter and keep rows and provenance in `_build/bench`.

    `load_before` is the machine's load before the first chapter of the sitting: later the load is our own.
    """
    known = modules()
    if word not in known:
        raise EngineRoomError(f"there is no bench of {word!r}", remedy="choose from: " + ", ".join(words()))
    module = importlib.import_module(known[word])
    packages: Sequence[str] = getattr(module, "PACKAGES", ())
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise EngineRoomError(
            f"the bench of {word} compares with packages that are not installed: {', '.join(missing)}",
            remedy="run `make bench`, which installs them first, or `pip install -e '.[bench]'`",
        )
    machine = provenance.machine()
    with provenance.watch() as watched:
        sitting = Sitting(word, load_before=load_before)
        rows: list[Row] = module.bench(sitting)
    seen = {
        **machine,
        **watched,
        "load_before": sitting.load_before,
        "versions": {name: importlib.metadata.version(name) for name in packages},
        **sitting.notes,
    }
    folder = paths.build() / "bench"
    folder.mkdir(exist_ok=True)
    _write(folder / f"{word}.provenance.json", provenance.scrub(seen))
    _write(folder / f"{word}.json", [asdict(a_row) for a_row in rows])
    return rows, seen


def _write(path: Path, value: Any) -> None:
    files.write_whole(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def header(word: str, seen: dict[str, Any]) -> str:
    """One paragraph on where the rows come from, before them."""
    versions = ", ".join(f"{name} {version}" for name, version in seen["versions"].items())
    return (
        f"{word}: {seen['date']}, {seen['cpu']}, {seen['cores']} cores; {versions or 'no other package'}\n"
        f"load before {seen['load_before']}, steal {seen['steal_percent']} %"
        + (
            ""
            if seen["load_before"] <= quiet.LOAD_OF_OTHERS
            else "; others were using the machine: do not trust the wall times"
        )
    )


def table(rows: Sequence[Row]) -> str:
    """The rows for people."""
    lines = [("", "ours", "", "peer", "", "ratio", "goal", "")]
    for a_row in rows:
        lines.append(
            (
                a_row.name,
                f"{a_row.ours:.4g}",
                a_row.unit,
                a_row.peer or "",
                "" if a_row.peer_value is None else f"{a_row.peer_value:.4g}",
                f"{a_row.ratio:.2f}",
                a_row.goal,
                {True: "holds", False: "does not hold", None: "not judged: the machine was busy"}[
                    a_row.holds
                ],
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    numbers = {1, 4, 5}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def main(arguments: Sequence[str]) -> int:
    """Run the named benches, or all. A goal that does not hold is a result, not a failure."""
    from engineroom.bench import recording

    named = [argument for argument in arguments if argument != "--record"]
    try:
        load_before = round(psutil.getloadavg()[0], 2)
        for word in named or words():
            rows, seen = run(word, load_before)
            print(header(word, seen), table(rows), "", sep="\n")
            print(f"written to {(paths.build() / 'bench' / word).relative_to(paths.root())}.json", flush=True)
            if "--record" in arguments:
                kept = recording.keep(word, rows, seen)
                print(f"recorded as {kept.relative_to(paths.root())}", flush=True)
    except EngineRoomError as error:
        print(f"engineroom: {error}", file=sys.stderr)
        return 1
    return 0
