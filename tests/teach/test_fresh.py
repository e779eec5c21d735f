"""Inputs are drawn, wrong answers named, right ones in other words pass, and the exercises' kinds are mixed."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from engineroom.teach import fresh, handouts, masters, servers
from engineroom.teach.trial import Trial

pytestmark = pytest.mark.usefixtures("spilled_to_memory")
MASTERS = handouts.masters()
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda master: master.stem)
KINDS = ("prediction", "design", "diagnosis", "measurement", "derivation", "rule")


@pytest.fixture
def trials():
    """A function from a master to a trial per question, with the same drawn inputs in each run."""
    fresh.reseed(0)
    return lambda master: {each.name: Trial(each) for each in handouts.questions(master)}


@pytest.mark.slow
@each_master
def test_right_answers_in_other_words_pass(trials, master):
    tried = trials(master)
    failed = [
        (each.name, way, tried[each.name].failures(code))
        for each in masters.read(master).questions
        for way, code in enumerate(each.right, 1)
    ]
    assert [each for each in failed if each[2]] == []


def test_each_question_has_three_right_answers_in_other_words():
    for master in MASTERS:
        for each in masters.read(master).questions:
            assert len(each.right) >= 3, (master.stem, each.name)


def is_of_live_servers(name: str) -> bool:
    """Whether the numbers of a function of `servers` are from live ones, and not from a simulation."""
    of_live = {
        ".live." in servers.EXCERPTS[excerpt][0]
        for excerpt in re.findall(r'excerpt\("(\w+)"\)', inspect.getsource(getattr(servers, name)))
    }
    assert len(of_live) == 1, f"{name} mixes both"
    return of_live.pop()


def measured(master) -> set[str]:
    """The questions, of any kind, about what live servers were recorded to do."""
    return {
        f"q{number}"
        for number, text in re.findall(
            r"^## Question (\d+)\. (.*?)(?=^## |\Z)", master.read_text(), re.MULTILINE | re.DOTALL
        )
        if any(map(is_of_live_servers, re.findall(r"\brecorded\.(\w+)\(", text)))
    }


@each_master
def test_the_kinds_of_a_chapter_are_mixed(master):
    questions = masters.read(master).questions
    kinds = Counter(each.kind for each in questions)
    assert {"prediction", "design", "diagnosis"} <= set(kinds) <= set(KINDS)
    assert kinds["rule"] <= len(questions) / 3
    assert measured(master)
    assert {each.name for each in questions if each.kind == "measurement"} <= measured(master)
    assert [each.name for each in questions] == [f"q{n}" for n in range(1, len(questions) + 1)]


HOURS = {"an": 1, "one": 1, "two": 2, "three": 3, "half": 1 / 2, "quarter": 1 / 4, "three quarters": 3 / 4}
PAGE_TIME = re.compile(r"(\w+)(?: and (?:a )?(half|quarter|three quarters))? hours? for the\s+exercises")
MASTER_TIME = re.compile(
    r"about (\w+)(?: and a (half|quarter))? hours?(?: and (?:a )?(half|quarter|three quarters))?"
)


@each_master
def test_page_and_notebook_say_how_long_the_exercises_take(master):
    minutes = sum(each.minutes for each in masters.read(master).questions)
    page = (master.parents[2] / "book" / master.name).read_text()
    for text, said in ((page, PAGE_TIME), (master.read_text(), MASTER_TIME)):
        (parts,) = said.findall(text)
        hours = sum(HOURS[part] for part in parts if part)
        assert minutes == pytest.approx(60 * hours, abs=20), parts


@each_master
def test_the_guide_counts_a_chapters_exercises_right(master):
    questions = masters.read(master).questions
    text = (master.parents[2] / "book" / "instructors_appendix.md").read_text(encoding="utf-8")
    row = rf"^\| \[[^]]+\]\({re.escape(master.name)}\) \| (\d+) \| (\d+) \| (\d+) \| (.+) \|$"
    minutes, points = sum(each.minutes for each in questions), sum(each.points for each in questions)
    hardest = max(questions, key=lambda each: (each.stars, each.minutes)).title
    expected = (str(len(questions)), str(minutes), str(points), hardest)
    assert re.findall(row, text, re.MULTILINE) == [expected]


def test_same_takes_any_kind_of_number_and_list():
    import numpy as np

    assert fresh.same(np.array([1, 2]), [1, 2])
    assert fresh.same((1.0, np.int64(2)), [1, 2])
    assert fresh.same([2, 1], {1, 2})
    assert not fresh.same({1, 2}, [1, 2])
    assert not fresh.same("12", ["1", "2"])
    assert not fresh.same([1, 2, 3], [1, 2])
    assert fresh.same({"a": (1,)}, {"a": [1]})
    assert fresh.same(np.array(["more"]), ["more"])
    assert not fresh.same(np.array(["more"]), ["fewer"])
    assert fresh.same(np.inf, float("inf"))
    assert not fresh.same(1.0, float("inf"))
    assert not fresh.same(float("inf"), 1.0)
    assert not fresh.same(None, 0)
    assert not fresh.same(True, "True")
    assert fresh.same(Fraction(1, 10), 0.1)
    assert fresh.same([Decimal("0.1"), Decimal(2**80)], [0.1, 2**80])
    assert not fresh.same(Fraction(1, 10), 0.2)
    assert not fresh.same(Decimal("NaN"), 0.2)
    assert fresh.same([np.True_, 0], [True, False])
    assert fresh.same((n for n in (1, 2)), [1, 2])
    assert fresh.same({1: None, 2: None}.keys(), {1, 2})


def test_other_seeds_draw_other_inputs_and_a_student_process_cannot_know_them():
    fresh.reseed(1)
    first = fresh.dice("name", 0).random()
    fresh.reseed(2)
    assert fresh.dice("name", 0).random() != first
    fresh.reseed(1)
    assert fresh.dice("name", 0).random() == first


def test_an_answer_that_is_wrong_as_a_planted_one_is_named():
    oracle = fresh.Oracle(
        "double", [], "def double(n):\n    return 2 * n", {"Square": "def double(n):\n    return n * n"}
    )
    fresh.agree(lambda n: n + n, oracle, lambda draw: (draw.randint(3, 9),))
    with pytest.raises(fresh.Mistaken, match="Square") as caught:
        fresh.agree(lambda n: n**2, oracle, lambda draw: (draw.randint(3, 9),))
    assert caught.value.looks_like == ["Square"]
    with pytest.raises(fresh.Mistaken) as caught:
        fresh.agree(lambda _: 0, oracle, [(1,), (2,)])
    assert caught.value.looks_like == []
    with pytest.raises(ZeroDivisionError):
        fresh.agree(lambda n: n / 0, oracle, [(1,)])


def test_where_many_answers_are_right_the_message_says_what_is_asked():
    oracle = fresh.Oracle("half", [], "def half(n):\n    return n // 2", {})
    with pytest.raises(fresh.Mistaken, match=r"expected: at most half of n; got: 8"):
        fresh.agree(
            lambda n: n, oracle, [(8,)], accepts=lambda got, n: 2 * got <= n, asks="at most half of n"
        )


def test_what_a_solution_or_a_cell_before_it_prints_does_not_come_to_the_terminal(capsys):
    before, solution = ("print('a plan')",), "print('loud')\ndef twice(n):\n    print(n)\n    return 2 * n\n"
    assert fresh.Oracle("twice", before, solution, {}).value.__name__ == "twice"
    question = handouts.Question(
        "q1", before, solution, ("def test_two(twice):\n    assert twice(1) == 2\n",)
    )
    assert Trial(question).failures(solution) == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("given", [12, 12.0, np.int64(12), Fraction(12)])
def test_a_whole_number_may_be_of_any_kind(given):
    assert fresh.whole(given) == 12


@pytest.mark.parametrize("given", [12.5, np.float64(11.9), "12", None])
def test_a_part_of_a_number_is_not_cut_off(given):
    with pytest.raises(AssertionError, match="a whole number, not"):
        fresh.whole(given)


def test_what_changes_its_arguments_is_refused_and_told_so():
    def last(numbers):
        numbers.sort()
        return numbers[-1]

    oracle = fresh.Oracle("last", [], "def last(numbers):\n    return max(numbers)", {})
    fresh.agree(max, oracle, [([3, 1],)])
    with pytest.raises(fresh.Mistaken, match=r"it changes what it is given, \[3, 1\], to \[1, 3\]"):
        fresh.agree(last, oracle, [([1, 2],), ([3, 1],)])
    numbers = [3, 1]
    with pytest.raises(fresh.Mistaken, match="let it work on a copy"):
        fresh.keeps(last, numbers)
    assert numbers == [3, 1]
    fresh.keeps(last, [1, 3])
    fresh.keeps(lambda numbers: numbers[9], [1])


def test_a_generator_and_an_error_of_its_own_kind_are_right_forms():
    oracle = fresh.Oracle(
        "halves", [], "def halves(n):\n    if n % 2:\n        raise ValueError\n    return [n // 2] * 2", {}
    )

    class Odd(ValueError):
        pass

    def halves(n, error):
        if n % 2:
            raise error
        return (n // 2 for _ in range(2))

    fresh.agree(lambda n: halves(n, Odd), oracle, [(4,), (5,)])
    with pytest.raises(KeyError):
        fresh.agree(lambda n: halves(n, KeyError), oracle, [(4,), (5,)])


def test_a_visible_test_tells_who_changes_what_is_given():
    plain = "def test_one(last, rows):\n    assert [last(each) for each in ([1], [2])] == [1, 2]\n    assert last(rows[0]) == 3"
    added = handouts._keeping(plain, {"last"})
    first, *rest = added.splitlines()
    assert [first, *rest[3:]] == plain.splitlines()
    assert rest[2] == "    fresh.keeps(last, rows[0])"
    assert handouts._keeping(plain, {"first"}) == plain
    assert (
        handouts._keeping("def test_one(n):\n    assert n(3) == 3", {"n"})
        == "def test_one(n):\n    assert n(3) == 3"
    )


def test_an_array_that_is_changed_is_seen_and_one_that_is_kept_passes():
    def doubles(values):
        values *= 2
        return values

    fresh.keeps(lambda values: values * 2, np.arange(3))
    with pytest.raises(fresh.Mistaken, match="it changes what it is given"):
        fresh.keeps(doubles, np.arange(3))
