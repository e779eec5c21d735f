"""A notebook is graded as its student ran it, from top to bottom, and no cell of it costs another question anything."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import submissions
from engineroom.teach.grading.jail import Limits

TEST = """\
from otter.test_files import test_case

OK_FORMAT = False

name = "{question}"
points = 2

@test_case(points=None, hidden=False)
def test_of_one({name}):
    assert {first}

@test_case(points=None, hidden=True)
def test_of_many({name}):
    assert {then}
"""
TESTS = {
    "q1": TEST.format(question="q1", name="double", first="double(3) == 6", then="double(40) == 80"),
    "q2": TEST.format(question="q2", name="triple", first="triple(3) == 9", then="triple(40) == 120"),
    "q3": TEST.format(question="q3", name="found", first="len(found) == 3", then="found == [2, 4, 6]"),
}
OTTER = 'import otter\ngrader = otter.Notebook("toy.ipynb")'
STUBS = {"q1": "def double(n):\n    ...", "q2": "def triple(n):\n    ...", "q3": "found = ..."}
RIGHT = {
    "q1": "def double(n):\n    return 2 * n",
    "q2": "def triple(n):\n    return 3 * n",
    "q3": "found = [2, 4, 6]",
}
CHECKS = {question: f'grader.check("{question}")' for question in STUBS}
Q1, Q2, Q3 = ([RIGHT[question], CHECKS[question]] for question in STUBS)


def notebook(cells: list[str], answers: dict[str, str]) -> str:
    made = [
        {"cell_type": "code", "id": f"c{number}", "source": source, "outputs": [], "execution_count": None,
         "metadata": {"tags": ["otter_answer_cell"] if source in answers.values() else []}}
        for number, source in enumerate([OTTER, *cells, "grader.export()"])
    ]  # fmt: skip
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def graded(
    folder: Path, students: dict[str, list[str]], **limits: float
) -> dict[tuple[str, str], grading.Result]:
    """The results by student and question of notebooks with these cells."""
    toy = folder / "class" / "toy"
    for part in ("student", "autograder"):
        (toy / part).mkdir(parents=True)
    handed_out = [cell for question in STUBS for cell in (STUBS[question], CHECKS[question])]
    (toy / "student" / "toy.ipynb").write_text(notebook(handed_out, STUBS))
    with zipfile.ZipFile(toy / "autograder" / "toy-autograder.zip", "w") as archive:
        for question, test in TESTS.items():
            archive.writestr(f"tests/{question}.py", test)
    for student, cells in students.items():
        (folder / "in" / student).mkdir(parents=True)
        (folder / "in" / student / "toy.ipynb").write_text(notebook(cells, RIGHT))
    results, used = grading.grade(
        submissions.find(folder / "in", ["toy"]),
        submissions.read_class(folder / "class"),
        out=folder / "grades.csv",
        hidden=[],
        limits=Limits(**limits),
        jobs=2,
    )
    if used != "namespaces":
        pytest.skip("no Linux namespaces here")
    return {(each.student, each.question): each for each in results}


FORMS = {
    "as handed out": [*Q1, *Q2, *Q3],
    "a check in the answer's cell": ["\n".join(Q1), *Q2, *Q3],
    "a check in the answer's cell, too": ["\n".join(Q1), CHECKS["q1"], *Q2, *Q3],
    "a check above the answer, in its cell": ["\n".join(reversed(Q1)), *Q2, *Q3],
    "questions about names": [RIGHT["q1"] + "\ndouble?\n?double", CHECKS["q1"], "double??", *Q2, "len?", *Q3],
    "display": [
        "def double(n):\n    display(n)\n    return 2 * n\ndisplay(double(3), get_ipython)",
        *Q1[1:],
        *Q2,
        *Q3,
    ],
    "get_ipython": [
        (
            "shell = get_ipython()\nshell.run_line_magic('who', '')\nshell.system('ls')\n"
            "def double(n):\n    return 2 * n if get_ipython() is shell else 0"
        ),
        *Q1[1:],
        *Q2,
        *Q3,
    ],
    "await": [
        *Q1,
        *Q2,
        "import asyncio\n\nasync def find():\n    await asyncio.sleep(0)\n    return [2, 4, 6]\n\nfound = await find()",
        *Q3[1:],
    ],
    "await, with its check": [*Q1, *Q2, "import asyncio\nawait asyncio.sleep(0)\n" + "\n".join(Q3)],
    "other programs": ["files = !ls\n!echo $files\n" + RIGHT["q1"], *Q1[1:], *Q2, "!pip install numpy", *Q3],
    "magics": [
        "%matplotlib inline\n%load_ext no_such_extension\n%no_such_magic\n" + RIGHT["q1"],
        *Q1[1:],
        "%%time\n" + RIGHT["q2"],
        *Q2[1:],
        "%time found = [2, 4, 6]",
        *Q3[1:],
    ],
    "all of a module": [
        "from math import *",
        "def double(n):\n    return floor(2 * n)",
        *Q1[1:],
        *Q2,
        *Q3,
    ],
    "a deeper stack": [
        "import sys\nsys.setrecursionlimit(20_000)",
        "def deep(n):\n    return n and 1 + deep(n - 1)\ndef double(n):\n    return deep(5000) - 5000 + 2 * n",
        *Q1[1:],
        *Q2,
        *Q3,
    ],
    "a list filled in another cell": [
        *Q1,
        *Q2,
        "found = []",
        "for n in (1, 2, 3):\n    found.append(2 * n)",
        *Q3[1:],
    ],
    "a helper with another meaning below": [
        "def times(n):\n    return 2 * n\ndef double(n):\n    return times(n)",
        *Q1[1:],
        "def times(n):\n    return 3 * n\ndef triple(n):\n    return times(n)",
        *Q2[1:],
        "double = None",
        *Q3,
    ],
    "a new cell, without stub and check": [*Q2, "# a note of mine", RIGHT["q1"] + "\n", *Q3],
    "all in one cell": ["\n".join([*RIGHT.values(), *CHECKS.values()])],
    "no checks": [*RIGHT.values()],
    "signs of magics in strings": [
        (
            'TEXT = """\n%d of %s\n!important\n  %matplotlib inline\n"""\nassert "important" in TEXT and "%d of" in TEXT\n'
            "def double(n):\n    return (2 * n\n        % 1000)"
        ),
        *Q1[1:],
        *Q2,
        *Q3,
    ],
    "an answer below its check": [STUBS["q1"], CHECKS["q1"], RIGHT["q1"], *Q2, *Q3],
    "an attempt with a check of its own": ["def double(n):\n    return n", CHECKS["q1"], *Q1, *Q2, *Q3],
    "last things first": [*Q3, *Q2, *Q1],
    "an answer that uses an earlier one": [*Q1, "def triple(n):\n    return double(n) + n", *Q2[1:], *Q3],
    "no client": ["del grader", *RIGHT.values(), "print('done')"],
}


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    return graded(tmp_path_factory.mktemp("forms"), FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_a_right_answer_earns_its_points_in_every_form(forms, form):
    for question in STUBS:
        assert forms[form, question].points == 2, forms[form, question]


COSTLY = {
    "sleeps": "import time\ntime.sleep(99)",
    "raises": "raise ValueError",
    "ends": "import os\nos._exit(0)",
    "exits": "raise SystemExit",
    "never ends": "while True:\n    pass",
    "is no Python": "def triple(n) return",
    "binds other answers": "double = found = len",
    "forgets all": "%reset -f",
    "breaks the client": "grader = None",
    "closes what is open": "import os\nos.closerange(3, 1 << 16)",
    "floods": "import os\nfor _ in range(99):\n    os.write(3, b'x' * 99_999)",
    "waits in a function": "import time\ndef triple(n):\n    time.sleep(99)",
    "ends all it can in a function": "import os\ndef triple(n):\n    os.kill(-1, 9)",
}  # fmt: skip


@pytest.fixture(scope="module")
def costly(tmp_path_factory):
    cells = {name: [*Q1, cell, CHECKS["q2"], *Q3] for name, cell in COSTLY.items()}
    return graded(tmp_path_factory.mktemp("costly"), cells, seconds=2, wall_seconds=9, memory_mib=1024)


@pytest.mark.parametrize("name", COSTLY)
def test_what_one_question_does_costs_no_other(costly, name):
    assert costly[name, "q2"].points == 0
    assert [costly[name, question].points for question in ("q1", "q3")] == [2, 2], costly[name, "q3"]


def test_the_report_says_what_became_of_a_cell(costly):
    assert "took longer than 9 seconds" in costly["sleeps", "q2"].note
    assert "raised ValueError" in costly["raises", "q2"].note
    assert "SyntaxError" in costly["is no Python", "q2"].note
    assert "exit code 0" in costly["ends", "q2"].note
    assert "more than 2 seconds of processor time" in costly["never ends", "q2"].note
    assert "took longer than 9 seconds" in costly["waits in a function", "q2"].note


def test_what_nobody_has_answered_is_named(tmp_path):
    unchanged = [cell for question in STUBS for cell in (STUBS[question], CHECKS[question])]
    results = graded(tmp_path, {"ann": unchanged})
    assert {each.points for each in results.values()} == {0}
    assert {each.note for each in results.values()} == {"no answer was found"}


def test_an_answer_that_says_something_else_each_time_is_read_once(tmp_path):
    """Each way of reading it alone gives what the test at hand asks for."""
    changing = (
        "class Changing(list):\n    def __len__(self):\n        return 3\n    def __eq__(self, other):\n        return True\n"
        "    def __iter__(self):\n        self.append(0)\n        return iter([2, 4, 6] if list.__len__(self) > 1 else [1])\n"
        "found = Changing()"
    )
    results = graded(tmp_path, {"ann": [*Q1, *Q2, changing, CHECKS["q3"]]})
    assert results["ann", "q3"].points == 0, results["ann", "q3"]
    assert results["ann", "q3"].failures[0]["given"] == "found = [1]"
