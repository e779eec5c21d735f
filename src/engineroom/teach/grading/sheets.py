"""What an instructor gets: a table of points in three forms, and a report that says of each failure what was wrong."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

from engineroom import files
from engineroom.teach.grading.grade import Result
from engineroom.teach.grading.submissions import Given, Submission

__all__ = ["FORMS", "feedback", "page", "report", "write"]

LONGEST_NAME = 240  # of a file, in bytes, less its ending
FORMS = ("csv", "canvas", "gradescope")


def write(
    out: Path, form: str, results: list[Result], submissions: list[Submission], handouts: dict[str, Given]
) -> None:
    """Writes one row per student. A chapter that a student has not handed in is empty, one that cannot be read has 0 points."""
    chapters = [chapter for chapter in handouts if any(each.chapter == chapter for each in submissions)]
    points = {(each.student, each.chapter, each.question): each.points for each in results}
    broken = {(each.student, each.chapter) for each in submissions if each.fault}
    questions = [(chapter, question) for chapter in chapters for question in handouts[chapter].questions]
    most = {(chapter, question): handouts[chapter].points[question] for chapter, question in questions}

    def total(student: str, chosen: list[tuple[str, str]]) -> float | str:
        parts = [
            points.get((student, *each), 0.0 if (student, each[0]) in broken else None) for each in chosen
        ]
        earned = [part for part in parts if part is not None]
        return round(float(sum(earned)), 4) if earned else ""

    by_chapter = [[each for each in questions if each[0] == chapter] for chapter in chapters]
    columns = by_chapter if form == "canvas" else [[each] for each in questions]
    everything = round(sum(most.values()), 4)
    rows: list[list[object]] = []
    if form == "canvas":
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *chapters]
        possible = [sum(most[each] for each in column) for column in columns]
        rows.append(["    Points Possible", "", "", "", "", *possible])
    elif form == "gradescope":
        named = [f"{chapter} {question} ({most[chapter, question]:g} pts)" for chapter, question in questions]
        head = ["Name", "SID", "Email", "Total Score", "Max Points", "Status", *named]
    else:
        head = ["student", *(f"{chapter}.{question}" for chapter, question in questions), "total", "most"]
    for student in sorted({each.student for each in submissions}):
        name, cells = _safe(student), [total(student, column) for column in columns]
        if form == "canvas":
            rows.append([name, "", "", name, "", *cells])
        elif form == "gradescope":
            rows.append([name, name, "", total(student, questions), everything, "Graded", *cells])
        else:
            rows.append([name, *cells, total(student, questions), everything])
    with out.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        csv.writer(file).writerows([head, *rows])


def report(results: list[Result], submissions: list[Submission], isolation: str) -> str:
    """All that was not right, by student: the test, what was given, expected and got. For the instructor: it names hidden tests."""
    lines = ["# Grading report", "", f"Isolation: {isolation}.", ""]
    for student in sorted({each.student for each in submissions}):
        lines += [f"## {student}", ""]
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
    return files.visible(" ".join(text.split()))


def page(student: str) -> str:
    """The name of a student's file, which a student's name can be too long for."""
    if len(student.encode()) <= LONGEST_NAME:
        return f"{student}.md"
    return f"{student[: LONGEST_NAME // 8]}-{hashlib.sha256(student.encode()).hexdigest()[:12]}.md"


def _safe(text: str) -> str:
    """No name of a file becomes a formula of a spreadsheet."""
    return f"'{text}" if text[:1] in "=+-@" else text


def feedback(student: str, results: list[Result]) -> str:
    """What a student may read: points, which planted misconception an answer looks like, and which lines of visible tests failed.

    Nothing of it is a text of the answer's, which may have read what it is not to give away.
    """
    lines = [f"# {student}", ""]
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
