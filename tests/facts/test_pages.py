"""Pages and labs: every fact is used and every used one exists, and no cell hides a program."""

from __future__ import annotations

import ast
import importlib
import re
import string
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from engineroom import facts, paths
from engineroom.facts import Facts, Range

MOST_LINES, LONGEST_LINE = 5, 150
PAGES = sorted(path.stem for path in Path(facts.__file__).parent.glob("*.py") if path.stem != "__init__")
SOURCES = sorted([*paths.root().glob("book/*.md"), *paths.root().glob("notebooks/*.md")])
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GLUED = re.compile(r"\{glue(?::\w+)?\}`([^`]+)`")


@dataclass(frozen=True)
class Cell:
    """A code cell of a page: its tags and its code without options and empty lines."""

    tags: frozenset[str]
    lines: tuple[str, ...]

    @property
    def is_hidden(self) -> bool:
        return bool(self.tags & {"remove-cell", "remove-input", "hide-cell", "hide-input"})


def cells(page: Path) -> Iterator[Cell]:
    for found in CELL.finditer(page.read_text(encoding="utf-8")):
        body = re.sub(r"\A---\n.*?^---\n", "", found[1], flags=re.MULTILINE | re.DOTALL)
        lines = tuple(line for line in body.splitlines() if line.strip() and not line.startswith(":"))
        tags = re.search(r"^(?::tags:|tags:) \[(.*)\]$", found[1], re.MULTILINE)
        yield Cell(frozenset(re.findall(r"[\w-]+", tags[1]) if tags else ()), lines)


def page_of(name: str) -> Path:
    return paths.root() / "book" / f"{name}.md"


def kind_of(page: str) -> type[Facts]:
    """The class that a module's `facts()` promises; nothing is computed."""
    returned: type[Facts] = typing.get_type_hints(importlib.import_module(f"engineroom.facts.{page}").facts)[
        "return"
    ]
    return returned


def groups(kind: type[Facts]) -> Iterator[type[Facts]]:
    yield kind
    for hint in typing.get_type_hints(kind).values():
        if isinstance(hint, type) and issubclass(hint, Facts):
            yield from groups(hint)


EVERY_GROUP = [(page, group) for page in PAGES for group in groups(kind_of(page))]


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_no_cell_hides_more_than_five_short_lines(page: Path) -> None:
    hidden = [cell.lines for cell in cells(page) if cell.is_hidden]
    assert [lines for lines in hidden if len(lines) > MOST_LINES] == []
    assert [line for lines in hidden for line in lines if len(line) > LONGEST_LINE] == []
    assert [line for lines in hidden for line in lines if ";" in line] == []


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_page_glues_facts_of_its_own_module_and_nothing_else(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    used = set(GLUED.findall(text))
    known = facts.names(kind_of(page.stem)) if page.parent.name == "book" and page.stem in PAGES else []
    assert used - set(known) == set()
    code = "\n".join(line for cell in cells(page) for line in cell.lines)
    assert "glue(" not in code


@pytest.mark.parametrize("page", PAGES)
def test_the_page_uses_every_fact(page: str) -> None:
    text = page_of(page).read_text(encoding="utf-8")
    assert set(facts.names(kind_of(page))) - set(GLUED.findall(text)) == set()


@pytest.mark.parametrize("page", PAGES)
def test_a_cell_shows_every_table_and_asks_for_nothing_that_is_not_there(page: str) -> None:
    code = "\n".join("\n".join(cell.lines) for cell in cells(page_of(page)))
    assert not facts.names(kind_of(page)) or f'seen = facts.of("{page}")' in code
    asked = {
        ast.unparse(node).removeprefix("seen.")
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("seen.")
    }
    whole = {name for name in asked if not any(other.startswith(f"{name}.") for other in asked)}
    assert whole == set(facts.shown_by_cells(kind_of(page)))


# A quantity's unit, as the end of its name or within it.
UNITS = re.compile(r"(^|_)(s|ms|us|ns|percent|ratio|bytes|rows|load)$|_per_")


@pytest.mark.parametrize(
    ("page", "group"), EVERY_GROUP, ids=lambda each: each if isinstance(each, str) else each.__name__
)
def test_a_quantity_has_its_unit_in_its_name(page: str, group: type[Facts]) -> None:
    hints = typing.get_type_hints(group)
    of_values = {
        name: typing.get_args(hint)[1] if typing.get_origin(hint) is Mapping else hint
        for name, hint in hints.items()
    }
    assert [
        name for name, hint in of_values.items() if hint in (float, Range) and not UNITS.search(name)
    ] == []
    assert group.__doc__ is not None
    assert "(*" not in group.__doc__, f"{group.__name__} of {page} has no docstring of its own"


@pytest.mark.parametrize(
    ("page", "group"), EVERY_GROUP, ids=lambda each: each if isinstance(each, str) else each.__name__
)
def test_a_printed_unit_is_the_one_in_the_name(page: str, group: type[Facts]) -> None:
    for each in fields(group):
        shown = each.metadata.get("shown", "")
        unit = re.search(r"\} ?([a-z%]+)$", shown) if isinstance(shown, str) else None
        if unit:
            said = {"%": "percent"}.get(unit[1], unit[1])
            assert each.name.endswith(f"_{said}") or f"_{said}_" in each.name, (page, each.name, shown)


def test_formats_have_one_place_for_the_value() -> None:
    for page, group in EVERY_GROUP:
        for each in fields(group):
            if isinstance(shown := each.metadata.get("shown"), str):
                places = [name for _, name, _, _ in string.Formatter().parse(shown) if name is not None]
                assert len(places) == 1, (page, each.name)
