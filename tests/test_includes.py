"""Who may include whom: the table of native/'s folders in CONTRIBUTING.md, held against every include."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engineroom import paths

NATIVE = paths.root() / "native"
TABLE = re.compile(r"<!-- native layers -->\n(.*?)<!-- /native layers -->", re.DOTALL)
STANDS_ON = re.compile(r"`(\w+)` stands on ((?:`\w+`(?:, | and )?)+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
MADE_BY_CMAKE = {"submodules.hpp"}
# The browser's builds of everything that is simulated do without the same functions.
OF_SEVERAL_MODULES = {"wasm/small/no_text.cpp"}


def table_rows() -> list[str]:
    table = TABLE.search((paths.root() / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert table is not None, "CONTRIBUTING.md has no table of native/'s folders"
    return table[1].splitlines()[2:]


def layers() -> dict[str, int]:
    """The row of each folder: an include goes to the same folder or to a smaller row."""
    rows = table_rows()
    return {name: at for at, row in enumerate(rows) for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def foundations() -> dict[str, set[str]]:
    """The chapters whose kernels a chapter's are built on."""
    said = STANDS_ON.findall("\n".join(table_rows()))
    return {chapter: set(re.findall(r"\w+(?=`)", others)) for chapter, others in said}


def files() -> list[Path]:
    return sorted(file for file in NATIVE.rglob("*") if file.suffix in (".hpp", ".cpp"))


def includes(file: Path) -> Iterator[Path]:
    """The files of native/ that a file includes, found as the compiler finds them."""
    for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        found = [base / name for base in (file.parent, NATIVE, NATIVE / "kernels") if (base / name).is_file()]
        if name not in MADE_BY_CMAKE:
            assert found, f"{file.relative_to(NATIVE)} includes {name}, which is not there"
            yield found[0].resolve()


def upward(source: str, target: str, rows: dict[str, int]) -> str | None:
    """What is wrong with an include, by the paths under native/."""
    of, to = source.split("/"), target.split("/")
    if of[0] != to[0] and rows[to[0]] >= rows[of[0]]:
        return f"{source} includes {target}, which stands above it"
    if of[0] == to[0] == "kernels" and of[1] != to[1] and to[1] not in foundations().get(of[1], set()):
        return f"{source} includes {target} of another chapter"
    if (
        source.startswith("machine/sim/")
        and target.startswith("machine/")
        and to[-1].startswith("sim_machine")
    ):
        return f"{source} includes {target}, which is made of it"
    return None


def chapters_of(file: Path) -> set[str]:
    """The chapters whose kernels a binding or a module of the browser includes, also through headers of its own folder."""
    found: set[str] = set()
    seen: set[Path] = set()
    left = [file]
    while left:
        at = left.pop()
        for target in includes(at):
            folder, word = target.relative_to(NATIVE).parts[:2]
            if folder == "kernels":
                found.add(word)
            elif folder == file.relative_to(NATIVE).parts[0] and target not in seen:
                seen.add(target)
                left.append(target)
    return found


def test_every_folder_has_a_row():
    assert {folder.name for folder in NATIVE.iterdir() if folder.is_dir()} == set(layers())


def test_every_include_goes_down():
    rows = layers()
    wrong = [
        problem
        for file in files()
        for target in includes(file)
        if (problem := upward(str(file.relative_to(NATIVE)), str(target.relative_to(NATIVE)), rows))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("machine/primitives.cpp", "sync/latch.hpp"),
        ("sync/latch.hpp", "kernels/redo_log/block.hpp"),
        ("kernels/filesort/table.hpp", "kernels/hash_join/relation.hpp"),
        ("kernels/redo_log/block.hpp", "kernels/group_commit/engine.hpp"),
        ("kernels/redo_log/load.hpp", "bindings/arrays.hpp"),
        ("kernels/redo_log/wasm.cpp", "bindings/arrays.hpp"),
        ("machine/sim/timers.cpp", "machine/sim_machine.hpp"),
    ],
)
def test_an_include_that_goes_up_or_aside_is_found(source, target):
    assert upward(source, target, layers()) is not None


@pytest.mark.parametrize("folder", ["bindings", "wasm"])
def test_what_is_made_of_kernels_has_those_of_one_chapter(folder):
    mixed = {
        name: sorted(chapters)
        for file in sorted((NATIVE / folder).rglob("*.cpp"))
        if len(chapters := chapters_of(file)) > 1
        and (name := str(file.relative_to(NATIVE))) not in OF_SEVERAL_MODULES
    }
    assert mixed == {}
