"""What is to be graded: handouts with their questions, and the notebooks of a folder with their students."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engineroom import files
from engineroom.errors import EngineRoomError
from engineroom.teach.grading import exports
from engineroom.teach.grading.apart import apart
from engineroom.teach.grading.roster import Person, Roster, plain

__all__ = [
    "CHECK_CELL", "Given", "Handouts", "Submission", "answer_cells", "bound_names", "code_cells", "find", "read_class",
    "read_handouts", "used_names",
]  # fmt: skip

CHECK_CELL = re.compile(r'^\s*grader\.check\("(\w+)"\)\s*$')
CHECK = re.compile(r"""grader\.check\(\s*["'](\w+)""")
CLIENT_CELL = re.compile(r"^[^\S\n]*+(grader\.|import otter|grader = )", re.MULTILINE)
# Many times what an exercise has.
MOST_MEMBERS, MOST_CELLS, MOST_SOURCE = 20, 1000, 512 * 2**10
MAGIC = re.compile(r"^([^\S\n]*+)[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class Given:
    """A chapter's handout: what its cells, checks and tests are. The tests are the instructor's, hidden ones too."""

    chapter: str
    questions: tuple[str, ...]
    cells: dict[str, list[str]]  # of the handout itself, by the question before whose check they stand
    answers: dict[str, list[str]]  # the names that its answer cells define
    handed_out: frozenset[str]  # what its cells say before anybody has answered
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
    says: exports.Who = field(default_factory=dict)  # of the student, the path of its file
    person: Person | None = None  # none for somebody who is not in the roster


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
    handed_out = frozenset(each["source"].strip() for each in code_cells(notebook))
    return Given(chapter, tuple(cells), cells, answers, handed_out, ids, tests, points)


def find(
    folder: Path,
    chapters: list[str],
    *,
    pattern: re.Pattern[str] | None = None,
    roster: Roster | None = None,
) -> list[Submission]:
    """The submissions in `folder`, which holds what an LMS exports, STUDENT/NOTEBOOK or STUDENT_CHAPTER.ipynb. Refuses a folder without any.

    `pattern` says instead which part of a path is the student, by named groups. With a roster, a student is called by the id there.
    """
    if not folder.is_dir():
        raise EngineRoomError(
            f"{folder} is no folder", remedy="name the folder that holds the submissions, unpacked"
        )
    try:
        listed = sorted(folder.rglob("*"), key=_in_order)
    except OSError as error:
        raise EngineRoomError(
            f"{folder} cannot be read: {error.strerror}", remedy="check the folder and its permissions"
        ) from error
    submitters = functools.cache(exports.submitters)
    found: list[Submission] = []
    for path in listed:
        inside = path.relative_to(folder)
        if _is_handed_in(path) and not any(part.startswith((".", "__MACOSX")) for part in inside.parts):
            place = (
                exports.matched(inside, pattern)
                if pattern
                else exports.placed(folder, inside, chapters, submitters)
            )
            found += _read(path, place, chapters)
    if not found:
        raise EngineRoomError(
            f"{folder} holds no notebook",
            remedy="put in it what your LMS exports, unpacked, or one folder per student, or notebooks called STUDENT_CHAPTER.ipynb",
        )
    alike = _look_alike({each.student for each in found})
    known = [_known(each, roster, alike) for each in found]
    return sorted(_one_each(known), key=lambda each: (each.student, each.chapter))


def _in_order(path: Path) -> list[str | int]:
    """By the numbers in its name, too: the tenth attempt is behind the ninth."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", str(path))]


def _is_handed_in(path: Path) -> bool:
    """Notebooks and archives, whatever they are, and what should be a student's folder and leads elsewhere."""
    with contextlib.suppress(OSError):  # of a folder that we may not enter
        if path.is_dir():
            return path.is_symlink()
    return path.suffix in (".ipynb", ".zip")


def _known(submission: Submission, roster: Roster | None, alike: set[str]) -> Submission:
    """The submission with its student: as the roster has one, or as its file says where there is no roster."""
    if submission.student in alike:
        fault = submission.fault or f"the name {submission.student!a} looks like another student's"
        return replace(submission, cells=[], fault=fault)
    says = submission.says
    if roster is None:
        name, email, number = (says.get(kind, "") for kind in ("name", "email", "canvas"))
        return replace(
            submission, person=Person(submission.student, name or submission.student, email, number)
        )
    try:
        person = roster.find(says)
    except EngineRoomError as error:
        return replace(submission, cells=[], fault=submission.fault or error.problem)
    if person is None:
        return submission
    person = replace(person, canvas=says.get("canvas") or person.canvas)
    return replace(submission, student=person.id, person=person)


def _one_each(found: list[Submission]) -> list[Submission]:
    """Of each student one notebook per chapter, the last one; the others say why not they. None of two that came by different names."""
    whole: dict[tuple[str, str], list[Submission]] = {}
    for each in found:
        if not each.fault:
            whole.setdefault((each.student, each.chapter), []).append(each)
    kept = [each for each in found if each.fault]
    for same in whole.values():
        *others, last = same
        if all(each.says == last.says for each in others):
            why = f"another notebook of this student is graded: {last.origin}"
            kept += [*(replace(each, cells=[], fault=why) for each in others), last]
        else:
            why = f"{last.student} handed in {last.chapter} by different names: {', '.join(_called(each.says) for each in same)}"
            kept += [
                replace(each, student=_called(each.says), person=None, cells=[], fault=why) for each in same
            ]
    return kept


def _called(says: exports.Who) -> str:
    """A student by what a file says: nobody else's, also where two have one name."""
    number = says.get("canvas") or says.get("moodle")
    named = next(says[kind] for kind in ("student", "id", "email", "name") if kind in says)
    return _shown(f"{named}_{number}" if number else named)


def _look_alike(students: set[str]) -> set[str]:
    """Whoever a reader takes for another student: the names are the same without what nobody sees. The plain one is no such name."""
    seen = [plain(each) for each in students]
    return {each for each in students if each != plain(each) and seen.count(plain(each)) > 1}


def _read(path: Path, place: exports.Place, chapters: list[str]) -> list[Submission]:
    try:
        if path.is_symlink() or not path.is_file():
            raise EngineRoomError(f"{path.name} is no file of its own", remedy="hand in the notebook")
        read = apart(_notebooks, path)
    except (EngineRoomError, OSError) as error:
        read = [(path.name, "", [], getattr(error, "problem", f"{path.name} cannot be read: {error}"))]
    made = []
    for name, assignment, cells, said in read:
        named = place.file if name == path.name else name  # the file's own name may begin with the student's
        by_name = _chapter(named, chapters) or _chapter(place.file, chapters)
        known = (_chapter(place.chapter, chapters), assignment, by_name, place.folder)
        chapter = next((each for each in known if each in chapters), "?")
        fault = place.fault or said
        if chapter == "?":
            fault = fault or f"{name} belongs to no chapter of {', '.join(chapters)}"
        origin = _shown(str(place.inside))
        for who in place.who or ({"student": _student(path.stem, chapter)},):
            made.append(Submission(_called(who), chapter, origin, cells, fault, who))
    return made


def _shown(name: str) -> str:
    """The name of a file, of which not all need be text."""
    return files.visible(name.encode("utf-8", "backslashreplace").decode())


def _notebooks(path: Path) -> list[tuple[str, str, list[dict[str, Any]], str]]:
    """Of each notebook in a file its name, the assignment that it names, its code cells, and why it cannot be read."""
    if path.suffix == ".ipynb":
        return [_notebook(path.name, lambda: files.read_text(path, "notebook").encode())]
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        return [(path.name, "", [], f"{path.name} cannot be read: {error}")]
    with archive:
        members = [each for each in archive.infolist() if each.filename.endswith(".ipynb")][:MOST_MEMBERS]
        if not members:
            return [(path.name, "", [], f"{path.name} holds no notebook")]
        return [
            _notebook(Path(each.filename).name, functools.partial(_member, archive, each)) for each in members
        ]


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Its bytes, whatever it says of their number: the other ways of packing give all at once, be it 3 GB."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is packed in another way than otter's")
    with archive.open(member) as file:
        data = file.read(files.LARGEST_BYTES + 1)
    if len(data) > files.LARGEST_BYTES:
        raise ValueError(f"it has more than {files.LARGEST_BYTES // 2**20} MiB")
    return data


def _notebook(name: str, read: Callable[[], bytes]) -> tuple[str, str, list[dict[str, Any]], str]:
    try:
        notebook = json.loads(read().decode())
        cells = code_cells(notebook)
        if len(cells) > MOST_CELLS or sum(len(each["source"]) for each in cells) > MOST_SOURCE:
            raise ValueError(f"it has more than {MOST_CELLS} cells, or {MOST_SOURCE // 2**10} KiB of code")
    except EngineRoomError as error:
        return name, "", [], error.problem
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever the file is, it costs itself alone)
        return name, "", [], f"{name} is no notebook: {type(error).__name__}: {error}"[:300]
    metadata = notebook.get("metadata")
    otter = metadata.get("otter") if isinstance(metadata, dict) else None
    said = otter.get("assignment_name") if isinstance(otter, dict) else None
    return name, said if isinstance(said, str) else "", cells, ""


