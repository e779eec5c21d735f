"""What is to be graded: handouts with their questions, and the notebooks of a folder with their students."""

from __future__ import annotations

import ast
import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = [
    "CHECK_CELL",
    "Given",
    "Handouts",
    "Submission",
    "answer_cells",
    "bound_names",
    "code_cells",
    "find",
    "read_class",
    "read_handouts",
    "used_names",
]

CHECK_CELL = re.compile(r'^\s*grader\.check\("(\w+)"\)\s*$')
CLIENT_CELL = re.compile(r"^\s*(grader\.|import otter|grader = )", re.MULTILINE)
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class Given:
    """A chapter's handout: what its cells, checks and tests are. The tests are the instructor's, hidden ones too."""

    chapter: str
    questions: tuple[str, ...]
    cells: dict[str, list[str]]  # of the handout itself, by the question before whose check they stand
    answers: dict[str, list[str]]  # the names that its answer cells define
    ids: dict[str, str]  # id of an answer cell -> question
    tests: dict[str, str]
    points: dict[str, float]


@dataclass(frozen=True)
class Submission:
    """A notebook that somebody handed in, or why it cannot be read."""

    student: str
    chapter: str
    origin: str
    cells: list[dict[str, Any]] = field(repr=False)
    fault: str = ""


@dataclass(frozen=True)
class Handouts:
    """The handouts of a class: `shared` by chapter, and where each student has a variant, `own` by student and chapter."""

    shared: dict[str, Given]
    own: dict[str, dict[str, Given]] = field(default_factory=dict)

    def chapters(self) -> dict[str, Given]:
        """Each chapter with one of its variants: their questions and points are the same."""
        own = {chapter: given for mine in self.own.values() for chapter, given in mine.items()}
        return dict(sorted((self.shared | own).items()))

    def of(self, student: str, chapter: str) -> Given | None:
        """What this student was given; None for one who is not in the roster."""
        if self.own and student not in self.own:
            return None
        return self.own.get(student, {}).get(chapter) or self.shared.get(chapter)


def read_class(folder: Path) -> Handouts:
    """The handouts that `make class` or `engineroom class make` wrote."""
    if not (folder / "grading" / "students").is_dir():
        return Handouts(read_handouts(folder))
    shared, students = folder / "grading" / "shared", sorted((folder / "grading" / "students").iterdir())
    return Handouts(
        read_handouts(shared) if shared.is_dir() else {},
        {each.name: read_handouts(each) for each in students},
    )


def read_handouts(folder: Path) -> dict[str, Given]:
    """The handouts that `make class` wrote into `folder`, by chapter."""
    found: dict[str, Given] = {}
    for archive in sorted(folder.glob("*/autograder/*-autograder.zip")) if folder.is_dir() else ():
        chapter = archive.name.removesuffix("-autograder.zip")
        notebook = folder / chapter / "student" / f"{chapter}.ipynb"
        try:
            found[chapter] = _handout(chapter, json.loads(notebook.read_text()), archive)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise EngineRoomError(
                f"the handouts of {chapter} in {folder} are damaged: {error}", remedy="make class"
            ) from error
    if not found:
        raise EngineRoomError(
            f"{folder} holds no exercises to grade by",
            remedy="make class, or name the folder that it wrote with --class",
        )
    return found


def _handout(chapter: str, notebook: dict[str, Any], archive: Path) -> Given:
    cells: dict[str, list[str]] = {}
    answers: dict[str, list[str]] = {}
    ids: dict[str, str] = {}
    waiting: list[dict[str, Any]] = []
    for cell in code_cells(notebook):
        if check := CHECK_CELL.match(cell["source"]):
            question = check.group(1)
            own = [each for each in waiting if "otter_answer_cell" in each["tags"]]
            cells[question] = [each["source"] for each in waiting if each not in own]
            answers[question] = sorted(
                {name for each in own for name in bound_names(each["source"])},
            )
            ids |= {each["id"]: question for each in own if each["id"]}
            waiting = []
        elif not CLIENT_CELL.search(cell["source"]):
            waiting.append(cell)
    tests, points = {}, {}
    with zipfile.ZipFile(archive) as opened:
        for question in cells:
            tests[question] = opened.read(f"tests/{question}.py").decode()
            said = re.search(r"^points = ([\d.]+)$", tests[question], re.MULTILINE)
            points[question] = float(said.group(1)) if said else 1.0
    return Given(chapter, tuple(cells), cells, answers, ids, tests, points)


def find(folder: Path, chapters: list[str]) -> list[Submission]:
    """The submissions in `folder`: STUDENT/NOTEBOOK or STUDENT_CHAPTER.ipynb, also as otter's zip. Refuses a folder without any."""
    if not folder.is_dir():
        raise EngineRoomError(f"{folder} is no folder", remedy="name the folder that holds the submissions")
    found: dict[tuple[str, str], Submission] = {}
    try:
        listed = sorted(folder.rglob("*"))
    except OSError as error:
        raise EngineRoomError(
            f"{folder} cannot be read: {error.strerror}", remedy="check the folder and its permissions"
        ) from error
    for path in listed:
        inside = path.relative_to(folder)
        if path.suffix not in (".ipynb", ".zip") or not path.is_file():
            continue
        if any(part.startswith((".", "__MACOSX")) for part in inside.parts):
            continue
        for submission in _read(path, inside, chapters):
            found[submission.student, submission.chapter] = submission
    if not found:
        raise EngineRoomError(
            f"{folder} holds no notebook",
            remedy="put one folder per student in it, or notebooks called STUDENT_CHAPTER.ipynb",
        )
    return sorted(found.values(), key=lambda each: (each.student, each.chapter))


