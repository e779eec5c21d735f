"""What an instructor gets: a table of points in the form of an LMS, and a report that says of each failure what was wrong."""

from __future__ import annotations

import csv
import hashlib
import html
from collections import Counter
from pathlib import Path

from engineroom import files
from engineroom.chapters import book
from engineroom.errors import EngineRoomError
from engineroom.teach.grading.exports import word
from engineroom.teach.grading.grade import Result
from engineroom.teach.grading.roster import NUMBER, Person, Roster, safe
from engineroom.teach.grading.submissions import Given, Submission

__all__ = ["FORMS", "columns", "feedback", "page", "refuse", "report", "unmatched", "write"]

LONGEST_NAME = 240  # of a file, in bytes, less its ending
FORMS = ("csv", "canvas", "moodle", "gradescope")
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]


def refuse(form: str, submissions: list[Submission], roster: Roster | None) -> None:
    """Raises EngineRoomError for a form that cannot be written of these submissions, before hours are spent on grading them."""
    chapters = sorted({each.chapter for each in submissions if each.chapter != "?"})
    if form == "moodle" and roster is None:
        raise EngineRoomError(
            "Moodle knows students by columns that the submissions do not have",
            remedy="name with --roster the grading worksheet of the assignment, or a gradebook that Moodle exported",
        )
    if form == "moodle" and roster and _grade(roster) is not None and len(chapters) > 1:
        raise EngineRoomError(
            f"a grading worksheet of Moodle is of one assignment, and these are {', '.join(chapters)}",
            remedy="grade the folder of one, or name with --roster a gradebook that Moodle exported",
        )


def columns(chapters: list[str], roster: Roster | None) -> dict[str, str]:
    """The heading of each chapter: the one that the roster has for it, with the number of the assignment, or else its own name."""
    head = roster.head if roster else []
    titles = {each.word: word(each.title) for each in book().chapters}
    found = {
        chapter: [
            each
            for each in head
            if any(
                f"_{name}" in f"_{word(each.replace(':', ' '))}"
                for name in (chapter, titles.get(chapter, chapter).removeprefix("the_"))
            )
        ]
        for chapter in chapters
    }
    used = Counter(each for headings in found.values() for each in headings)
    return {
        chapter: headings[0] if len(headings) == 1 and used[headings[0]] == 1 else chapter
        for chapter, headings in found.items()
    }


def write(
    out: Path,
    form: str,
    results: list[Result],
    submissions: list[Submission],
    handouts: dict[str, Given],
    *,
    roster: Roster | None = None,
) -> None:
    """Writes one row per student who has handed in, and for an LMS only of those whom it knows.

    A chapter that a student has not handed in is as the roster has it, or empty: Canvas takes a grade away where it reads an empty cell. One
    that cannot be read has 0 points.
    """
    chapters = [chapter for chapter in handouts if any(each.chapter == chapter for each in submissions)]
    points = {(each.student, each.chapter, each.question): each.points for each in results}
    broken = {(each.student, each.chapter) for each in submissions if each.fault}
    questions = [(chapter, question) for chapter in chapters for question in handouts[chapter].questions]
    most = {(chapter, question): handouts[chapter].points[question] for chapter, question in questions}
    everything = round(sum(most.values()), 4)
    headings = columns(chapters, roster)

    def total(student: str, chosen: list[tuple[str, str]]) -> float | str:
        parts = [
            points.get((student, *each), 0.0 if (student, each[0]) in broken else None) for each in chosen
        ]
        earned = [part for part in parts if part is not None]
        return round(float(sum(earned)), 4) if earned else ""

    def of_chapters(person: Person) -> list[object]:
        cells: list[object] = []
        for chapter in chapters:
            earned = total(person.id, [each for each in questions if each[0] == chapter])
            cells.append(_kept(roster, person.row, headings[chapter]) if earned == "" else earned)
        return cells

    order = {person.id: place for place, person in enumerate(roster.people)} if roster else {}
    people = {each.student: each.person for each in submissions if each.person}
    students = sorted(
        {each.student for each in submissions}, key=lambda each: (order.get(each, len(order)), each)
    )
    known = [people[student] for student in students if student in people]
    rows: list[list[object]]
    if form == "canvas":
        own = roster.head[: roster.head.index("Section") + 1] if roster and roster.is_canvas else []
        head = [*(own or CANVAS), *headings.values()]
        possible = [
            _kept(roster, tuple(roster.possible), headings[chapter])
            if roster and headings[chapter] in roster.head
            else sum(most[each] for each in questions if each[0] == chapter)
            for chapter in chapters
        ]
        rows = [["    Points Possible", *[""] * (len(own or CANVAS) - 1), *possible]]
        for each in known:
            says = each.row[: len(own)] or (each.name, each.canvas, "", "" if each.canvas else each.id, "")
            rows.append([*says, *of_chapters(each)])
    elif form == "moodle" and roster and (grade := _grade(roster)) is not None:
        head = roster.head
        rows = [[*each.row[:grade], *(of_chapters(each) or [""]), *each.row[grade + 1 :]] for each in known]
    elif form == "moodle" and roster:
        head = [*(roster.head[i] for i in roster.identity()), *headings.values()]
        rows = [
            [*(each.row[i] if i < len(each.row) else "" for i in roster.identity()), *of_chapters(each)]
            for each in known
        ]
    elif form == "gradescope":
        named = [f"{chapter} {question} ({most[chapter, question]:g} pts)" for chapter, question in questions]
        head = ["Name", "SID", "Email", "Total Score", "Max Points", "Status", *named]
        rows = [
            [
                each.name,
                each.id,
                each.email,
                total(each.id, questions),
                everything,
                "Graded",
                *(total(each.id, [question]) for question in questions),
            ]
            for each in known
        ]
    else:
        head = ["student", *(f"{chapter}.{question}" for chapter, question in questions), "total", "most"]
        rows = [
            [each, *(total(each, [one]) for one in questions), total(each, questions), everything]
            for each in students
        ]
    with out.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        csv.writer(file).writerows([head, *([safe(cell) for cell in row] for row in rows)])


