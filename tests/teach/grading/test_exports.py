"""What Canvas, Moodle, Gradescope and nbgrader export is graded as it is, and each student of a roster has their points in the LMS's own table."""

from __future__ import annotations

import csv
import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from engineroom.chapters import book
from engineroom.errors import EngineRoomError
from engineroom.teach.grading import exports, roster, sandbox, sheets, submissions
from engineroom.teach.grading.cli import classes
from engineroom.teach.grading.grade import Result

CHAPTERS = ["cats", "engine", "hash_join"]
METADATA = """\
submission_1:
  :submitters:
  - :name: Jane Doe
    :sid: '007'
    :email: jane@example.org
  - :name: Eve Roe
    :email: eve@example.org
  :created_at: 2026-11-01 10:00:00.000000000 -07:00
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess {}
"""
CANVAS_ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section,Hash joins (4711),Final Score
    Points Possible,,,,,24.00,(read only)
"Doe, Jane",101,S1,jdoe,1,,50
"O'Neil, Zoë",102,S2,zoneil,1,7.5,60
"Roe, Eve",103,S3,eroe,1,9,
"""


def test_what_answers_say_is_no_markup_of_the_report():
    failure = {
        "name": "t",
        "hidden": False,
        "given": "",
        "said": "<img src='http://x/?\n![](http://y)",
        "looks_like": [],
    }
    lost = Result("a", "join_order", "q1", 0, 1, [failure], "<script>", "")
    told = sheets.report([lost], [SimpleNamespace(student="a", origin="a.ipynb", fault="")], "limits")  # type: ignore[list-item]
    assert "&lt;img" in told
    assert "&lt;script&gt;" in told
    assert not {"<", "!["} & {told[i : i + n] for n in (1, 2) for i in range(len(told))}


@pytest.mark.parametrize("chapter", book().chapters, ids=lambda each: each.word)
@pytest.mark.parametrize("named", ["title", "word"])
def test_an_assignment_is_found_by_the_chapters_title_or_its_word(chapter, named):
    heading = f"{getattr(chapter, named)} (4711)"
    head = ["Student", heading, "Final Score"]
    words = [each.word for each in book().chapters]
    assert sheets.columns(words, SimpleNamespace(head=head))[chapter.word] == heading  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["=1+1", "\t=1+1", "\r@x", " -1"])
def test_no_name_is_a_formula(name):
    assert roster.safe(name) == f"'{name}"


def test_lines_with_nothing_in_them_take_no_time():
    source = "\n" * 200_000 + " %magic"
    assert submissions.MAGIC.sub(r"\1pass", source).endswith("\n pass")
    assert not submissions.CLIENT_CELL.search(source)


def test_a_scratch_folder_goes_however_deep_it_is(tmp_path):
    with sandbox._scratch(str(tmp_path)) as scratch:
        here = os.open(scratch, os.O_RDONLY)
        for _ in range(3_000):
            os.mkdir("a", dir_fd=here)
            inner = os.open("a", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(here)
    assert list(tmp_path.iterdir()) == []


def notebook(source: str = "x = 1") -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source}]})


def collected(folder: Path, *paths: str) -> Path:
    for each in paths:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(notebook())
    return folder


def listed(folder: Path, text: str) -> roster.Roster:
    (folder / "roster.csv").write_text(text)
    return roster.read(folder / "roster.csv")


@pytest.mark.parametrize(
    ("path", "student", "chapter"),
    [
        ("doejane_101_4567_hash_join.ipynb", "doejane_101", "hash_join"),
        ("enginesmith_LATE_9_10_cats-2.ipynb", "enginesmith_9", "cats"),
        ("cats/enginesmith_9_10_mine.ipynb", "enginesmith_9", "cats"),
        ("Jane Doe_77_assignsubmission_file_/Hash Join.ipynb", "Jane Doe_77", "hash_join"),
        ("Jane Doe_77_assignsubmission_file_hash_join.ipynb", "Jane Doe_77", "hash_join"),
        ("hash-join/Jane Doe_77_assignsubmission_file/mine.ipynb", "Jane Doe_77", "hash_join"),
        ("jane+hash_join+2026-11-01 10:00:00.000001 UTC/x.ipynb", "jane", "hash_join"),
        ("jane+a+cats+2026-11-01 10:00:00.000001 UTC+Ab-_c/x.ipynb", "jane+a", "cats"),
        ("jane/cats/cats.ipynb", "jane", "cats"),
        ("jane/doejane_101_4567_cats.ipynb", "jane", "cats"),
        ("jane/Jane Doe_77_assignsubmission_file_/cats.ipynb", "jane", "cats"),
    ],
)
def test_a_path_says_whose_a_notebook_is(tmp_path, path, student, chapter):
    (found,) = submissions.find(collected(tmp_path, path), CHAPTERS)
    assert (found.student, found.chapter, found.fault) == (student, chapter, "")


@pytest.mark.parametrize("top", ["", "assignment_5_export/", "hash_join/assignment_5_export/"])
def test_gradescope_s_list_says_who_handed_in_a_folder_and_a_student_s_own_list_says_nothing(tmp_path, top):
    path = f"{top}submission_1/hash_join.ipynb"
    collected(
        tmp_path, path, f"{top}submission_2/hash_join.ipynb", f"{top}submission_2/submission_1/cats.ipynb"
    )
    (tmp_path / top / "submission_metadata.yml").write_text(METADATA)
    (tmp_path / top / "submission_2" / "submission_metadata.yml").write_text(METADATA)
    found = {(each.student, each.chapter) for each in submissions.find(tmp_path, CHAPTERS)}
    assert found == {
        ("007", "hash_join"),
        ("eve@example.org", "hash_join"),
        ("submission_2", "hash_join"),
        ("submission_2", "cats"),
    }


def test_a_list_of_gradescope_s_that_is_none_is_refused(tmp_path):
    collected(tmp_path, "submission_1/hash_join.ipynb")
    (tmp_path / "submission_metadata.yml").write_text("submission_1: [1")
    with pytest.raises(EngineRoomError, match=r"submission_metadata\.yml"):
        submissions.find(tmp_path, CHAPTERS)


@pytest.mark.parametrize(
    "path",
    [
        "Jane Doe_77_assignsubmission_file__99_assignsubmission_file_/cats.ipynb",
        "Eve_99_assignsubmission_file_Jane Doe_77_assignsubmission_file_cats.ipynb",
    ],
)
def test_who_puts_another_s_name_into_their_own_or_into_a_file_s_is_not_taken_for_them(tmp_path, path):
    (found,) = submissions.find(collected(tmp_path, path), CHAPTERS)
    assert found.student not in ("Jane Doe_77", "Eve_99")
    assert "could be that of two students" in found.fault


def test_a_pattern_says_it_instead(tmp_path):
    collected(tmp_path, "w3/007-cats/x.ipynb", "other.ipynb")
    pattern = exports.compiled(r"w\d/(?P<id>\d+)-(?P<chapter>\w+)/.*")
    right, other = sorted(submissions.find(tmp_path, CHAPTERS, pattern=pattern), key=lambda each: each.fault)
    assert (right.student, right.chapter, right.fault) == ("007", "cats", "")
    assert "not as --pattern says" in other.fault


@pytest.mark.parametrize("pattern", ["(", r"(?P<chapter>\w+)", r"(?P<student>\w+)_(?P<week>\d)", r"\w+"])
def test_a_pattern_without_a_student_is_refused(pattern):
    with pytest.raises(EngineRoomError, match="What to do: name the student"):
        exports.compiled(pattern)


def test_of_several_attempts_the_last_is_graded_and_the_others_are_named(tmp_path):
    first, last = (f"doejane_101_{number}_cats.ipynb" for number in (99, 100))
    by_fault = {
        each.fault: each.origin for each in submissions.find(collected(tmp_path, first, last), CHAPTERS)
    }
    assert by_fault == {"": last, f"another notebook of this student is graded: {last}": first}


@pytest.mark.parametrize(
    ("head", "row", "says", "person"),
    [
        ("id,name,email", "ann,Ann Lee,ann@x.org", {"student": "ANN"}, "ann"),
        ("id,name,email", "ann,Ann Lee,ann@x.org", {"student": "a\u200bnn"}, "ann"),
        ("id,name,email", "ann,Ann Lee,ann@x.org", {"student": "Ann@X.org"}, "ann"),
        ("id,name,email", "zoe,Zoe\u0308 Lee,", {"name": "leezoë", "canvas": "7"}, "zoe"),
        ("id,name,email", "7,Ann Lee,", {"name": "royeve", "canvas": "7"}, None),
        ("Student,ID,Section", '"Lee, Ann",7,1', {"name": "leeann", "canvas": "7"}, "7"),
        ("Student,ID,SIS Login ID,Section", '"de la Cruz, Jo",7,jo@x.org,1', {"name": "delacruzjo"}, "jo@x.org"),
        ("Identifier,Full name,Email address,Grade", "Participant 77,Ann Lee,ann@x.org,", {"name": "Participant", "moodle": "77"}, "ann@x.org"),
        ("First name,Last name,ID number,Email address", "Ann,Lee,,ann@x.org", {"name": "Ann Lee", "moodle": "5"}, "ann@x.org"),
        ("First Name,Last Name,SID,Email", "Ann,Lee,007,ann@x.org", {"id": "007", "name": "A. Lee"}, "007"),
        ("id;name", "ann;Lee, Ann", {"name": "Ann Lee"}, "ann"),
    ],
)  # fmt: skip
def test_a_student_is_found_by_what_the_roster_has(tmp_path, head, row, says, person):
    found = listed(tmp_path, f"\ufeff{head}\r\n{row}\r\n").find(says)
    assert (found.id if found else None) == person


@pytest.mark.parametrize("says", [{"name": "leeann"}, {"name": "royeve", "canvas": "1"}])
def test_a_file_that_two_students_could_have_handed_in_is_nobody_s(tmp_path, says):
    students = listed(tmp_path, 'Student,ID,Section\n"Lee, Ann",1,1\n"Ann, Lee",2,1\n"Roy, Eve",3,1\n')
    with pytest.raises(EngineRoomError, match=r"can be .* or .* of the roster"):
        students.find(says)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no students"),
        ("id\n", "names no students"),
        ("a,b\n1,2\n", "no column id"),
        ("id\n../up\n", "folder's name"),
        ("id\nann\nAnn\n", "twice"),
        ("id,name\n,Ann\n", "folder's name"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused(tmp_path, text, said):
    with pytest.raises(EngineRoomError, match=said):
        listed(tmp_path, text)


def test_who_comes_by_two_names_is_one_student_or_named(tmp_path):
    students = listed(tmp_path, "id,name\nann,Ann Lee\nzoe,Zoë Roy\n")
    collected(tmp_path / "in", "ann/cats.ipynb", "a\u200bnn/cats.ipynb", "zoe\u200b/cats.ipynb", "Zoe\u0308 Roy/cats.ipynb",
              "Zoe\u0308 Roy/engine.ipynb")  # fmt: skip
    found = submissions.find(tmp_path / "in", CHAPTERS, roster=students)
    assert {(each.student, each.chapter) for each in found if not each.fault} == {
        ("ann", "cats"),
        ("zoe", "engine"),
    }
    faults = {each.origin: each.fault for each in found if each.fault}
    assert "looks like another" in faults["a\u200bnn/cats.ipynb"]
    assert "by different names" in faults["zoe\u200b/cats.ipynb"]
    assert "by different names" in faults["Zoe\u0308 Roy/cats.ipynb"]
    assert not [each for each in found if each.fault and each.person], "none of them has a row in an LMS"


GIVEN = {
    chapter: SimpleNamespace(questions=("q1", "q2"), points={"q1": 20.0, "q2": 4.0}) for chapter in CHAPTERS
}


def table(
    folder: Path, form: str, students: roster.Roster | None, points: dict[str, float]
) -> list[list[str]]:
    """What is written for the submissions in `in`, in which each q1 has its student's points, and q2 none."""
    found = submissions.find(folder / "in", CHAPTERS, roster=students)
    sheets.refuse(form, found, students)
    results = [
        Result(
            each.student,
            each.chapter,
            question,
            points[each.student] if question == "q1" else 0,
            20,
            [],
            "",
            "",
        )
        for each in found
        if not each.fault
        for question in ("q1", "q2")
    ]
    sheets.write(folder / "out.csv", form, results, found, GIVEN, roster=students)
    with (folder / "out.csv").open(newline="") as opened:
        return list(csv.reader(opened))


