"""Each student of a roster has a variant of their own, and another's answers do not fit it."""

from __future__ import annotations

import itertools
import json
import shutil

import pytest
from click.testing import CliRunner

from engineroom.chapters.group_commit import exercises as group_commit
from engineroom.chapters.hash_join import exercises as hash_join
from engineroom.chapters.lock_sys import exercises as lock_sys
from engineroom.errors import EngineRoomError
from engineroom.teach import fresh, handouts, masters
from engineroom.teach.grading import variants
from engineroom.teach.grading.cli import classes

pytestmark = pytest.mark.usefixtures("spilled_to_memory")
SECRET = b"only the instructor has this one"
CLASS = [f"student-{i}" for i in range(30)]


@pytest.mark.parametrize(
    ("chapter", "data"),
    [
        ("hash_join", hash_join.cases),
        ("lock_sys", lock_sys.jobs),
        ("group_commit", group_commit.crashed_pair),
    ],
)
def test_no_two_of_thirty_students_have_the_same_data(chapter, data):
    seeds = [
        variants.seed_of(secret, student, chapter) for secret in (SECRET, b"another") for student in CLASS
    ]
    made = [repr(data(seed)) for seed in seeds]
    assert all(one != other for one, other in itertools.combinations(made, 2))


# Predictions whose answers are numbers or names that no two students share; those of a few choices each can be equal by chance.
PREDICTIONS = {
    "binlog": "sizes",
    "filesort": "counted",
    "join_order": "edge",
    "lock_sys": "locks",
    "low_concurrency": "answer",
    "read_views": "reads",
    "trx_sys": "taken",
}


@pytest.mark.parametrize(("chapter", "name"), PREDICTIONS.items())
def test_an_answer_copied_from_a_neighbour_fails_for_all_pairs_of_thirty(chapter, name):
    (master,) = (master for master in handouts.masters() if master.stem == chapter)
    (question,) = (each for each in handouts.questions(master) if f"\n{name} = " in f"\n{each.solution}")
    answers = []
    for student in CLASS:
        seed = variants.seed_of(SECRET, student, chapter)
        given = [handouts.SEED_LINE.sub(rf"\g<1>{seed}", cell) for cell in question.before]
        answers.append(fresh.Oracle(name, given, question.solution, {}))
    for mine, copied in itertools.permutations(answers, 2):
        assert not fresh.same(copied.value, mine.value)


def test_a_class_is_made_and_a_notebook_copied_whole_loses_what_is_predicted_and_is_named(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET + b"\n")
    (tmp_path / "roster.csv").write_text("name,id\nAnn,ann\nBob,bob\n")
    target = tmp_path / "made"
    made = CliRunner().invoke(
        classes,
        ["make", "--secret", str(tmp_path / "secret"), "--roster", str(tmp_path / "roster.csv"),
         "--target", str(target), "--chapter", "hash_join"],
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    for notebook in (target / "hand-out").rglob("*.ipynb"):
        assert SECRET.decode() not in notebook.read_text()
        assert "SOLUTION" not in notebook.read_text()
    of_ann = target / "grading" / "students" / "ann" / "hash_join" / "autograder" / "hash_join.ipynb"
    for student in ("ann", "bob", "eve"):
        (tmp_path / "in" / student).mkdir(parents=True)
        shutil.copy(of_ann, tmp_path / "in" / student)
    out = tmp_path / "grades.csv"
    graded = CliRunner().invoke(
        classes, ["grade", str(tmp_path / "in"), "--class", str(target), "--out", str(out), "--jobs", "1"]
    )
    assert graded.exit_code == 0, graded.output
    results = {
        (line["student"], line["question"]): line["points"]
        for line in map(json.loads, (tmp_path / "grades.csv.journal").read_text().splitlines()[1:])
    }
    (master,) = (each for each in handouts.masters() if each.stem == "hash_join")
    questions = masters.read(master).questions
    points = {each.name: each.points for each in questions}
    assert {question: results["ann", question] for question in points} == points
    predicted = [each.name for each in questions if each.starter]
    assert len(predicted) >= 2
    assert all(results["bob", question] <= 0.25 * points[question] for question in predicted), results
    assert "- ann and bob: " in (tmp_path / "grades.report.md").read_text()
    assert "eve has no variant" in graded.output


def test_a_secret_that_could_be_guessed_is_refused(tmp_path):
    (tmp_path / "secret").write_text("  short  \n")
    with pytest.raises(EngineRoomError, match="fewer than 16"):
        variants.read_secret(tmp_path / "secret")
