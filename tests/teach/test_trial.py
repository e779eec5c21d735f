"""Answers that say the right thing in a form that does not do: names that are floats, and data that they change."""

from __future__ import annotations

import pytest

from engineroom.teach import fresh, handouts
from engineroom.teach.trial import Trial

NAMES = {  # a question, and its solution with floats for the names that it returns
    ("binlog", "q4"): "never_worth = lambda levels, off=never_worth: [float(level) for level in off(levels)]",
    ("cats", "q3"): "next_one = lambda queue, place=next_one: float(place(queue))",
    ("group_commit", "q4"): "lost = lambda pair, lost=lost: [xid + 0.0 for xid in lost(pair)]",
    (
        "hash_join",
        "q3",
    ): "hash_join = lambda *given, join=hash_join: [(a and float(a), float(b)) for a, b in join(*given)]",
    ("join_order", "q4"): "defeats_dpsize = [(0.0, float(i)) for i in range(1, 10)]",
    ("lock_sys", "q6"): "to_end = lambda waits, session=to_end: session(waits) + 0.7",
}
CHANGING = {  # a question, and an answer that changes what it is given
    ("binlog", "q4"): "never_worth = lambda levels, off=never_worth: (off(levels), levels.clear())[0]",
    (
        "low_concurrency",
        "q6",
    ): "difference = lambda old, new, told=difference: old['cpu_us'].sort() or told(old, new)",
}


@pytest.fixture
def said():
    """A function from a question, by chapter and name, and what is put behind its solution to what the tests say, visible ones first."""
    fresh.reseed(0)

    def failures(chapter, name, behind):
        master = next(each for each in handouts.masters() if each.stem == chapter)
        question = next(each for each in handouts.questions(master) if each.name == name)
        return Trial(question).failures(question.solution + behind)

    return failures


@pytest.mark.parametrize("question", NAMES, ids="-".join)
def test_a_float_as_a_name_is_refused_in_sight_of_the_student(said, question):
    (first, *_) = said(*question, NAMES[question])
    assert "is a float, and what has a number for its name" in first.said
    assert not first.hidden


@pytest.mark.parametrize("question", CHANGING, ids="-".join)
def test_who_changes_what_is_given_is_told_in_sight(said, question):
    first, *others = said(*question, CHANGING[question])
    assert "it changes what it is given" in first.said
    assert not first.hidden
    assert any(each.hidden and "it changes what it is given" in each.said for each in others)