def test_canvas_reads_its_own_columns_and_what_was_not_handed_in_stays_as_it_was(tmp_path):
    collected(
        tmp_path / "in", "doejane_101_1_hash_join.ipynb", "oneilzoë_102_2_cats.ipynb", "x_9_9_cats.ipynb"
    )
    students = listed(tmp_path, CANVAS_ROSTER)
    assert table(tmp_path, "canvas", students, {"jdoe": 20, "zoneil": 0, "x_9": 3}) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "cats", "Hash joins (4711)"],
        ["    Points Possible", "", "", "", "", "24.0", "24.00"],
        ["Doe, Jane", "101", "S1", "jdoe", "1", "", "20.0"],
        ["O'Neil, Zoë", "102", "S2", "zoneil", "1", "0.0", "7.5"],
    ]
    found = submissions.find(tmp_path / "in", CHAPTERS, roster=students)
    assert sheets.unmatched(found, students) == [
        "x_9_9_cats.ipynb: x_9 is not in the roster, and has a row in no table for an LMS",
        "no notebook from 1 of the roster: eroe",
    ]


def test_canvas_has_its_own_numbers_from_its_names_of_files_and_from_no_other_roster(tmp_path):
    collected(tmp_path / "in", "doejane_101_1_cats.ipynb", "eve/cats.ipynb")
    students = listed(tmp_path, "id,name\n7,Jane Doe\n101,Eve\n")
    assert table(tmp_path, "canvas", students, {"7": 20, "101": 1})[2:] == [
        ["Jane Doe", "101", "", "", "", "20.0"],
        ["Eve", "", "", "101", "", "1.0"],
    ]
    assert table(tmp_path, "canvas", None, {"doejane_101": 20, "eve": 1})[2:] == [
        ["doejane", "101", "", "", "", "20.0"],
        ["eve", "", "", "eve", "", "1.0"],
    ]


