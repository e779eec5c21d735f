"""The instructor's table is what the exercises say."""

from __future__ import annotations

from engineroom.classroom import handouts, plan


def test_the_guide_has_the_table_of_the_present_exercises():
    text = plan.page().read_text()
    assert text.split(plan.MARKS[0])[1].split(plan.MARKS[1])[0] == plan.written(), (
        "python -m engineroom.classroom.plan"
    )


def test_each_question_has_its_label():
    found = plan.labels(handouts.masters()[0])
    assert [each.question for each in found] == [f"q{n}" for n in range(1, len(found) + 1)]
    assert all(each.minutes >= 5 and 1 <= each.stars <= 3 for each in found)