def _read(path: Path, inside: Path, chapters: list[str]) -> list[Submission]:
    try:
        texts = _texts(path)
        fault = ""
    except EngineRoomError as error:
        texts, fault = [(path.name, "")], error.problem
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        texts, fault = [(path.name, "")], f"{path.name} cannot be read: {error}"
    made = []
    for name, text in texts:
        notebook: dict[str, Any] = {}
        said = fault
        if not fault:
            try:
                notebook = json.loads(text)
                cells = code_cells(notebook)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                said = f"{name} is no notebook: {type(error).__name__}: {error}"
        if said:
            cells = []
        chapter = _chapter(notebook, (name, path.name), chapters)
        if not chapter:
            said, chapter = said or f"{name} belongs to no chapter of {', '.join(chapters)}", "?"
        student = inside.parts[0] if len(inside.parts) > 1 else _student(path.stem, chapter)
        made.append(Submission(files.visible(student), chapter, str(inside), cells, said))
    return made


def _texts(path: Path) -> list[tuple[str, str]]:
    if path.suffix == ".ipynb":
        return [(path.name, files.read_text(path, "notebook"))]
    with zipfile.ZipFile(path) as archive:
        members = [each for each in archive.infolist() if each.filename.endswith(".ipynb")]
        if any(each.file_size > files.LARGEST_BYTES for each in members):
            raise EngineRoomError(
                f"{path.name} holds a file that is too large", remedy="hand in the notebook"
            )
        if not members:
            raise EngineRoomError(f"{path.name} holds no notebook", remedy="hand in the notebook")
        return [(Path(each.filename).name, archive.read(each).decode()) for each in members[:20]]


def _chapter(notebook: Any, names: tuple[str, ...], chapters: list[str]) -> str:
    by_name = [each for name in names for each in chapters if each in name.replace("-", "_").lower()]
    if by_name:
        return max(by_name, key=len)
    metadata = notebook.get("metadata") if isinstance(notebook, dict) else None
    otter = metadata.get("otter") if isinstance(metadata, dict) else None
    said = otter.get("assignment_name") if isinstance(otter, dict) else None
    return said if said in chapters else ""


def _student(stem: str, chapter: str) -> str:
    left = re.sub(re.escape(chapter).replace("_", "[_-]"), "", stem, flags=re.IGNORECASE).strip(" _-.")
    return left or stem


def answer_cells(given: Given, submission: Submission, question: str) -> list[dict[str, str]]:
    """The cells to run for one question: the handout's as they were handed out, and of the student's those that it needs.

    The cells of other questions are run only where the answer uses a name that they define, so that what is wrong with them
    costs nothing here.
    """
    own: dict[str, list[str]] = {each: [] for each in given.questions}
    known = {cell.strip() for cells in given.cells.values() for cell in cells}
    waiting: list[dict[str, Any]] = []

    def keep(name: str) -> None:
        for cell in waiting:
            target = given.ids.get(cell["id"], name)
            if cell["source"].strip() not in known and not CLIENT_CELL.search(cell["source"]):
                own.setdefault(target, []).append(MAGIC.sub(r"\1pass", cell["source"]))
        waiting.clear()

    for cell in submission.cells:
        if check := CHECK_CELL.match(cell["source"]):
            keep(check.group(1))
        else:
            waiting.append(cell)
    keep("")

    made_by_us = {name for cells in given.cells.values() for cell in cells for name in bound_names(cell)}
    wanted = {name for cell in own[question] for name in used_names(cell)} - made_by_us
    until = given.questions[: given.questions.index(question) + 1]
    others = [
        (each, cell) for each in ("", *given.questions) for cell in own.get(each, []) if each != question
    ]
    chosen: set[int] = set()
    while more := [i for i, (_, cell) in enumerate(others) if i not in chosen and wanted & bound_names(cell)]:
        chosen |= set(more)
        wanted |= {name for i in more for name in used_names(others[i][1])} - made_by_us
    cells = []
    for each in until:
        cells += [{"name": "given", "source": cell} for cell in given.cells[each]]
        cells += [
            {"name": "other", "source": cell}
            for i, (at, cell) in enumerate(others)
            if i in chosen and at == each
        ]
    cells += [
        {"name": "other", "source": cell}
        for i, (at, cell) in enumerate(others)
        if i in chosen and at not in until
    ]
    return cells + [{"name": "answer", "source": cell} for cell in own[question]]


def code_cells(notebook: Any) -> list[dict[str, Any]]:
    """The code cells of a notebook, each as its source, id and tags."""
    made = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        tags = cell.get("metadata", {}).get("tags", [])
        made.append({"source": text, "id": str(cell.get("id", "")), "tags": tags})
    return made


def bound_names(source: str) -> set[str]:
    """The names that a cell defines at its top, functions and classes and values."""
    names: set[str] = set()
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return names
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names


def used_names(source: str) -> set[str]:
    """The names that a cell reads."""
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
