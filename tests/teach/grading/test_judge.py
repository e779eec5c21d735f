"""The exercises' present tests, run apart from the answers: solutions pass, starters and planted wrong answers do not."""

from __future__ import annotations

import json
import shutil

import pytest

from engineroom.teach import handouts
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import submissions
from engineroom.teach.grading.jail import Limits

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("spilled_to_memory")]
MASTERS = handouts.masters()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A class folder of all chapters, and its handouts by chapter."""
    folder = tmp_path_factory.mktemp("class")
    return folder, {master.stem: handouts.make(master, folder, run_tests=False) for master in MASTERS}


@pytest.fixture(scope="module")
def given(made):
    """What each chapter's handout is, by chapter."""
    return submissions.read_class(made[0]).chapters()


@pytest.fixture(scope="module")
def wrong_answers(given):
    """By chapter the students who hand in wrong answers, and which.

    One has the first wrong answers of all questions: each question is graded apart. Only an answer that stands on another one is handed
    in alone. That every wrong answer is rejected is tested in one process, where it costs a tenth.
    """
    found: dict[str, dict[str, list[handouts.WrongAnswer]]] = {}
    for master in MASTERS:
        for wrong in {each.question: each for each in reversed(handouts.wrong_answers(master))}.values():
            answers = given[master.stem].answers.items()
            others = {name for question, names in answers if question != wrong.question for name in names}
            is_alone = bool(submissions.used_names(wrong.code) & others)
            student = f"{wrong.question if is_alone else ''}wrong"
            found.setdefault(master.stem, {}).setdefault(student, []).append(wrong)
    return found


@pytest.fixture(scope="module")
def results(made, given, wrong_answers, tmp_path_factory):
    """What all notebooks earn, by chapter, student and question. They are graded at once: to start a process for answers takes as long as several notebooks."""
    folder = tmp_path_factory.mktemp("graded")
    class_folder, handout_of = made
    for chapter, handout in handout_of.items():
        for student, notebook in (("right", handout.solution), ("starter", handout.student)):
            (folder / "in" / student).mkdir(parents=True, exist_ok=True)
            shutil.copy(notebook, folder / "in" / student)
        for student, answers in wrong_answers[chapter].items():
            notebook = json.loads(handout.student.read_text())
            codes = {each.question: each.code for each in answers}
            for cell in notebook["cells"]:
                question = given[chapter].ids.get(cell["id"])
                if cell["cell_type"] == "code" and question in codes:
                    cell["source"] = codes[question]
            (folder / "in" / student).mkdir(exist_ok=True)
            (folder / "in" / student / f"{chapter}.ipynb").write_text(json.dumps(notebook))
    found, _ = grading.grade(
        submissions.find(folder / "in", list(handout_of)),
        submissions.read_class(class_folder),
        out=folder / "grades.csv",
        hidden=[],
        limits=Limits(wall_seconds=600),  # a busy machine's clock is not what is tested
        jobs=2,
    )
    return {(each.chapter, each.student, each.question): each for each in found}


@pytest.mark.parametrize("chapter", [master.stem for master in MASTERS])
def test_processes_apart_grade_as_one_process_does(chapter, given, wrong_answers, results):
    for question in given[chapter].questions:
        right, starter = (results[chapter, student, question] for student in ("right", "starter"))
        assert right.points == right.most, right
        assert starter.points == 0, starter
    for student, answers in wrong_answers[chapter].items():
        for wrong in answers:
            result = results[chapter, student, wrong.question]
            assert result.points <= grading.PARTIAL * result.most, wrong.misconception
            assert "longer than" not in result.note
            assert "processor time" not in result.note
