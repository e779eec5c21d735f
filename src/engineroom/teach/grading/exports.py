"""Whose a file is and of which chapter, by the path that Canvas, Moodle, Gradescope, nbgrader or an instructor gave it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engineroom import files
from engineroom.errors import EngineRoomError
from engineroom.teach.grading.apart import apart

__all__ = ["Place", "Who", "compiled", "matched", "placed", "submitters", "word"]

Who = dict[str, str]  # what a path says of a student, by kind: see `Roster.find`
GROUPS = {"student", "id", "email", "name", "chapter"}

COLLECTED = re.compile(r"assignment_\d+_export")  # what Gradescope's archive unpacks to
GRADESCOPE = re.compile(r"submission_\d+")
MOODLES = "_assignsubmission_file"
MOODLE = re.compile(rf"(?P<name>.+?)_(?P<moodle>\d+){MOODLES}_?(?P<file>.*)")
CANVAS = re.compile(r"(?P<name>.+?)(?:_(?:LATE|late))?_(?P<canvas>\d+)_\d+_(?P<file>.+)")
NBGRADER = re.compile(r"(?P<student>.+)\+(?P<chapter>[^+]+)\+\d{4}-\d\d-\d\d[^+]*(?:\+[\w-]+)?")


@dataclass(frozen=True)
class Place:
    """What the path of a file says."""

    inside: Path  # the folder that is graded
    who: tuple[
        Who, ...
    ]  # several for a group; none where the file's own name has the student beside the chapter
    file: str  # as the student called it
    chapter: str = ""
    folder: str = ""  # the chapter after whom the instructor called the folder
    fault: str = ""


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression of `--pattern`; refuses one that names no student."""
    remedy = r"name the student, and the chapter if it is there: '(?P<chapter>\w+)/(?P<student>[^_]+)_.*'"
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise EngineRoomError(
            f"{files.visible(repr(pattern))} is no regular expression: {error}", remedy=remedy
        ) from error
    if not set(found.groupindex) - {"chapter"} or set(found.groupindex) - GROUPS:
        raise EngineRoomError(
            f"{files.visible(repr(pattern))} has not the groups student, id, email or name, and chapter",
            remedy=remedy,
        )
    return found


def matched(inside: Path, pattern: re.Pattern[str]) -> Place:
    """What `--pattern` finds in a path."""
    said = pattern.fullmatch(inside.as_posix())
    who = {kind: value for kind, value in said.groupdict().items() if value} if said else {}
    chapter = who.pop("chapter", "")
    fault = "" if who else "its path is not as --pattern says"
    return Place(inside, (who or {"student": str(inside)},), inside.name, chapter, fault=fault)


def placed(
    top: Path, inside: Path, chapters: list[str], submitters: Callable[[Path], dict[str, list[Who]]]
) -> Place:
    """What a path in `top` says. Only its first part is the LMS's, behind a folder per chapter: a student may have named the rest."""
    parts, folder = list(inside.parts), ""
    while len(parts) > 1 and ((said := word(parts[0])) in chapters or COLLECTED.fullmatch(parts[0])):
        folder = said if said in chapters else folder
        top /= parts.pop(0)
    first, rest = parts[0], parts[-1] if len(parts) > 1 else ""
    if GRADESCOPE.fullmatch(first) and (group := submitters(top).get(first)):
        return Place(inside, tuple(group), rest, folder=folder)
    if first.count(MOODLES) > 1:  # a student has put somebody else's into a name
        return Place(
            inside, ({"student": first},), rest or first, fault="its name could be that of two students"
        )
    if moodle := MOODLE.fullmatch(first):
        who = {kind: moodle[kind] for kind in ("name", "moodle")}
        return Place(inside, (who,), rest or moodle["file"], folder=folder)
    if rest and (nbgrader := NBGRADER.fullmatch(first)):
        return Place(inside, ({"student": nbgrader["student"]},), rest, folder=word(nbgrader["chapter"]))
    if not rest and (canvas := CANVAS.fullmatch(first)):
        who = {kind: canvas[kind] for kind in ("name", "canvas")}
        return Place(inside, (who,), canvas["file"], folder=folder)
    return Place(inside, ({"student": first},) if rest else (), rest or first, folder=folder)


def submitters(folder: Path) -> dict[str, list[Who]]:
    """Who handed in each folder of an export of Gradescope; nobody is known where it has no list of them."""
    file = folder / "submission_metadata.yml"
    read: dict[str, list[Who]] = apart(_listed, file) if file.is_file() else {}
    return read


def _listed(file: Path) -> dict[str, list[Who]]:
    import yaml

    # Values as they stand: the ids of students begin with zeros, and Ruby's own kinds are none of Python's.
    read = yaml.load(
        files.read_text(file, "list of submissions"), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    )
    kinds = {"id": ":sid", "email": ":email", "name": ":name"}
    found = {
        name: [
            {kind: each[key] for kind, key in kinds.items() if each.get(key)}
            for each in entry.get(":submitters") or []
        ]
        for name, entry in read.items()
    }
    return {name: list(filter(None, group)) for name, group in found.items()}


def word(text: str) -> str:
    """A text as a chapter is written: `Hash-join` is hash_join."""
    return re.sub(r"[\s-]+", "_", text.strip().lower())