def _chapter(name: str, chapters: list[str]) -> str:
    return max((each for each in chapters if each in exports.word(name)), key=len, default="")


def _student(stem: str, chapter: str) -> str:
    left = re.sub(re.escape(chapter).replace("_", "[_-]"), "", stem, flags=re.IGNORECASE).strip(" _-.")
    return left or stem


def answer_cells(given: Given, submission: Submission) -> list[dict[str, str]]:
    """The cells to run, from top to bottom: of the handout's own those that the notebook lacks, then the notebook's.

    Each says whose it is, and the question to which it belongs, by its id or by the next check.
    """
    there = {cell["source"].strip() for cell in submission.cells}
    lacking = [cell for cells in given.cells.values() for cell in cells if cell.strip() not in there]
    made, below = [], ""
    for cell in reversed(submission.cells):
        if checked := CHECK.search(cell["source"]):
            below = checked[1]
        by = "handout" if cell["source"].strip() in given.handed_out else "student"
        made.append({"source": cell["source"], "by": by, "question": given.ids.get(cell["id"], below)})
    return [{"source": cell, "by": "handout", "question": ""} for cell in lacking] + made[::-1]


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


@functools.lru_cache(4096)
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


@functools.lru_cache(4096)
def used_names(source: str) -> set[str]:
    """The names that a cell reads."""
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
