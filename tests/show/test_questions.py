"""Questions that readers answer on a page: each draws cases of its own, whose answer the kernel computes."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from engineroom import chapters
from engineroom.show import bundle, headless

CASES = 24
ASKED = [
    word for word in bundle.words() if "\n  question: {" in bundle.joined(word)
]  # fmt: skip
# A case of the whole engine is four runs.
EACH = [pytest.param(word, marks=[pytest.mark.slow] * (word == "grant_order")) for word in ASKED]
pytestmark = pytest.mark.skipif(headless.node() is None, reason="no Node.js here to run WebAssembly in")

cases_of = functools.cache(lambda word: headless.evaluate(word, cases=CASES)["cases"])


def test_every_chapter_with_a_kernel_in_the_browser_has_a_question():
    without = [
        chapter.word
        for chapter in chapters.written()
        if chapter.modules and not any(word in ASKED for module in chapter.modules for word in module.shown)
    ]
    assert without == []


@pytest.mark.parametrize("word", EACH)
def test_the_right_answer_is_among_choices_that_differ(word):
    for case in cases_of(word):
        assert case["right"] in case["choices"], case
        assert 2 <= len(set(case["choices"])) == len(case["choices"]), case


@pytest.mark.parametrize("word", EACH)
def test_cases_differ_and_no_answer_is_nearly_always_right(word):
    cases = cases_of(word)
    assert len({case["text"] for case in cases}) > CASES / 3
    (_, most), *_ = Counter(case["right"] for case in cases).most_common(1)
    assert most <= 0.8 * CASES


@pytest.mark.parametrize("word", EACH)
def test_a_question_does_not_say_its_answer(word):
    told = [case for case in cases_of(word) if case["why"] in case["text"]]
    assert told == []


@pytest.mark.parametrize("word", EACH)
def test_what_is_right_is_what_the_knobs_show(word):
    """A case that is set by the knobs computes the sentence that explains the answer."""
    cases = cases_of(word)[:4]
    seen = headless.evaluate(word, [case["inputs"] for case in cases])["results"]
    assert [each["sentence"] for each in seen] == [case["why"] for case in cases]