def test_moodle_reads_a_grading_worksheet_and_a_gradebook(tmp_path):
    collected(tmp_path / "in", "Jane Doe_77_assignsubmission_file_/cats.ipynb")
    worksheet = listed(
        tmp_path,
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments\n"
        'Participant 77,Jane Doe,jane@x.org,Submitted,,24.00,-,=x\nParticipant 78,Eve,eve@x.org,,,24.00,-,""\n',
    )
    assert table(tmp_path, "moodle", worksheet, {"jane@x.org": 20}) == [
        worksheet.head,
        ["Participant 77", "Jane Doe", "jane@x.org", "Submitted", "20.0", "24.00", "-", "'=x"],
    ]
    gradebook = listed(
        tmp_path,
        "First name,Last name,ID number,Email address,Assignment: Hash joins (Real),Assignment: Cats (Real)\n"
        "Jane,Doe,,jane@x.org,3,-\n",
    )
    collected(tmp_path / "in", "hash_join/Eve_4_assignsubmission_file_/x.ipynb")
    assert table(tmp_path, "moodle", gradebook, {"jane@x.org": 20, "Eve_4": 1}) == [
        ["First name", "Last name", "ID number", "Email address", "Assignment: Cats (Real)",
         "Assignment: Hash joins (Real)"],
        ["Jane", "Doe", "", "jane@x.org", "20.0", "3"],
    ]  # fmt: skip
    with pytest.raises(EngineRoomError, match="is of one assignment, and these are cats, hash_join"):
        table(tmp_path, "moodle", worksheet, {})
    with pytest.raises(EngineRoomError, match="--roster the grading worksheet"):
        table(tmp_path, "moodle", None, {})


