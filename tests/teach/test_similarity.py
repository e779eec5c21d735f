"""A copy is named, also one with other names, numbers and order; students who solved a question alike by themselves are not."""

from __future__ import annotations

from engineroom.teach import similarity

LONG = """
def ready(tail, reported):
    end_of = {start: end for start, end in reported}
    seen = []
    while tail in end_of:
        if len(seen) > 10_000:
            raise ValueError("a ring")
        seen.append(tail)
        following = end_of[tail]
        tail = max(following, tail + 1)
    return tail if seen else tail + 0
"""
RENAMED = (
    LONG.replace("end_of", "links").replace("seen", "walked").replace("10_000", "500").replace("tail", "at")
)
OTHER = """
def ready(tail, reported):
    for start, end in sorted(reported):
        if start != tail:
            break
        tail = end
    return tail
"""
THIRD = "def ready(tail, reported):\n    return next((ready(e, reported) for s, e in reported if s == tail), tail)\n"


def named(**code):
    return [
        (pair.one, pair.other)
        for pair in similarity.pairs({who: {"a.q1": text} for who, text in code.items()})
    ]


def test_a_copy_with_other_names_and_numbers_is_named_with_its_question():
    (pair,) = similarity.pairs({"a": {"c.q1": LONG}, "b": {"c.q1": RENAMED}, "c": {"c.q1": OTHER}})
    assert (pair.one, pair.other, pair.questions) == ("a", "b", ("c.q1",))
    assert pair.share > 0.99


def test_a_line_more_or_in_another_place_hides_no_copy():
    moved = RENAMED.replace("    walked = []\n", "").replace("    links =", "    walked = []\n    links =")
    more = LONG.replace("    return", "    print(tail)\n    return")
    assert named(a=LONG, b=moved, c=more, d=OTHER) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_other_solutions_and_short_ones_are_nobodys_copy():
    assert named(a=LONG, b=OTHER, c=THIRD, d=THIRD, e="x = {'A': 1, 'B': 2}", f="x = {'A': 2, 'B': 2}") == []


def test_what_most_of_a_class_have_names_nobody():
    assert named(**{f"s{n}": LONG for n in range(30)}) == []


def test_a_cell_that_cannot_be_read_is_like_no_other():
    assert named(a="def (", b="def (") == []
