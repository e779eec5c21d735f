"""Whole numbers in another form are right, also where they are names; a part of one, and data that an answer changes, are not."""

from __future__ import annotations

import pytest

from engineroom.teach import fresh, handouts
from engineroom.teach.trial import Trial

FORMS = {  # a question, its solution with floats for the names that it returns, and with half of one added
    ("binlog", "q4"): "never_worth = lambda levels, off=never_worth: [level + {} for level in off(levels)]",
    ("cats", "q3"): "next_one = lambda queue, place=next_one: place(queue) + {}",
    ("group_commit", "q4"): "lost = lambda pair, lost=lost: [xid + {} for xid in lost(pair)]",
    ("hash_join", "q3"): "hash_join = lambda *given, join=hash_join: [(a, b + {}) for a, b in join(*given)]",
    ("join_order", "q4"): "defeats_dpsize = [(0, i + {}) for i in range(1, 10)]",
    ("lock_sys", "q6"): "to_end = lambda waits, session=to_end: session(waits) + {}",
}
CHANGING = {  # a question, and an answer that changes what it is given
    ("binlog", "q4"): "never_worth = lambda levels, off=never_worth: (off(levels), levels.clear())[0]",
    ("low_concurrency", "q6"): "difference = lambda a, b, told=difference: a['cpu_us'].sort() or told(a, b)",
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


@pytest.mark.parametrize("question", FORMS, ids="-".join)
def test_a_name_may_be_a_whole_number_of_any_kind_and_no_part_of_one(said, question):
    assert said(*question, FORMS[question].format("0.0")) == []
    assert said(*question, FORMS[question].format("0.5"))


@pytest.mark.parametrize("question", CHANGING, ids="-".join)
def test_who_changes_what_is_given_is_told_in_sight(said, question):
    first, *others = said(*question, CHANGING[question])
    assert "it changes what it is given" in first.said
    assert not first.hidden
    assert any(each.hidden and "it changes what it is given" in each.said for each in others)
