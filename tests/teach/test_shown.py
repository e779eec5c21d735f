"""The page numbers its questions as the notebook does, and shows what their predictions are about."""

from __future__ import annotations

import re

import pytest

from engineroom.teach import masters, shown

each_master = pytest.mark.parametrize("master", masters.files(), ids=lambda master: master.stem)
# What they predict of stands in the question itself, in a table or in a dictionary above it, or in a listing on the page.
TOLD_IN_WORDS = {("engine", "q3")}


@each_master
def test_the_page_has_every_question_with_its_data_and_hints_and_no_solution(master):
    exercises = shown.exercises(master).split("````{exercise} ")[1:]
    for exercise, each in zip(exercises, masters.read(master).questions, strict=True):
        label = f"{master.stem.replace('_', '-')}-{each.name}"
        assert exercise.startswith(f"{each.heading}\n:label: exercise-{label}\n:nonumber:\n\n{each.text}\n")
        assert ("```text\n" in exercise) == ("data" in each.declared)
        folds = re.findall(r"<details><summary>(.+)</summary>\n\n\S", exercise)
        assert folds == ["Hint 1", "Hint 2", "Hint 3", "Afterwards"]
        lines = [line for line in each.solution.splitlines() if len(line.strip()) >= 20]
        assert [line for line in lines if line in exercise] == [], each.heading


@each_master
def test_the_page_shows_what_a_prediction_is_about(master):
    for each in masters.read(master).questions:
        if each.kind == "prediction" and (master.stem, each.name) not in TOLD_IN_WORDS:
            assert "data" in each.declared, each.name


def test_data_are_those_of_the_notebook_and_a_text_stands_as_it_is():
    shown_of = {master.stem: shown.exercises(master) for master in masters.files()}
    assert "```text\n{'A': {'design': '8.0', 'clients': 50, 'fsync_us': 100},\n" in shown_of["redo_log"]
    assert "```text\nP: SELECT * FROM loan JOIN book ON" in shown_of["hash_join"]
