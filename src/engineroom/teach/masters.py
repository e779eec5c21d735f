"""The exercises of a chapter as they are written, `notebooks/exercises/<word>.md`: a text notebook that runs from top to bottom.

Before the first question stands what all are given. A question is its heading, `*Kind, ★★, 15 minutes, 2 points: concept.*`, what is asked with three hints, code cells
with what it is given, `*Solution.*` with what the page says of it, and the solution: the last code cell, of whose functions a student gets no more than the docstrings.
A `toml` block may have

    data = "EXPRESSION"    what the page shows of what is given
    seed = "NAME"          the given data that follow from the class seed (`engineroom.teach.varied`)
    refused = ["engineroom._native.MODULE"]    what would answer the question: nothing of it can be called when it is graded

The rest are snippets in `python` blocks, each under a comment that says what it is:

    # Starter           what a student gets in the place of a solution that is no function
    # Visible           tests that students have, a function each
    # Hidden            tests that they do not have
    # Drawn             the test that draws inputs: `agree(FUNCTION, inputs, ...)` as in `engineroom.teach.fresh`, whose oracle is the solution. Left out, the values
                        that the starter names have to be the solution's
    # Wrong: BELIEF     a planted answer that a test must reject
    # Right             the same as the solution in other words: it must pass
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from engineroom import chapters, paths
from engineroom.errors import EngineRoomError

__all__ = ["SEED_LINE", "Asked", "Master", "files", "marked", "read"]

SEED_LINE = re.compile(r"^(\s*seed = )\d+(?=\s+# class seed$)", re.MULTILINE)
FENCE = re.compile(r"^```(\{code-cell\}|toml|python).*\n((?s:.*?))^```$\n?", re.MULTILINE)
SNIPPET = re.compile(r"^# (Starter|Visible|Hidden|Drawn|Wrong: .+|Right)\n", re.MULTILINE)
HEAD = re.compile(
    r"^## Question (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"\*(?P<kind>\w+), (?P<stars>★{1,3}), (?P<minutes>\d+) minutes, (?P<points>\d+) points?: (?P<concept>.+)\.\*\n"
)
MARK = re.compile(r"^ *# (?:BEGIN|END) SOLUTION\n?|  # SOLUTION$", re.MULTILINE)
HINT = re.compile(r"^\*(Hint \d)\.\* (.+(?:\n.+)*)$", re.MULTILINE)
FOLDED = r"<details><summary>\1</summary>\n\n\2\n\n</details>"
SOLUTION = "*Solution.* "


@dataclass(frozen=True)
class Asked:
    """A question as its master has it."""

    name: str
    title: str
    kind: str
    stars: int
    minutes: int
    points: int
    concept: str
    text: str  # what a student reads below the heading, each hint folded
    given: tuple[str, ...]
    told: str  # what the page says of the solution
    solution: str
    cell: str  # the solution as otter wants it, with marks around all that a student does not get
    starter: str
    visible: tuple[str, ...]
    hidden: tuple[str, ...]
    drawn: str
    wrong: tuple[tuple[str, str], ...]  # belief and answer
    right: tuple[str, ...]
    declared: dict[str, Any]  # the `toml` block

    @property
    def heading(self) -> str:
        return f"Question {self.name[1:]}. {self.title}"


@dataclass(frozen=True)
class Master:
    """All exercises of a chapter."""

    introduction: str
    given: tuple[str, ...]
    on_page: str  # a sentence of the page's own
    questions: tuple[Asked, ...]


def files() -> list[Path]:
    """Those of the chapters that are written."""
    folder = paths.root() / "notebooks" / "exercises"
    return sorted(folder / f"{chapter.word}.md" for chapter in chapters.written())


def read(path: Path, *, seed: int = 0) -> Master:
    """The master at `path`, with a class's seed in it."""
    return _read(path, SEED_LINE.sub(rf"\g<1>{seed}", path.read_text(encoding="utf-8")))


