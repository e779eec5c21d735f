"""From a master (`engineroom.teach.masters`) to what students and graders get, which otter-grader makes of a notebook in its assign format.

A line that ends in `# class seed` sets the seed, from which the data of questions follow. A student's notebook has them written out (`engineroom.teach.varied`);
the seed stands in the hidden tests, where students cannot change it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from engineroom import __version__, address_grammars, children
from engineroom.errors import EngineRoomError
from engineroom.teach import refused, varied
from engineroom.teach.grading.submissions import bound_names, used_names
from engineroom.teach.masters import SEED_LINE, Asked, marked, read
from engineroom.teach.masters import files as masters

__all__ = [
    "KERNEL", "SEED_LINE", "Handout", "Question", "WrongAnswer", "install_cell", "make", "masters", "questions",
    "say_what_to_install", "wrong_answers",
]  # fmt: skip

AGREES = re.compile(r"^(agree(?:_value)?)\((\w+)", re.MULTILINE)
CONFIG = """\
# ASSIGNMENT CONFIG
name: {name}
solutions_pdf: false
export_cell:
  pdf: false
  instructions: Hand in the zip file that this cell writes.
generate:
  show_stdout: false
  pdf: false
tests:
  files: false
  ok_format: false"""
# The first cell of a notebook that goes to readers and students. The package comes from nowhere but the folder and the book's own
# releases: no index has it, and what had its name there would be somebody else's.
INSTALL = """\
# This notebook needs {names}. Where that is missing, run this cell: it takes the package from
# engineroom-....whl beside the notebook{releases}, and all that the package needs from your index of packages.
# Your instructor may have sent that file; `make class` in the book's repository packs it into students.zip.
try:
    import {modules}
except ImportError:
    %pip install -q --no-index --no-deps --find-links .{links} engineroom=={version}
    assert not _exit_code, "put engineroom-{version}-....whl, made for this system and this Python, beside this notebook, then run this cell again"
    %pip install -q {needed}
"""
KEEPS = "fresh.keeps"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Handout:
    """What `make` wrote for one master."""

    name: str
    student: Path  # notebook without solutions and hidden tests
    solution: Path  # notebook with solutions, for the instructor
    autograder: Path  # archive for `otter run` and `otter grade`


@dataclass(frozen=True)
class WrongAnswer:
    """A planted answer that the tests of its question must reject."""

    question: str
    misconception: str
    code: str


@dataclass(frozen=True)
class Question:
    """A question of a master, with everything that its solution stands on."""

    name: str
    before: tuple[str, ...]  # given cells and earlier solutions, in order
    solution: str
    tests: tuple[str, ...]


def make(master: Path, target: Path, *, seed: int = 0, run_tests: bool = True) -> Handout:
    """Writes `master`'s handouts into a folder of its name under `target`.

    With `run_tests`, otter executes the solution against its own archive in a kernel, about ten seconds.
    """
    nbformat, otter = _tools()
    notebook = nbformat.v4.new_notebook(cells=_cells(master, seed), metadata={"kernelspec": KERNEL})
    folder = target / master.stem
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, _noise_silenced(), _quick_kernels(Path(scratch, "quick")):
        source = Path(scratch) / f"{master.stem}.ipynb"
        nbformat.write(notebook, source)
        otter.assign.main(str(source), str(folder), no_pdfs=True, no_run_tests=not run_tests)
    student = folder / "student" / f"{master.stem}.ipynb"
    say_what_to_install(student, install_cell(otter=metadata.version("otter-grader")))
    archive = folder / "autograder" / f"{master.stem}-autograder.zip"
    next(archive.parent.glob(f"{master.stem}-autograder_*.zip")).replace(archive)
    return Handout(
        name=master.stem,
        student=student,
        solution=folder / "autograder" / f"{master.stem}.ipynb",
        autograder=archive,
    )


def install_cell(*, otter: str = "", wheels: str = "") -> str:
    """Such a cell; with `otter` for a notebook that needs this version of it, with `wheels` also from a page that links to the book's."""
    return INSTALL.format(
        names="the book's package and otter-grader" if otter else "the book's package",
        modules="otter, engineroom.runs" if otter else "engineroom.runs",
        releases=" or from the book's release" if wheels else "",
        links=f" --find-links {wheels}" if wheels else "",
        version=__version__,
        needed=f"engineroom=={__version__} otter-grader=={otter}"
        if otter
        else f'"engineroom[cluster]=={__version__}"',
    )


def say_what_to_install(notebook: Path, source: str) -> None:
    """Puts such a cell before all others, or in the place of the one that is there: who opens the notebook without the book has nothing that it imports."""
    read = json.loads(notebook.read_text(encoding="utf-8"))
    if read["cells"] and read["cells"][0].get("id") == "install":
        del read["cells"][0]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "install",
        "metadata": {},
        "outputs": [],
    }
    read["cells"].insert(0, cell | {"source": source})
    notebook.write_text(json.dumps(read, indent=1) + "\n", encoding="utf-8")


def questions(master: Path, *, seed: int = 0) -> list[Question]:
    """The questions of a master, their tests with the oracles in them. Needs no otter."""
    read_master = read(master, seed=seed)
    before, found = list(read_master.given), []
    for asked in read_master.questions:
        before += asked.given
        solution = asked.solution + "\n"
        visible = list(asked.visible)  # of which the first that can tells what is changed
        for number, test in enumerate(visible):
            visible[number] = _keeping(test, bound_names(solution))
            if visible[number] != test:
                break
        hidden = [f"# HIDDEN\n{test}" for test in (*asked.hidden, _drawn(asked, before))]
        found.append(Question(asked.name, tuple(before), solution, (*visible, *hidden)))
        before.append(solution)
    return found