def test_gradescope_s_columns_have_names_and_addresses(tmp_path):
    collected(tmp_path / "in", "submission_1/cats.ipynb")
    (tmp_path / "in" / "submission_metadata.yml").write_text(METADATA)
    students = listed(
        tmp_path, "Name,SID,Email\nJane Doe,007,jane@example.org\nEve Roe,008,eve@example.org\n"
    )
    head, *rows = table(tmp_path, "gradescope", students, {"007": 20, "008": 20})
    assert head[6:] == ["cats q1 (20 pts)", "cats q2 (4 pts)"]
    assert [row[:6] for row in rows] == [
        ["Jane Doe", "007", "jane@example.org", "20.0", "24.0", "Graded"],
        ["Eve Roe", "008", "eve@example.org", "20.0", "24.0", "Graded"],
    ]


def test_a_student_s_page_stays_in_its_folder():
    assert "/" not in sheets.page("../" * 9 + "ann")
    assert sheets.page("a/b") != sheets.page("a_b")


TEST = """\
from otter.test_files import test_case

OK_FORMAT = False
name = "q1"
points = 2

@test_case(points=None, hidden=False)
def test_of_three(double):
    assert double(3) == 6
"""


def test_a_class_goes_from_a_roster_to_a_table_for_canvas(tmp_path):
    def asked(answer: str) -> str:
        sources = ["import math", answer, 'grader.check("q1")']
        return json.dumps(
            {
                "cells": [
                    {"cell_type": "code", "id": f"c{i}", "source": source, "outputs": [], "execution_count": None,
                     "metadata": {"tags": ["otter_answer_cell"] if i == 1 else []}}
                    for i, source in enumerate(sources)
                ],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
            }
        )  # fmt: skip

    given = tmp_path / "class" / "hash_join"
    for name in ("student", "autograder"):
        (given / name).mkdir(parents=True)
    (given / "student" / "hash_join.ipynb").write_text(asked("def double(n):\n    ..."))
    with zipfile.ZipFile(given / "autograder" / "hash_join-autograder.zip", "w") as archive:
        archive.writestr("tests/q1.py", TEST)
    collected(tmp_path / "in", "stranger_9_9_hash_join.ipynb")
    right, wrong = (asked(f"def double(n):\n    return {each} * n") for each in (2, 3))
    (tmp_path / "in" / "doejane_LATE_101_1_hash_join.ipynb").write_text(right)
    (tmp_path / "in" / "oneilzoë_102_2_hash_join.ipynb").write_text(wrong)
    (tmp_path / "roster.csv").write_text(CANVAS_ROSTER)
    ran = CliRunner().invoke(
        classes,
        ["grade", str(tmp_path / "in"), "--class", str(tmp_path / "class"), "--out", str(tmp_path / "out.csv"),
         "--format", "canvas", "--roster", str(tmp_path / "roster.csv"), "--jobs", "1"],
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "out.csv").read_text().splitlines()[2:] == [
        '"Doe, Jane",101,S1,jdoe,1,2.0',
        '"O\'Neil, Zoë",102,S2,zoneil,1,0.0',
    ]
    assert "hash_join as Hash joins (4711)" in ran.output
    for said in ("stranger_9 is not in the roster", "no notebook from 1 of the roster: eroe"):
        assert said in ran.output
        assert said in (tmp_path / "out.report.md").read_text()
    assert (tmp_path / "out-feedback" / "jdoe.md").is_file()
