"""Who may import whom: the layers in CONTRIBUTING.md, held against every import of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engineroom import chapters, paths

PACKAGE = "engineroom"
SOURCES = paths.root() / "src" / PACKAGE
TABLE = re.compile(r"<!-- layers -->\n(.*?)<!-- /layers -->", re.DOTALL)
NAMED = re.compile(rf"{PACKAGE}(\.\w+)+")
# Packages with a module or a folder for each chapter.
BY_CHAPTER = {"experiments", "facts", "figures", "bench", "classroom"}


def layers() -> dict[str, int]:
    """Place of each module and package of the table: an arrow goes to a smaller one."""
    table = TABLE.search((paths.root() / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert table is not None, "CONTRIBUTING.md has no table of layers"
    names = [name for row in table[1].splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[2])]
    assert len(names) == len(set(names)), "the table names something twice"
    return {name: place for place, name in enumerate(names)}


def module_of(file: Path) -> str:
    parts = file.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: Path, source: str | None = None) -> Iterator[str]:
    """Every module or name of the package that a file asks for, wherever it stands, and each that it names in a string alone."""
    tree = ast.parse(file.read_text(encoding="utf-8") if source is None else source)
    package = module_of(file) if file.stem == "__init__" else module_of(file).rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and (name := _named(node.value)):
            yield name


def _named(value: object) -> str | None:
    """A module that a string names for importlib, whole or up to the part that is filled in."""
    found = NAMED.fullmatch(value.rstrip(".")) if isinstance(value, str) else None
    if found is None or not any(SOURCES.glob(f"{found[0].split('.')[1]}*")):
        return None
    return found[0]


def ours(names: Iterator[str]) -> Iterator[tuple[str, ...]]:
    for name in names:
        first, *rest = name.split(".")
        if first == PACKAGE and rest and rest[0] != "__version__":
            yield tuple(rest)


FILES = sorted(SOURCES.rglob("*.py"))


def test_every_module_has_a_layer_and_every_name_of_the_table_is_a_module():
    there = {file.stem for file in SOURCES.glob("*.py")} | {
        folder.name for folder in SOURCES.iterdir() if folder.is_dir() and any(folder.rglob("*.py*"))
    }
    assert set(layers()) == there - {"__init__", "__pycache__"}


def test_no_import_goes_upwards():
    place = layers()
    upwards = set()
    for file in FILES:
        own = (*module_of(file).split("."), "")[1]
        # The package itself is imported with whatever of it is: what it imports must stand on nothing above.
        at = place[own] if own else place["reads"] + 1
        for name in ours(imports(file)):
            if name[0] != own and place[name[0]] >= at:
                upwards.add(f"{module_of(file)} imports {'.'.join(name[:2])}")
    assert not upwards, sorted(upwards)


def test_no_chapter_imports_another_one():
    words = {page.word for page in (*chapters.book().chapters, *chapters.book().pages)}
    found = set()
    for file in FILES:
        parts = module_of(file).split(".")[1:]
        if len(parts) < 2 or parts[0] not in BY_CHAPTER or parts[1] not in words:
            continue
        for name in ours(imports(file)):
            if name[0] in BY_CHAPTER and len(name) > 1 and name[1] in words - {parts[1]}:
                found.add(f"{'.'.join(parts)} imports {'.'.join(name[:2])}")
    assert not found, sorted(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f():\n    from engineroom.show import dots", ("figures", "dots")),
        ("from engineroom import runs as kept", ("runs",)),
        ("import engineroom.ledger.rows", ("ledger", "rows")),
        ("from . import drawing", ("figures", "drawing")),
        ("from ..experiments import machine", ("experiments", "machine")),
        ("import importlib\nimportlib.import_module(f'engineroom.experiments.{word}')", ("experiments",)),
        ("COMMANDS = {'doctor': 'engineroom.doctor'}", ("doctor",)),
    ],
)
def test_an_import_is_seen_in_every_form(source, found):
    assert found in set(ours(imports(SOURCES / "figures" / "some.py", source)))
