"""From a master to what students and graders get.

A master is a text notebook in otter-grader's assign format. A line that ends in `# class seed` sets the seed of the
variant; it stands in the notebook, where students see it, and in the hidden tests, where they cannot change it. From a seed that is not 0
follow also the constants of the functions to be written (`engineroom.teach.varied`).
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import os
import re
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from engineroom import address_grammars, chapters, children, paths
from engineroom.errors import EngineRoomError
from engineroom.teach import fresh, varied
from engineroom.teach.grading.submissions import bound_names, used_names

__all__ = [
    "Handout",
    "Outcome",
    "Question",
    "WrongAnswer",
    "grade",
    "grade_wrong",
    "make",
    "masters",
    "questions",
    "right_answers",
    "say_what_to_install",
    "wrong_answers",
]

SEED_LINE = re.compile(r"^(\s*seed = )\d+(?=\s+# class seed$)", re.MULTILINE)
CHECK_CELL = re.compile(r'^grader\.check\("(\w+)"\)$')
PART = re.compile(r"# (BEGIN|END) (QUESTION|SOLUTION|TESTS)\b")
ORACLE_LINE = re.compile(r"^( +)(\w+) = \.\.\.  # class solution of (\w+)$", re.MULTILINE)
# What otter takes out of a solution.
MARKS = re.compile(
    r"^\"\"\" # BEGIN PROMPT\n.*?^\"\"\" # END PROMPT$|^ *# (?:BEGIN|END) SOLUTION.*?$|  # SOLUTION$",
    re.MULTILINE | re.DOTALL,
)
# The first cell of a student's notebook, and of a lab that is downloaded from a page. The wheel is a file: no registry has this package.
INSTALL = """\
# This notebook needs the book's package and otter-grader. Where they are missing, put engineroom-....whl, which your
# instructor gives you, beside the notebook and run this cell: it installs both.
try:
    import otter
    import engineroom
except ImportError:
    from pathlib import Path
    wheels = [str(file) for file in Path().glob("engineroom-*.whl")]
    assert wheels, "put engineroom-....whl beside this notebook, then run this cell again"
    %pip install -q otter-grader=={otter} {{wheels[-1]}}
"""
INSTALL_FOR_LAB = """\
# This lab needs the book's package. Where it is missing, put engineroom-....whl beside the notebook and run this cell: it
# installs the package. `make class` in the book's repository writes that file to _build/class; your instructor may have sent it.
try:
    import engineroom
except ImportError:
    from pathlib import Path
    wheels = [str(file) for file in Path().glob("engineroom-*.whl")]
    assert wheels, "put engineroom-....whl beside this notebook, then run this cell again"
    %pip install -q {wheels[-1]}
