"""What no compiler looks for in native/: awaits inside conditions, which machine/concept.hpp forbids for gcc 12."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from engineroom import paths

NATIVE = paths.root() / "native"
# GoogleTest's checks are conditions, too: each expands to an if.
HEAD = re.compile(r"\b(if|while|for|switch|(?:EXPECT|ASSERT)_\w+)\s*(?:constexpr\s*)?\(")
LITERAL = re.compile(r"'(?:\\.|[^'\\\n])'|\"(?:\\.|[^\"\\\n])*\"")


def conditions(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each condition: what stands in the parentheses behind an if and its like, over any number of lines.

    Comments count, since readers copy from them; what stands in quotes does not.
    """
    text = LITERAL.sub(lambda literal: literal[0][0] + " " * (len(literal[0]) - 2) + literal[0][0], text)
    for head in HEAD.finditer(text):
        depth, end = 1, head.end()
        while depth > 0 and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text.count("\n", 0, head.start()) + 1, text[head.end() : end - 1]


def awaits_in_conditions(text: str) -> list[int]:
    """The lines of conditions that await."""
    return [line for line, condition in conditions(text) if re.search(r"\bco_await\b", condition)]


def test_no_condition_awaits():
    files = [file for file in NATIVE.rglob("*") if file.suffix in (".hpp", ".cpp")]
    assert files
    found = [
        f"{file.relative_to(NATIVE)}:{line}"
        for file in sorted(files)
        for line in awaits_in_conditions(file.read_text(encoding="utf-8"))
    ]
    assert found == [], "await into a variable before the condition: machine/concept.hpp says why"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if (co_await m.load(word) == 0) co_return;", [1]),
        ("//   if (!co_await is_it_so()) co_await event.wait(m, seen);", [1]),
        ("x = 1;\nwhile (f(a) &&\n       g(co_await m.load(word),\n         b)) {\n}", [2]),
        ("do {\n} while (co_await m.load(word) != 0);", [2]),
        ("for (auto seen = co_await m.load(word); seen < 5; ++seen) {}", [1]),
        ("if constexpr (is_new) {\n  switch (co_await m.load(word)) {}\n}", [2]),
        ("EXPECT_FALSE(\n    co_await never.wait(m, seen));", [1]),
        ('if (c == \'(\' || s == ")\\"(") co_await m.yield();', []),
        ("if (seen == 0) co_await m.yield();\nwhile (true) {\n  co_await m.yield();\n}", []),
        ("const bool is_set = co_await m.cas(word, seen, (1));\nif (is_set) co_return;", []),
        ("co_await notify(co_await m.load(word));", []),
    ],
)
def test_an_await_in_a_condition_is_found_and_one_elsewhere_is_not(text, lines):
    assert awaits_in_conditions(text) == lines