def _grade(roster: Roster) -> int | None:
    """The column for points in a grading worksheet of Moodle; None for any other roster."""
    return roster.column("grade") if roster.column(NUMBER) is not None else None


def _kept(roster: Roster | None, row: tuple[str, ...], heading: str) -> str:
    """What the roster has in this column, so that what is imported again changes nothing."""
    place = roster.head.index(heading) if roster and heading in roster.head else len(row)
    return row[place] if place < len(row) else ""


def unmatched(submissions: list[Submission], roster: Roster) -> list[str]:
    """Who has no row: files of nobody in the roster, and who of the roster has handed in nothing."""
    lines = [
        f"{each.origin}: {each.student} is not in the roster, and has a row in no table for an LMS"
        for each in submissions
        if each.person is None and not each.fault
    ]
    found = {each.student for each in submissions}
    missing = [person.id for person in roster.people if person.id not in found]
    return (
        [*lines, f"no notebook from {len(missing)} of the roster: {', '.join(missing)}"] if missing else lines
    )


def report(
    results: list[Result], submissions: list[Submission], isolation: str, roster: Roster | None = None
) -> str:
    """All that was not right, by student: the test, what was given, expected and got. For the instructor: it names hidden tests."""
    lines = ["# Grading report", "", f"Isolation: {isolation}.", ""]
    if roster:
        lines += [*(f"- {_flat(each)}" for each in unmatched(submissions, roster)), ""]
    for student in sorted({each.student for each in submissions}):
        lines += [f"## {_flat(student)}", ""]
        lines += [
            f"- {_flat(each.origin)}: not graded, {_flat(each.fault)}"
            for each in submissions
            if each.fault and each.student == student
        ]
        mine = [each for each in results if each.student == student]
        lines += [
            f"- {each.chapter} {each.question}: {each.points:g} of {each.most:g} points" + _why(each)
            for each in mine
        ]
        lines.append("")
    return "\n".join(lines)


def _why(result: Result) -> str:
    lines = [f"\n  - note: {_flat(result.note)}"] if result.note else []
    for failure in result.failures:
        hidden = " (hidden)" if failure["hidden"] else ""
        lines.append(f"\n  - `{failure['name']}`{hidden}")
        if failure["given"]:
            lines.append(f"\n    - given: {_flat(failure['given'])}")
        lines.append(f"\n    - {_flat(failure['said'])}")
        if failure["looks_like"]:
            lines.append(f"\n    - looks like: {_flat('; '.join(failure['looks_like']))}")
    return "".join(lines)


def _flat(text: str) -> str:
    """In one line, and no markup: what an answer says would else load a picture, and take the lines behind it along."""
    return html.escape(files.visible(" ".join(text.split())), quote=False).replace("![", "!\\[")


def page(student: str) -> str:
    """The name of a student's file, for which a student's name can be too long, or have a folder in it."""
    if len(student.encode()) <= LONGEST_NAME and "/" not in student:
        return f"{student}.md"
    return f"{student[: LONGEST_NAME // 8].replace('/', '_')}-{hashlib.sha256(student.encode()).hexdigest()[:12]}.md"


def feedback(student: str, results: list[Result]) -> str:
    """What a student may read: points, which planted misconception an answer looks like, and which lines of visible tests failed.

    Nothing of it is a text of the answer's, which may have read what it is not to give away.
    """
    lines = [f"# {_flat(student)}", ""]
    for each in (result for result in results if result.student == student):
        lines.append(f"- {each.chapter} {each.question}: {each.points:g} of {each.most:g} points")
        if alike := sorted({name for failure in each.failures for name in failure["looks_like"]}):
            lines.append(f"  - This is what somebody would answer who thinks: {_flat('; or: '.join(alike))}.")
        lines += [
            f"  - `{failure['name']}`: {_flat(failure['shown'])}"
            for failure in each.failures
            if not failure["hidden"]
        ]
        if any(failure["hidden"] for failure in each.failures):
            lines.append("  - A test that you do not see found it wrong.")
    return "\n".join([*lines, ""])