"""
KEEPS = "fresh.keeps"
# Cells that call otter's client, which wants a running kernel.
CLIENT_CELL = re.compile(r"^(grader\.|import otter|grader = )", re.MULTILINE)


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


@dataclass(frozen=True)
class Outcome:
    """What the tests say of the answer to one question."""

    question: str
    failed_visible: tuple[str, ...]  # messages of the failed tests
    failed_hidden: tuple[str, ...]
    error: str | None  # what the answer's own cell raised, if anything

    @property
    def has_passed(self) -> bool:
        return not (self.failed_visible or self.failed_hidden)

    @property
    def is_rejected_by_a_test(self) -> bool:
        """The answer runs, and at least one test finds it wrong rather than tripping over it."""
        failed = self.failed_visible + self.failed_hidden
        return self.error is None and any(
            name in message for message in failed for name in ("AssertionError", "Mistaken")
        )


def masters() -> list[Path]:
    """The masters of the chapters that are written."""
    folder = paths.root() / "notebooks" / "exercises"
    return sorted(folder / chapter.word / f"{chapter.word}.md" for chapter in chapters.written())


def make(master: Path, target: Path, *, seed: int = 0, run_tests: bool = True) -> Handout:
    """Writes `master`'s handouts into a folder of its name under `target`.

    With `run_tests`, otter executes the solution against its own archive in a kernel, about ten seconds.
    """
    jupytext, otter = _tools()
    notebook = jupytext.read(master)
    _prepare(notebook.cells, master, seed)
    folder = target / master.stem
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, _noise_silenced(), _quick_kernels(Path(scratch, "quick")):
        source = Path(scratch) / f"{master.stem}.ipynb"
        jupytext.write(notebook, source)
        otter.assign.main(str(source), str(folder), no_pdfs=True, no_run_tests=not run_tests)
    student = folder / "student" / f"{master.stem}.ipynb"
    say_what_to_install(student, INSTALL.format(otter=metadata.version("otter-grader")))
    archive = folder / "autograder" / f"{master.stem}-autograder.zip"
    next(archive.parent.glob(f"{master.stem}-autograder_*.zip")).replace(archive)
    return Handout(
        name=master.stem,
        student=student,
        solution=folder / "autograder" / f"{master.stem}.ipynb",
        autograder=archive,
    )


def say_what_to_install(notebook: Path, source: str = INSTALL_FOR_LAB) -> None:
    """Puts such a cell before all others, once: who opens the notebook without the book has nothing that it imports."""
    read = json.loads(notebook.read_text(encoding="utf-8"))
    if read["cells"] and read["cells"][0].get("id") == "install":
        return
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
    return _prepare(_jupytext().read(master).cells, master, seed)


def _prepare(cells: list[Any], master: Path, seed: int) -> list[Question]:
    """Sets the seed and each question's variant in the cells and, where a hidden test asks for it, the solution; what it found on the way."""
    wrong = wrong_answers(master)
    found: list[Question] = []
    before: list[str] = []
    tests: list[str] = []
    name = part = solution = ""
    variant: varied.Variant | None = None
    beginning: Any = None
    answer: Any = None
    for cell in list(cells):
        cell.source = SEED_LINE.sub(rf"\g<1>{seed}", cell.source)
        if cell.cell_type == "raw" and (mark := PART.match(cell.source)):
            begins, what = mark.group(1) == "BEGIN", mark.group(2)
            if what == "QUESTION" and begins:
                name = re.findall(r"^name: (\w+)$", cell.source, re.MULTILINE)[0]
                solution, tests = "", []
                variant, beginning, answer = varied.variant(master.stem, name, seed), cell, None
            elif what == "QUESTION":
                if variant:
                    cells.insert(cells.index(beginning), _said(variant, before, solution, tests))
                    answer.source = variant.notebook(answer.source, solution)
                    solution = variant.answer(solution, solution)
                found.append(Question(name, tuple(before), solution, tuple(tests)))
                before.append(solution)
            part = what if begins else ""
        elif cell.cell_type == "code" and part == "TESTS":
            planted = {each.misconception: each.code for each in wrong if each.question == name}
            cell.source = ORACLE_LINE.sub(
                lambda line: f"{line[1]}{line[2]} = {_oracle(line[3], before, solution, planted)}",  # noqa: B023
                cell.source,
            )
            if not (cell.source.startswith("# HIDDEN") or any(KEEPS in each for each in tests)):
                cell.source = _keeping(cell.source, bound_names(solution))
            if variant:
                cell.source = variant.test(cell.source, solution)
            tests.append(cell.source)
        elif cell.cell_type == "code" and part == "SOLUTION":
            answer = cell
            solution += MARKS.sub("", cell.source) + "\n"
        elif cell.cell_type == "code":
            before.append(cell.source)
    return found


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
            lines, at = (
                test.splitlines(),
                body.body[0].lineno - 1,
            )  # before what may have changed the class's data
            added = ["    from engineroom.teach import fresh", "", f"    {KEEPS}({asked})"]
            return "\n".join([*lines[:at], *added, *lines[at:]])
    return test


def _oracle(name: str, before: list[str], solution: str, planted: dict[str, str]) -> str:
    """The source of an oracle: of the cells before, those whose names it or a planted answer uses."""
    needed = _needed(before, solution, *planted.values())
    return f"fresh.Oracle({name!r}, {needed!r}, {solution!r}, {planted!r})"


def _needed(before: list[str], *codes: str) -> list[str]:
    wanted = {used for code in codes for used in used_names(code)}
    needed: list[str] = []
    for cell in reversed(before):
        if bound_names(cell) & wanted:
            needed.insert(0, cell)
            wanted |= used_names(cell)
    return needed


