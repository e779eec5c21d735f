"""The exercises' present tests, run apart from the answers: solutions pass, starters and planted wrong answers do not."""

from __future__ import annotations

import json
import shutil

import pytest

from engineroom.teach import handouts
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import submissions
from engineroom.teach.grading.jail import Limits

pytestmark = pytest.mark.usefixtures("spilled_to_memory")


@pytest.mark.slow
@pytest.mark.parametrize("master", handouts.masters(), ids=lambda master: master.stem)
def test_processes_apart_grade_as_one_process_does(master, tmp_path):
    handout = handouts.make(master, tmp_path / "class", run_tests=False)
    handed_out = submissions.read_class(tmp_path / "class")
    given = handed_out.chapters()
    folder = tmp_path / "submissions"
    for student, notebook in (("right", handout.solution), ("starter", handout.student)):
        (folder / student).mkdir(parents=True)
        shutil.copy(notebook, folder / student)
    # One student has the first wrong answers of all questions: each question is graded apart. Only an answer that stands on another
    # one is handed in alone. That every wrong answer is rejected is tested in one process, where it costs a tenth.
    students: dict[str, list[handouts.WrongAnswer]] = {}
    for wrong in {each.question: each for each in reversed(handouts.wrong_answers(master))}.values():
        answers = given[master.stem].answers.items()
        others = {name for question, names in answers if question != wrong.question for name in names}
        is_alone = bool(submissions.used_names(wrong.code) & others)
        students.setdefault(f"{wrong.question if is_alone else ''}wrong", []).append(wrong)
    for student, wrong_answers in students.items():
        notebook = json.loads(handout.student.read_text())
        codes = {each.question: each.code for each in wrong_answers}
        for cell in notebook["cells"]:
            question = given[master.stem].ids.get(cell["id"])
            if cell["cell_type"] == "code" and question in codes:
                cell["source"] = codes[question]
        (folder / student).mkdir()
        (folder / student / f"{master.stem}.ipynb").write_text(json.dumps(notebook))

    results, _ = grading.grade(
        submissions.find(folder, [master.stem]),
        handed_out,
        out=tmp_path / "grades.csv",
        hidden=[],
        limits=Limits(wall_seconds=600),  # a busy machine's clock is not what is tested
        jobs=2,
    )
    of = {(each.student, each.question): each for each in results}
    for question in given[master.stem].questions:
        assert of["right", question].points == of["right", question].most, of["right", question]
        assert of["starter", question].points == 0, of["starter", question]
    for student, wrong_answers in students.items():
        for wrong in wrong_answers:
            result = of[student, wrong.question]
            assert result.points <= grading.PARTIAL * result.most, wrong.misconception
            assert "longer than" not in result.note
            assert "processor time" not in result.note
