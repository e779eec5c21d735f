"""Each exercise three ways: its starter fails, its solution passes, its planted wrong answers are rejected."""

from __future__ import annotations

import functools
import json
import re
import zipfile
from collections import Counter

import pytest

from engineroom.chapters.hash_join import exercises as hash_join
from engineroom.teach import fresh, handouts, masters
from engineroom.teach.trial import Trial, tried

pytestmark = pytest.mark.usefixtures("spilled_to_memory")
MASTERS = handouts.masters()
# What they answer is right; that it costs too much is found by a test of its own.
RIGHT_BUT_DEAR = {
    ("hash_join", "A nested loop gives the same rows"),
    ("lock_sys", "Each waiter walks to its end"),
}
# Refused for what they are, before what they say is compared: the message tells that.
REFUSED_BY_KIND = {
    ("engine", "A part of a client is one, too"),
}
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda master: master.stem)


def code_cells(notebook):
    return [
        cell for cell in handouts._nbformat().read(notebook, as_version=4).cells if cell.cell_type == "code"
    ]


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    """A function from a master to its handouts, made once."""
    folder = tmp_path_factory.mktemp("class")
    return functools.cache(
        lambda master, seed=0: handouts.make(master, folder / str(seed), seed=seed, run_tests=False)
    )


@pytest.fixture(scope="module")
def planted():
    """A function from a master to its planted wrong answers, read once."""
    return functools.cache(handouts.wrong_answers)


@pytest.fixture(scope="module")
def failures(planted):
    """A function from a master to each wrong answer with the failures of its question's tests, tried once."""

    def tried(master):
        fresh.reseed(0)
        trials = {each.name: Trial(each) for each in handouts.questions(master)}
        return [(wrong, trials[wrong.question].failures(wrong.code)) for wrong in planted(master)]

    return functools.cache(tried)


@each_master
def test_every_starter_fails(handout, master):
    starters = tried(handout(master).student, handouts.questions(master))
    assert [question.name for question, failed in starters if not failed] == []


@pytest.mark.parametrize("seed", [0, 1, 2])
@each_master
def test_every_solution_passes(handout, master, seed):
    for question, failed in tried(handout(master, seed).solution, handouts.questions(master, seed=seed)):
        assert failed == [], question.name


@each_master
def test_every_planted_wrong_answer_is_rejected_by_a_test(failures, master):
    for wrong, failed in failures(master):
        assert any(each.is_by_a_test for each in failed), (wrong, failed)


@each_master
def test_every_planted_wrong_answer_is_recognised(failures, master):
    missed = [
        (wrong.question, wrong.misconception, failed)
        for wrong, failed in failures(master)
        if wrong.misconception not in {name for each in failed for name in each.looks_like}
        and (master.stem, wrong.misconception) not in RIGHT_BUT_DEAR | REFUSED_BY_KIND
    ]
    assert missed == []


@each_master
def test_every_question_has_three_wrong_answers_and_hidden_tests_are_needed(failures, planted, master):
    outcomes = {each.name for each in handouts.questions(master)}
    assert len(outcomes) >= 6
    wrong_answers = Counter(wrong.question for wrong in planted(master))
    assert all(wrong_answers[question] >= 3 for question in outcomes), wrong_answers

    let_through = {
        wrong.question for wrong, failed in failures(master) if all(each.hidden for each in failed)
    }
    assert len(let_through) >= len(outcomes) // 2, "the visible tests alone give nearly everything away"


@each_master
def test_students_get_neither_solutions_nor_hidden_tests(handout, master):
    made = handout(master)
    student = made.student.read_text()
    solution = code_cells(made.solution)
    assert "SOLUTION" not in student
    with zipfile.ZipFile(made.autograder) as archive:
        tests = "".join(
            archive.read(name).decode() for name in archive.namelist() if name.startswith("tests/")
        )
    hidden = re.findall(r"hidden=True\)\s+def (\w+)", tests)
    assert hidden
    assert not [name for name in hidden if name in student]
    for cell in solution:
        if "otter_assign_solution_cell" in cell.metadata.get("tags", []):
            assert json.dumps(cell.source)[1:-1] not in student


def test_another_seed_asks_for_other_answers_and_writes_its_data_out(handout):
    def answers(seed: int) -> list[str]:
        cases = hash_join.cases(seed).values()
        return [min(case.algorithms(), key=lambda name: hash_join.work(case, name)) for case in cases]

    assert len({tuple(answers(seed)) for seed in range(6)}) >= 3
    master = next(master for master in MASTERS if master.stem == "hash_join")
    one, other = (
        "\n".join(cell.source for cell in code_cells(handout(master, seed).student)) for seed in (0, 7)
    )
    assert "{'outer_rows': 20, 'inner_rows': 100000," in one
    assert "{'outer_rows': 20, 'inner_rows': 100000," not in other
    assert not any(word in text for word in ("class seed", "classroom", "recorded") for text in (one, other))


def test_every_question_has_three_hints():
    for master in MASTERS:
        for each in masters.read(master).questions:
            hints = re.findall(r"<summary>Hint (\d)</summary>\n\n(\S.*)\n\n</details>", each.text)
            assert [number for number, _ in hints] == ["1", "2", "3"], each.heading
            assert len({text for _, text in hints}) == 3, each.heading