def _said(variant: varied.Variant, before: list[str], solution: str, tests: list[str]) -> Any:
    """The cell that tells a student the variant, with the first visible case as an example where its values can be written down."""
    import nbformat

    said = f"**Only in your notebook:** {variant.says}"
    visible = [each for each in tests if not each.startswith("# HIDDEN")]
    for name in variant.changes:
        own = variant.answer(solution, solution)
        function = fresh.Oracle(name, _needed(before, solution), own, {}).value
        for asked in variant.asked(name, solution, visible):
            with contextlib.suppress(Exception):  # a case that is refused is no example
                arguments = ", ".join(map(repr, asked))
                said += f" For example, `{name}({arguments})` is `{function(*asked)!r}`."
                break
    said += " The checks know your task; one that fails may show its case as it is without this sentence."
    return nbformat.v4.new_markdown_cell(said)  # type: ignore[no-untyped-call]


def right_answers(master: Path) -> list[WrongAnswer]:
    """Right answers in other words, as `right.md` beside it has them: each must pass."""
    file = master.with_name("right.md")
    return list(_answers(file, file.read_text()))


def wrong_answers(master: Path) -> list[WrongAnswer]:
    """The planted wrong answers: code cells of `wrong.md`, tagged with their question, each under its heading."""
    file = master.with_name("wrong.md")
    return list(_answers(file, file.read_text()))


@functools.cache
def _answers(file: Path, _text: str) -> tuple[WrongAnswer, ...]:
    answers, misconception = [], ""
    for cell in _jupytext().read(file).cells:
        if cell.cell_type == "markdown":
            misconception = re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)[-1]
        else:
            (question,) = cell.metadata["tags"]
            answers.append(WrongAnswer(question, misconception, cell.source))
    return tuple(answers)


def grade(
    handout: Handout,
    *,
    starter: bool = False,
    answers: Mapping[str, str] | None = None,
    until: str | None = None,
    fresh_seed: int = 0,
) -> dict[str, Outcome]:
    """Runs the solution notebook (or the starter) in this process, with some answers replaced, and all tests on it.

    `until` names the last question that is of interest. For our own notebooks only: nothing is isolated.
    """
    fresh.reseed(fresh_seed)
    jupytext, otter = _tools()
    notebook = jupytext.read(handout.student if starter else handout.solution)
    with zipfile.ZipFile(handout.autograder) as archive:
        sources = {
            Path(name).stem: archive.read(name).decode()
            for name in archive.namelist()
            if re.fullmatch(r"tests/\w+\.py", name)
        }

    answers = answers or {}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    outcomes = {}
    for question, cells in _by_question(notebook.cells):
        codes = [*cells[:-1], answers.get(question, cells[-1])]
        error = None
        for code in codes:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, f"<{handout.name}: {question}>", "exec"), namespace)  # noqa: S102
            except Exception as raised:  # noqa: BLE001 (whatever an answer raises is what we want to know)
                error = f"{type(raised).__name__}: {raised}"
        tests = otter.test_files.exception_test.ExceptionTestFile.from_string(sources[question])
        with contextlib.redirect_stdout(io.StringIO()):
            tests.run(namespace)
        failed = [result for result in tests.test_case_results if not result.passed]
        outcomes[question] = Outcome(
            question,
            tuple(result.message for result in failed if not result.test_case.hidden),
            tuple(result.message for result in failed if result.test_case.hidden),
            error,
        )
        if question == until:
            break
    return outcomes


def grade_wrong(handout: Handout, wrong: WrongAnswer) -> Outcome:
    """What the tests of its question say of a planted wrong answer in the place of the solution's."""
    return grade(handout, answers={wrong.question: wrong.code}, until=wrong.question)[wrong.question]


def _by_question(cells: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """The code cells up to each check of a question, the answer last, without those that call otter's client."""
    waiting: list[str] = []
    for cell in cells:
        if cell.cell_type != "code":
            continue
        check = CHECK_CELL.match(cell.source)
        if check:
            yield check.group(1), waiting
            waiting = []
        elif not CLIENT_CELL.search(cell.source):
            waiting.append(cell.source)


def _tools() -> tuple[Any, Any]:
    """jupytext and otter; only those who make or grade exercises need them."""
    try:
        with _noise_silenced():
            jupytext = _jupytext()
            import otter.assign
            import otter.test_files.exception_test
    except ImportError as error:
        raise EngineRoomError(
            f"{error.name} is not installed, and exercises are made with it",
            remedy="make class, or: pip install -r requirements/test.txt",
        ) from error
    return jupytext, otter


def _jupytext() -> Any:
    address_grammars.skip()
    import jupytext

    return jupytext


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
