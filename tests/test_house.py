"""The house: which room may ask which, in Python and in C++, and where a chapter's things lie."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engineroom import chapters, paths

ROOT = paths.root()
PACKAGE, NATIVE = ROOT / "src" / "engineroom", ROOT / "native"

# A room imports those before it, also inside a function. `chapters` is the declaration, `chapters.*` what the chapters have.
ROOMS = (
    *(
        "errors",
        "system_check",
        "listing",
        "address_grammars",
        "progress",
        "children",
        "files",
        "paths",
        "certificates",
    ),
    *(
        "sql_text",
        "forms",
        "chapters",
        "runs",
        "_native",
        "machine",
        "simulating",
        "servers",
        "measuring",
        "workloads",
    ),
    *(
        "show",
        "ask",
        "ledger",
        "bench",
        "teach",
        "validation",
        "chapters.*",
        "recording",
        "making",
        "doctor",
        "cli",
    ),
)
# The same of native/, from row to row; a folder of kernels includes another chapter's only if it stands on them.
FOLDERS = (
    *("common", "machine", "sync", ("sessions", "crash"), "transactions", "validation", "kernels"),
    *("bindings", "wasm"),
)
STANDS_ON = {"group_commit": {"redo_log", "binlog"}, "engine": {"redo_log", "group_commit", "lock_sys"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# Beside kernels or the machine lie their bindings and browser entries, which may use all of native/.
MADE_OF = re.compile(r"/(binding|wasm)[a-z_]*\.[ch]pp$|/pgo\.cpp$|/tests/")


def room(parts: tuple[str, ...]) -> str:
    is_of_one = parts[0] == "chapters" and len(parts) > 1 and (PACKAGE / "chapters" / parts[1]).is_dir()
    return "chapters.*" if is_of_one else parts[0]


def imports(file: Path) -> Iterator[tuple[str, ...]]:
    """Every module or name of the package that a file imports, without the package's own name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports by dots"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == "engineroom" and rest and rest[0] != "__version__":
                yield tuple(rest)


def modules() -> Iterator[tuple[Path, tuple[str, ...]]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts:
            yield file, parts


def test_no_import_goes_upwards():
    upwards = {
        f"{'.'.join(parts)} imports {'.'.join(name)}"
        for file, parts in modules()
        for name in imports(file)
        if room(name) != room(parts) and ROOMS.index(room(name)) > ROOMS.index(room(parts))
    }
    assert upwards == set()


def test_no_chapter_imports_another_one():
    found = {
        f"{'.'.join(parts)} imports {'.'.join(name)}"
        for file, parts in modules()
        for name in imports(file)
        if room(parts) == room(name) == "chapters.*" and parts[1] != name[1]
    }
    assert found == set()


def folder_row(path: str) -> int:
    name = path.split("/", maxsplit=1)[0]
    return next(at for at, row in enumerate(FOLDERS) if name == row or name in row)


def includes() -> Iterator[tuple[str, str]]:
    """Each include of native/, as the paths of both files under it, found as the compiler finds them."""
    for file in sorted(path for path in NATIVE.rglob("*.[ch]pp")):
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            if name == "submodules.hpp":  # made by CMake
                continue
            found = [
                base / name for base in (file.parent, NATIVE, NATIVE / "kernels") if (base / name).is_file()
            ]
            assert found, f"{file.relative_to(NATIVE)} includes {name}, which is not there"
            yield file.relative_to(NATIVE).as_posix(), found[0].resolve().relative_to(NATIVE).as_posix()


def test_every_include_goes_down_and_no_chapter_includes_another_one():
    wrong = []
    for source, target in includes():
        of, to = source.split("/")[:2], target.split("/")[:2]
        is_aside = of[0] == to[0] == "kernels" and of[1] != to[1] and to[1] not in STANDS_ON.get(of[1], set())
        is_upward = folder_row(target) > folder_row(source) or (
            of[0] != to[0] and folder_row(target) == folder_row(source)
        )
        if (is_aside and not re.search(r"/tests/|/pgo\.cpp$", source)) or (
            is_upward and not MADE_OF.search(f"/{source}")
        ):
            wrong.append(f"{source} includes {target}")
    assert wrong == []


@pytest.mark.parametrize("chapter", chapters.written(), ids=lambda chapter: chapter.word)
def test_a_chapter_has_its_rooms(chapter: chapters.Chapter):
    word = chapter.word
    needed = [f"book/{word}.md", f"notebooks/{word}.md", f"data/recorded/{word}", f"tests/chapters/{word}"]
    needed += [f"notebooks/exercises/{word}.md", f"src/engineroom/chapters/{word}/figures.py"]
    needed += [
        f"book/web/explorables/{each}.{kind}" for each in chapter.explorables for kind in ("js", "svg")
    ]
    needed += [f"native/kernels/{word}/binding.cpp"] * chapter.has_own_kernel
    assert [name for name in needed if not (ROOT / name).exists()] == []
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert f"file: book/{word}\n" in contents
    assert f"file: notebooks/{word}\n" in contents


def test_every_folder_of_a_chapter_is_declared():
    words = {each.word for each in chapters.book().chapters}
    rooms = ("src/engineroom/chapters", "native/kernels", "tests/chapters")
    found = {path.name for name in rooms for path in (ROOT / name).iterdir() if path.is_dir()}
    assert found - {"__pycache__"} <= words
