"""A rehearsed class says what each kind of answer was worth, and names those that had other points than they deserve."""

from __future__ import annotations

import pytest

from engineroom.teach import handouts, rehearsal
from engineroom.teach.grading.grade import Result


def answer(student: str, kind: str) -> rehearsal.Answer:
    return rehearsal.Answer(student, "toy", "q1", kind, "why")


def result(student: str, points: float) -> Result:
    return Result(student, "toy", "q1", points, 2.0, [], "", "")


def test_an_answer_with_other_points_than_it_deserves_is_a_miss():
    answers = [answer("ann", "right"), answer("bob", "right"), answer("cat", "wrong"), answer("dan", "wrong"),
               answer("eve", "hostile"), answer("fay", "hostile")]  # fmt: skip
    points = {"ann": 2.0, "bob": 0.5, "cat": 0.5, "dan": 2.0, "eve": 0.0}
    seen = rehearsal.summary(
        answers, {(name, "toy", "q1"): result(name, each) for name, each in points.items()}
    )
    assert [(row["answers"], row["as_deserved"]) for row in seen["rows"]] == [(2, 1), (2, 1), (2, 1)]
    assert [each["student"] for each in seen["misses"]] == ["bob", "dan", "fay"], "fay has no result"


def test_what_is_written_judges_the_goal_for_a_whole_class_only():
    seen = rehearsal.summary([answer("ann", "right")], {("ann", "toy", "q1"): result("ann", 2.0)})
    costs = {
        "jobs": 2,
        "made_wall_minutes": 1.0,
        "wall_minutes": 21.0,
        "cpu_minutes": 3.0,
        "goal_wall_minutes": 20,
    }
    seen |= costs | {"load": {"load_before": 0.5, "load_after": 2.0}, "machine": {"date": "2026-11-26", "revision": "abc"}}  # fmt: skip
    assert "was not judged" in rehearsal.written(seen | {"students": 1, "notebooks": 1})
    assert "was missed" in rehearsal.written(seen | {"students": 100, "notebooks": 500})
    assert "1 questions of 500 notebooks took 3.0 minutes" in rehearsal.took(
        seen | {"students": 100, "notebooks": 500}
    )
    for students, notebooks, word in ((1, 1, "was not judged"), (100, 500, "was missed")):
        assert word in rehearsal.took(seen | {"students": students, "notebooks": notebooks})
    assert "| right | all points | 1 | 1 | 100.0 % |" in rehearsal.written(
        seen | {"students": 1, "notebooks": 1}
    )


def test_an_answer_on_which_others_stand_is_never_a_wrong_one():
    earlier = handouts.Question("q1", (), "def total(rows):\n    return sum(rows)\n", ())
    later = handouts.Question("q2", (), "def mean(rows):\n    return total(rows) / len(rows)\n", ())
    assert rehearsal.stand_alone([earlier, later], []) == {"q2"}


@pytest.mark.usefixtures("spilled_to_memory")
def test_a_student_s_notebook_is_answered_and_graded(tmp_path):
    (master,) = (each for each in handouts.masters() if each.stem == "cats")
    seen = rehearsal.rehearse(tmp_path, students=1, notebooks=1, jobs=1, seconds=10, masters=[master])
    assert seen["misses"] == []
    assert sum(row["answers"] for row in seen["rows"]) == len(handouts.questions(master))
    assert seen["rows"][2]["answers"] == 1, "the first student hands in a hostile one"