def _cells(master: Path, seed: int) -> list[Any]:
    """Those of otter's notebook, with the data and the solutions that are no functions written out."""
    code, markdown, raw = (
        getattr(_nbformat().v4, f"new_{kind}_cell") for kind in ("code", "markdown", "raw")
    )
    read_master, written = read(master, seed=seed), varied.WrittenOut()

    def given(sources: tuple[str, ...]) -> list[Any]:
        return [code(text) for source in sources if (text := written.cell(source))]

    cells = [raw(CONFIG.format(name=master.stem)), markdown(read_master.introduction)]
    cells += given(read_master.given)
    for asked, question in zip(read_master.questions, questions(master, seed=seed), strict=True):
        cells += [markdown(f"## {asked.heading}\n\n{asked.text}"), *given(asked.given)]
        cells.append(raw(f"# BEGIN QUESTION\nname: {asked.name}\npoints: {asked.points}"))
        cell = marked(written.cell(asked.solution), asked.starter) if asked.starter else asked.cell
        cells += [raw("# BEGIN SOLUTION"), code(cell), raw("# END SOLUTION")]
        cells += [raw("# BEGIN TESTS"), *map(code, question.tests), raw("# END TESTS"), raw("# END QUESTION")]
    return cells


def _drawn(asked: Asked, before: list[str]) -> str:
    """The hidden test whose oracle is the solution of the question."""
    names = [name for _, name in AGREES.findall(asked.drawn)]
    if not names:
        raise EngineRoomError(
            f"{asked.heading} has neither a starter nor a test that draws inputs",
            remedy="add one, as src/engineroom/teach/masters.py says",
        )
    oracles = {name: "oracle" if len(names) == 1 else f"{name}_oracle" for name in names}
    needed = _needed(before, asked.solution, *(code for _, code in asked.wrong))
    made = [
        f"{oracle} = fresh.Oracle({name!r}, {needed!r}, {asked.solution!r}, {dict(asked.wrong)!r})"
        for name, oracle in oracles.items()
    ]
    body = AGREES.sub(lambda call: f"fresh.{call[1]}({call[2]}, {oracles[call[2]]}", asked.drawn)
    heading = [refused.said(asked.declared["refused"])] if "refused" in asked.declared else []
    lines = "\n".join([*heading, "from engineroom.teach import fresh", "", *made, "", body])
    return f"def test_inputs_drawn_when_it_is_graded({', '.join(names)}):\n{textwrap.indent(lines, '    ')}"


def _keeping(test: str, functions: set[str]) -> str:
    """A visible test that also tells who changes what a function is given: hidden tests refuse that, and a student must see it coming."""
    (body,) = (node for node in ast.parse(test).body if isinstance(node, ast.FunctionDef))
    known = {each.arg for each in body.args.args}
    for call in (node for node in ast.walk(body) if isinstance(node, ast.Call) and not node.keywords):
        used = {node.id for arg in call.args for node in ast.walk(arg) if isinstance(node, ast.Name)}
        holds = any(
            isinstance(node, ast.List | ast.Set | ast.Dict | ast.Name)
            for arg in call.args
            for node in ast.walk(arg)
        )
        if isinstance(call.func, ast.Name) and call.func.id in functions & known and holds and used <= known:
            asked = ", ".join([call.func.id, *map(ast.unparse, call.args)])
            lines, at = test.splitlines(), body.body[0].lineno - 1  # before what may change the class's data
            added = ["    from engineroom.teach import fresh", "", f"    {KEEPS}({asked})"]
            return "\n".join([*lines[:at], *added, *lines[at:]])
    return test


def _needed(before: list[str], *codes: str) -> list[str]:
    wanted = {used for code in codes for used in used_names(code)}
    needed: list[str] = []
    for cell in reversed(before):
        if bound_names(cell) & wanted:
            needed.insert(0, cell)
            wanted |= used_names(cell)
    return needed


def wrong_answers(master: Path) -> list[WrongAnswer]:
    """The planted wrong answers."""
    return [
        WrongAnswer(each.name, misconception, code)
        for each in read(master).questions
        for misconception, code in each.wrong
    ]


def _tools() -> tuple[Any, Any]:
    """nbformat and otter; only those who make or grade exercises need them."""
    try:
        with _noise_silenced():
            nbformat = _nbformat()
            import otter.assign
    except ImportError as error:
        raise EngineRoomError(
            f"{error.name} is not installed, and exercises are made with it",
            remedy="make class, or: pip install -r requirements/test.txt",
        ) from error
    return nbformat, otter


def _nbformat() -> Any:
    address_grammars.skip()
    import nbformat

    return nbformat


@contextlib.contextmanager
def _quick_kernels(folder: Path) -> Iterator[None]:
    """What otter starts builds no grammars either."""
    folder.mkdir()
    address_grammars.skip_in(folder)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    with children.variable("PYTHONPATH", path):
        yield


@contextlib.contextmanager
def _noise_silenced() -> Iterator[None]:
    """otter's dependencies warn about one another; its kernels complain that they cannot be debugged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
