"""Mistakes in solutions: each is a change of one place, and the tests of its question see nearly all of them."""

from __future__ import annotations

import signal
import time
import tomllib
from collections import Counter

import pytest

from engineroom import paths
from engineroom.teach import handouts, mutant_table, mutants, plan
from engineroom.teach.trial import Trial

SOLUTION = """\
def waits(held, asked):
    \"\"\"Whether it waits.\"\"\"
    if held == "S" and asked == "S":
        return False
    return len(held) > 0
"""


def test_a_mutant_differs_in_one_place_and_documentation_is_no_place():
    made = mutants.mutants("q1", SOLUTION)
    assert len({each.name for each in made}) == len(made) == len({each.code for each in made})
    assert all('"""Whether it waits."""' in each.code for each in made)
    assert {"And to Or", "Gt to GtE", "False to True", "0 +1", "the condition turned"} <= {
        each.change for each in made
    }


def test_a_test_that_sees_half_of_them_is_told_so():
    question = handouts.Question(
        "q1", (), SOLUTION, ('def test_shared(waits):\n    assert not waits("S", "S")\n',)
    )
    trial = Trial(question)
    assert trial.failures(SOLUTION) == []
    seen = Counter(bool(trial.failures(each.code)) for each in mutants.mutants("q1", SOLUTION))
    assert seen[True] >= 3
    assert seen[False] >= 3


def test_a_mistake_that_never_ends_is_seen_also_where_each_of_many_cases_is_tried():
    right = "def down(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    test = (
        "def test_inputs(down):\n    from engineroom.teach import fresh\n"
        f"    oracle = fresh.Oracle('down', [], {right!r}, {{'one less': {right.replace('return n', 'return n - 1')!r}}})\n"
        "    fresh.agree(down, oracle, [(n,) for n in range(9)])\n"
    )
    question = handouts.Question("q1", (), right, (test,))
    endless = right.replace("n -= 1", "n += 1").replace("return n", "return n - 1")
    signal.signal(signal.SIGPROF, mutants._too_long)
    begun = time.process_time()
    assert mutants._is_seen(endless, Trial(question), 0.1)
    assert time.process_time() - begun < 1, "not once for each case"


def test_the_table_names_those_that_nobody_sees():
    (first, second, third, *_) = mutants.mutants("q1", SOLUTION)
    verdicts = [
        mutants.Verdict("toy", first, is_killed=True),
        mutants.Verdict("toy", second, is_killed=False),
        mutants.Verdict("toy", third, is_killed=False, equivalent="the same"),
    ]
    text = mutants.table(verdicts)
    assert "| toy | q1 | 3 | 1 | 1 | 50.0 % |" in text
    assert f"survives: toy q1 {second.name}" in text
    assert third.name not in text


def test_a_question_with_few_mutants_says_why_and_no_other_does():
    few = {
        (master.stem, question.name)
        for master in handouts.masters()
        for question in handouts.questions(master)
        if len(mutants.mutants(question.name, question.solution)) < mutants.FEWEST
    }
    entries = tomllib.loads((paths.root() / "data" / "mutants" / "exercises.toml").read_text())["few"]
    reasons = {(each["chapter"], each["question"]): each["reason"] for each in entries}
    assert set(reasons) == few
    assert all(reasons.values())


@pytest.mark.slow
@pytest.mark.usefixtures("spilled_to_memory")
def test_of_a_sample_nearly_all_are_seen():
    chosen = [master for master in handouts.masters() if master.stem in ("binlog", "read_views", "trx_sys")]
    verdicts = [each for each in mutants.judged(chosen, most=8) if not each.equivalent]
    assert len(verdicts) >= 100
    assert sum(each.is_killed for each in verdicts) >= 0.95 * len(verdicts)


def test_a_solution_too_short_for_eight_mutants_has_its_names_swapped():
    short = "def tail(end, ends):\n    while end in ends:\n        end = ends[end]\n    return end\n"
    changes = {each.change for each in mutants.mutants("q1", short)}
    assert {"In to NotIn", "end to ends", "ends to end"} <= changes
    long = short.replace("return end", "return end + 1 - 2 + 3 - 4 + 5")
    assert not any(" to ends" in each.change for each in mutants.mutants("q1", long))


def test_the_recorded_questions_are_those_that_exist():
    exist = {(master.stem, each.question) for master in handouts.masters() for each in plan.labels(master)}
    kept = set(mutant_table.read())
    few = tomllib.loads((paths.root() / "data" / "mutants" / "exercises.toml").read_text())["few"]
    missing = {each for each in exist - kept if each[0] in {chapter for chapter, _ in kept}}
    assert kept <= exist, "engineroom class mutants --record"
    assert missing <= {(each["chapter"], each["question"]) for each in few}, (
        "engineroom class mutants --record"
    )


def test_a_recorded_question_is_judged_again_when_its_tests_change(tmp_path, monkeypatch):
    master = next(each for each in handouts.masters() if each.stem == "cats")
    monkeypatch.setattr(mutant_table, "file", lambda: tmp_path / "exercises.csv")
    monkeypatch.setattr(handouts, "masters", lambda: [master])
    first, *others = handouts.questions(master)
    (one, two, three, *_) = mutants.mutants(first.name, first.solution)
    mutant_table.keep(
        [
            mutants.Verdict("cats", one, is_killed=True),
            mutants.Verdict("cats", two, is_killed=False),
            mutants.Verdict("cats", three, is_killed=False, equivalent="the same"),
        ]
    )
    assert mutant_table.changed([master]) == {("cats", each.name) for each in others}
    (row,) = mutant_table.read().values()
    assert (row.mutants, row.seen, row.equivalent) == (3, 1, 1)
    assert "| [C](cats.md) | 3 | 1 | 1 | q1 1/2 |" in mutant_table.written({"cats": "C"})
    monkeypatch.setattr(mutant_table, "digest", lambda question: question.name)
    assert ("cats", first.name) in mutant_table.changed([master])
