"""The instructor's table is what the exercises say."""

from __future__ import annotations

import pytest

from engineroom.teach import handouts, plan


@pytest.mark.parametrize("name", plan.PARTS)
def test_the_guide_has_what_the_exercises_and_their_records_say(name):
    _, inside, _ = plan.part(name, plan.page().read_text())
    assert inside == plan.PARTS[name](), "python -m engineroom.teach.plan"


def test_only_the_parts_are_written_anew():
    text = plan.page().read_text()
    assert plan.filled(text) == text


def test_each_question_has_its_label():
    found = plan.labels(handouts.masters()[0])
    assert [each.question for each in found] == [f"q{n}" for n in range(1, len(found) + 1)]
    assert all(each.minutes >= 5 and 1 <= each.stars <= 3 for each in found)