@functools.cache
def _read(path: Path, text: str) -> Master:
    _, head, body = text.split("---\n", 2)
    beginning, *questions = re.split(r"^(?=## Question )", body, flags=re.MULTILINE)
    return Master(
        introduction=FENCE.sub("", beginning).strip(),
        given=tuple(code for kind, code in _blocks(beginning) if kind == "{code-cell}"),
        on_page=yaml.safe_load(head).get("on_page", ""),
        questions=tuple(_asked(path, each) for each in questions),
    )


def _blocks(text: str) -> list[tuple[str, str]]:
    return [(found[1], found[2].strip("\n")) for found in FENCE.finditer(text)]


def _not_so(path: Path, what: str, text: str) -> EngineRoomError:
    return EngineRoomError(
        f"{path.name} has {what}, that cannot be read: {text[:200]!r}",
        remedy="write it as src/engineroom/teach/masters.py says",
    )


def _asked(path: Path, text: str) -> Asked:
    head = HEAD.match(text)
    if head is None:
        raise _not_so(path, "the heading of a question, and the line below it", text)
    said, _, told = FENCE.sub("", text[head.end() :]).partition(SOLUTION)
    blocks = _blocks(text)
    *given, solution = (code for block, code in blocks if block == "{code-cell}")
    snippets: dict[str, list[str]] = {}
    for block, code in blocks:
        if block == "python":
            nothing, *parts = SNIPPET.split(code)
            if nothing:
                raise _not_so(path, "a snippet without a comment that says what it is", nothing)
            for name, snippet in zip(parts[::2], parts[1::2], strict=True):
                snippets.setdefault(name, []).append(snippet.strip("\n"))

    def tests(name: str) -> tuple[str, ...]:
        parts = re.split(r"^(?=def )", "\n".join(snippets.get(name, [])), flags=re.MULTILINE)
        return tuple(each.rstrip() for each in parts if each.strip())

    def one(name: str) -> str:
        return "".join(snippets.get(name, []))

    starter = one("Starter")
    values = [
        target.id
        for node in ast.parse(starter).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    kind, stars, minutes, concept = head.group("kind", "stars", "minutes", "concept")
    declared = tomllib.loads("\n".join(code for block, code in blocks if block == "toml"))
    refused = " and ".join(f"`{name}`" for name in declared.get("refused", ()))
    without = f" Graded without {refused}." if refused else ""
    return Asked(
        name=f"q{head['number']}",
        title=head["title"],
        kind=kind.lower(),
        stars=len(stars),
        minutes=int(minutes),
        points=int(head["points"]),
        concept=concept,
        text=f"*{kind}, {stars}, {minutes} minutes: {concept}.{without}*\n\n{HINT.sub(FOLDED, said.strip())}",
        given=tuple(given),
        told=told.strip(),
        solution=MARK.sub("", solution),
        cell=marked(solution, starter),
        starter=starter,
        visible=tests("Visible"),
        hidden=tests("Hidden"),
        drawn=one("Drawn") or "\n".join(f"agree_value({value})" for value in values),
        wrong=tuple(
            (name.removeprefix("Wrong: "), code)
            for name, codes in snippets.items()
            if name.startswith("Wrong: ")
            for code in codes
        ),
        right=tuple(snippets.get("Right", [])),
        declared=declared,
    )


def marked(solution: str, starter: str) -> str:
    """A solution with otter's marks. One that has its own keeps them."""
    if starter:
        return (
            f"# BEGIN SOLUTION NO PROMPT\n{solution}\n# END SOLUTION\n"
            f'""" # BEGIN PROMPT\n{starter}\n""" # END PROMPT'
        )
    if "# BEGIN SOLUTION" in solution:
        return solution
    lines = solution.splitlines()
    for node in reversed(ast.parse(solution).body):
        if isinstance(node, ast.FunctionDef):
            lines.insert(node.end_lineno or 0, "    # END SOLUTION")
            lines.insert(node.body[0].end_lineno or 0, "    # BEGIN SOLUTION")
    return "\n".join(lines)
