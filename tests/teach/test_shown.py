"""The page numbers its questions as the notebook does, and shows what their predictions are about."""

from __future__ import annotations

import re

import pytest

from engineroom.teach import handouts, plan, shown

MASTERS = handouts.masters()
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda master: master.stem)
HEADING = re.compile(
    r"^````\{exercise\} Question (\d+)\. (.+)\n:label: exercise-([\w-]+)-q(\d+)\n:nonumber:\n", re.MULTILINE
)
# What they predict of stands in the question itself, in a table or in a dictionary above it, or in a listing on the page.
TOLD_IN_WORDS = {
    ("engine", "q4"),
    ("engine", "q8"),
    ("hash_join", "q1"),
    ("read_views", "q7"),
    ("trx_sys", "q1"),
}


@each_master
def test_page_and_notebook_number_and_name_a_question_alike(master):
    found = HEADING.findall(shown.fragment(master).read_text())
    assert found == [
        (each.question[1:], each.title, master.stem.replace("_", "-"), each.question[1:])
        for each in plan.labels(master)
    ]
    assert shown.fragment(master).read_text().count("{exercise}") == len(found)


@each_master
def test_the_data_on_the_page_are_those_of_the_notebook(master):
    text = shown.fragment(master).read_text()
    assert shown.filled(master, text) == text, "python -m engineroom.teach.plan"


@each_master
def test_the_page_shows_what_a_prediction_is_about(master):
    text = shown.fragment(master).read_text()
    exercises = {
        label: part for part in text.split("````{exercise}") for label in shown.EXERCISE.findall(part)
    }
    for each in plan.labels(master):
        if each.kind == "prediction" and (master.stem, each.question) not in TOLD_IN_WORDS:
            assert shown.DATA.search(exercises[each.question].split("````{solution}")[0]), each.question


@each_master
def test_a_solution_on_the_page_is_that_of_its_question(master):
    text = master.read_text()
    for part in shown.fragment(master).read_text().split("````{solution} ")[1:]:
        (number,) = re.findall(r"^exercise-[\w-]+-q(\d+)$", part, re.MULTILINE)
        begin = text.index(f"## Question {number}. ")
        end = text.find(f"## Question {int(number) + 1}. ")
        for start in re.findall(r'^:start-(?:at|after): "(.+)"$', part.split("````\n")[0], re.MULTILINE):
            first = text.index(start.replace('\\"', '"'))
            assert begin < first < (len(text) if end < 0 else end), (number, start)
