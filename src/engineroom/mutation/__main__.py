"""`python -m engineroom.mutation`, or `make mutants`: which small mistakes in the native code no test sees."""

from __future__ import annotations

import csv
import hashlib
import math
import os
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.mutation.judging import Judgement, judge_all, sound_tests
from engineroom.mutation.schemata import build, sources, write_copy, write_mutants
from engineroom.mutation.sites import Mutant, mutants_of

KNOWN = Path("data/mutants/known.toml")
RESULTS = Path("data/mutants/results.csv")


@dataclass(frozen=True)
class Known:
    """What is known of a mutant that no test kills: it is `equivalent`, or it is not; and the reason."""

    verdict: str
    reason: str


def drawn(mutants: Sequence[Mutant], share: float, seed: int) -> list[Mutant]:
    """So many of each file, at least one: by name, so that a change of one line draws no other mutants anew."""

    def lot(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    chosen = set()
    for file in {mutant.file for mutant in mutants}:
        of_file = sorted((mutant for mutant in mutants if mutant.file == file), key=lot)
        chosen |= {mutant.name for mutant in of_file[: math.ceil(share * len(of_file))]}
    return [mutant for mutant in mutants if mutant.name in chosen]


def known_mutants(root: Path, mutants: Sequence[Mutant]) -> dict[str, Known]:
    """The mutants that data/mutants/known.toml tells of, by name. Raises EngineRoomError for one that is no more."""
    text = (root / KNOWN).read_text() if (root / KNOWN).exists() else ""
    known = {
        entry["name"]: Known(entry["verdict"], entry["reason"])
        for entry in tomllib.loads(text).get("mutant", [])
    }
    gone = set(known) - {mutant.name for mutant in mutants}
    if gone:
        raise EngineRoomError(
            f"{KNOWN} tells of mutants that are no more: {', '.join(sorted(gone))}",
            remedy="their lines have changed: run without them, and judge anew those that survive",
        )
    return known


@click.command()
@click.option("--share", default=0.1, show_default=True, help="Of all mutants of each file; 1 for all.")
@click.option("--seed", default=1, show_default=True, help="Another draws other mutants.")
@click.option("--file", "part", default="", help="Only files whose path contains this.")
@click.option(
    "--name", "names", multiple=True, help="Only these mutants, drawn or not; may be given more than once."
)
@click.option(
    "--jobs", default=os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
)
@click.option("--record", is_flag=True, help=f"Write {RESULTS}, not only _build/mutants/{RESULTS.name}.")
def _main(  # noqa: PLR0917 - as many options
    share: float, seed: int, part: str, names: tuple[str, ...], jobs: int, record: bool
) -> None:
    """Build the native code with small mistakes in it, run the native tests against each, and tell which survive."""
    root = paths.root()
    everything = [mutant for file in sources(root) for mutant in mutants_of(file, (root / file).read_bytes())]
    known = known_mutants(root, everything)
    if names:
        chosen = [mutant for mutant in everything if mutant.name in names]
    else:
        chosen = [mutant for mutant in drawn(everything, share, seed) if part in mutant.file]
    folder = root / "_build/mutants"
    program, not_built = _built(root, folder / "copy", chosen)
    tests = sound_tests(program, jobs)
    numbers = [n for n in range(1, len(chosen) + 1) if chosen[n - 1].name not in not_built]
    found: dict[str, Judgement] = {}
    for number, judgement in judge_all(program, numbers, tests, jobs):
        mutant = chosen[number - 1]
        found[mutant.name] = judgement
        _tell_one(mutant, judgement, known.get(mutant.name))
    chosen = [mutant for mutant in chosen if mutant.name in found]
    _tell_all(chosen, found, known)
    click.echo(f"{len(everything)} mutants exist; {len(not_built)} of those drawn do not compile.")
    _write(root / RESULTS if record else folder / RESULTS.name, chosen, found, known)


def _built(root: Path, copy: Path, chosen: Sequence[Mutant]) -> tuple[Path, set[str]]:
    """The program with all mutants that compile, numbered as in `chosen`, and the names of those that do not."""
    not_built: set[str] = set()
    write_copy(root, copy)
    while True:
        write_mutants(copy, chosen, not_built)
        program, refused = build(copy)
        if not refused:
            return program, not_built
        not_built |= {chosen[number - 1].name for number in refused}


def _verdict(mutant: Mutant, found: dict[str, Judgement], known: dict[str, Known]) -> str:
    if found[mutant.name].killed_by:
        return "killed"
    return "equivalent" if mutant.name in known and known[mutant.name].verdict == "equivalent" else "survived"


def _tell_one(mutant: Mutant, judgement: Judgement, known: Known | None) -> None:
    """What survives and nobody has judged, and what is killed though somebody has."""
    if judgement.killed_by:
        if known is not None:
            click.echo(f"{mutant.name} is called {known.verdict}, and {judgement.killed_by} kills it")
        return
    if known is None:
        reached = f"{judgement.tests} tests reach it" if judgement.tests else "no test reaches it"
        click.echo(f"{mutant.name} {mutant.file}:{mutant.line} {mutant.change}; {reached}")
        click.echo(
            f"  - {_one_line(mutant.before)}\n  + {_one_line(mutant.after)}\n  in {_one_line(mutant.text)}"
        )


def _tell_all(chosen: Sequence[Mutant], found: dict[str, Judgement], known: dict[str, Known]) -> None:
    table: Counter[tuple[str, str]] = Counter()
    for mutant in chosen:
        verdict = _verdict(mutant, found, known)
        table.update([(mutant.file, verdict), (mutant.file, "all"), ("all", verdict), ("all", "all")])
    click.echo(f"\n{'file':42} mutants  killed  equivalent  survived   share")
    for file in [*sorted({mutant.file for mutant in chosen}), "all"]:
        n, killed, equivalent, survived = (
            table[file, verdict] for verdict in ("all", "killed", "equivalent", "survived")
        )
        share = f"{killed / (n - equivalent):6.1%}" if n > equivalent else ""
        click.echo(
            f"{file.removeprefix('native/'):42} {n:7} {killed:7} {equivalent:11} {survived:9} {share:>7}"
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _write(
    file: Path, chosen: Sequence[Mutant], found: dict[str, Judgement], known: dict[str, Known]
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(
            ["name", "file", "line", "change", "before", "after", "verdict", "killed_by", "how", "reason"]
        )
        for mutant in chosen:
            judgement = found[mutant.name]
            reason = known[mutant.name].reason if mutant.name in known else ""
            change = (mutant.change, _one_line(mutant.before), _one_line(mutant.after))
            verdict = (_verdict(mutant, found, known), judgement.killed_by, judgement.how, reason)
            rows.writerow([mutant.name, mutant.file, mutant.line, *change, *verdict])


if __name__ == "__main__":
    _main()
