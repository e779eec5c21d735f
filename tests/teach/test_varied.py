"""Each student has a constant of their own in the functions that are written; a neighbour's function fails, and whatever is right stays right."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest

from engineroom.teach import fresh, handouts, masters, varied
from engineroom.teach.grading import variants
from engineroom.teach.trial import Trial, tried

pytestmark = pytest.mark.usefixtures("spilled_to_memory")
SECRET = b"only the instructor has this one"
MASTERS = [master for master in handouts.masters() if master.stem in varied.declared()]
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda master: master.stem)


def seeds_of(master, students=30):
    return [variants.seed_of(SECRET, f"student-{i}", master.stem) for i in range(students)]


def test_every_question_has_a_variant_or_the_reason_why_it_has_none():
    for master in MASTERS:
        said = varied.declared()[master.stem]
        for question, entry in said.items():
            assert len({"says", "same", "seed"} & set(entry)) == 1, (master.stem, question)
    every = [entry for said in varied.declared().values() for entry in said.values()]
    reasons = [entry["same"] for entry in every if "same" in entry]
    assert all(len(reason.split()) > 5 for reason in reasons)
    print(f"the same for all: {len(reasons)} of {len(every)} questions")
    assert len(reasons) <= 0.1 * len(every)


@each_master
def test_what_is_said_to_follow_from_the_seed_does(master):
    one, other = (
        {each.name: each for each in handouts.questions(master, seed=seed)} for seed in seeds_of(master, 2)
    )
    for question, entry in varied.declared()[master.stem].items():
        if name := entry.get("seed"):
            first, second = (repr(Trial(each[question]).before[name]) for each in (one, other))
            assert first != second, question


@each_master
def test_the_book_itself_is_no_variant(master):
    assert handouts.questions(master) == handouts.questions(master, seed=0)
    assert all(
        varied.variant(master.stem, question, 0) is None for question in varied.declared()[master.stem]
    )


@pytest.mark.slow
@each_master
def test_what_is_right_or_wrong_in_the_book_is_so_in_a_variant(master):
    fresh.reseed(0)
    (seed,) = seeds_of(master, 1)
    book = {each.name: each for each in handouts.questions(master)}
    asked = {each.name: each for each in masters.read(master).questions}
    for question in handouts.questions(master, seed=seed):
        variant = varied.variant(master.stem, question.name, seed)
        if variant is None:
            continue
        trial = Trial(question)
        assert trial.failures(question.solution) == [], question.name
        assert trial.failures(book[question.name].solution), f"{question.name}: the book's answer passes"
        answers = [(code, False) for _, code in asked[question.name].wrong]
        answers += [(code, True) for code in asked[question.name].right]
        for code, is_right in answers:
            failed = trial.failures(variant.answer(code, book[question.name].solution))
            assert (failed == []) == is_right, (question.name, code, failed)


@pytest.mark.slow
@each_master
def test_a_function_copied_from_a_neighbour_fails_for_all_pairs_of_thirty(master, monkeypatch):
    """One failed test leaves a quarter of the points; those that share a constant by chance are counted and few."""
    made, Oracle = {}, fresh.Oracle

    def once(name, before, solution, _):
        """An oracle per student, which is asked for no misconception."""
        return made.setdefault((name, *before, solution), Oracle(name, before, solution, {}))

    monkeypatch.setattr(fresh, "Oracle", once)
    fresh.reseed(0)
    seeds = seeds_of(master)
    by_student = [{each.name: each for each in handouts.questions(master, seed=seed)} for seed in seeds]
    for question, entry in varied.declared()[master.stem].items():
        if "says" not in entry:
            continue
        own = [varied.variant(master.stem, question, seed) for seed in seeds]
        # The drawn inputs first: they tell copies sooner than fixed ones.
        asked = [dataclasses.replace(each[question], tests=each[question].tests[::-1]) for each in by_student]
        trials = [Trial(each) for each in asked]
        pairs = [
            (one, other)
            for one, other in itertools.permutations(range(len(seeds)), 2)
            if own[one] != own[other]
        ]
        # Neighbours whose solutions are the same text are tried once for each student.
        different = {(one, asked[other].solution): other for one, other in pairs}
        passed = [
            (own[one].says, own[other].says)
            for (one, solution), other in different.items()
            if not trials[one].failures(solution, first_only=True)
        ]
        assert passed == [], question
        share = variants.shared(master.stem, seeds)[question]
        assert abs(share - 1 + len(pairs) / (len(seeds) * (len(seeds) - 1))) < 1e-9
        print(f"{master.stem} {question}: {100 * share:.1f} % of the pairs have the same constant")
        assert share <= 0.1, question


def test_a_student_reads_the_variant_with_an_example_and_not_its_solution(tmp_path):
    (master,) = (each for each in MASTERS if each.stem == "hash_join")
    (seed,) = seeds_of(master, 1)
    made = handouts.make(master, tmp_path, seed=seed, run_tests=False)
    said = varied.variant("hash_join", "q2", seed).says
    assert said in made.student.read_text()
    assert "of_the_book" not in made.student.read_text()
    assert "block_nested_loop_of_the_book" in made.solution.read_text()
    header = int(re.findall(r"\d+", said)[0])
    assert f"`block_nested_loop(9, 100, 100, {400 + header})` is `(3, 900)`" in made.student.read_text()
    solutions = tried(made.solution, handouts.questions(master, seed=seed))
    assert not any(failed for _, failed in solutions)
