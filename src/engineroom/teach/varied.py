"""What differs from student to student in a function that is written: a constant of the task, as the question's `toml` block declares it.

A variant is a sentence of the task with drawn constants. What it asks for is the book's function seen through a change of what goes in
(`takes`) or of what comes out (`gives`), and the same undone (`given`, `back`). So the book's solution, its wrong answers and its right ones in other words
become those of a variant, and the tests ask an answer through the undoing: they need no second copy.

    says = "The sentence of the task, with $name for each constant."
    draws = {name = [LEAST, GREATEST, STEP]}    # or {sample = HOW_MANY, between = [LEAST, GREATEST]}, or {among = [...]}
    function.NAME.takes = {argument = "argument - $name"}
    function.NAME.given = {argument = "argument + $name"}    # only where it is not `takes` with the other signs
    function.NAME.gives = "result + $name"
    function.NAME.back = "result - $name"    # only where it is not `gives` with the other signs

A question without it has `seed`, the name of given data that follow from the seed, or `same`, the reason why it is the same for all.
"""

from __future__ import annotations

import ast
import functools
import random
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engineroom.teach import masters

__all__ = ["Change", "Variant", "declared", "variant"]

OF_THE_BOOK = "_of_the_book"
INVERSE = {"+": "-", "-": "+", "*": "/", "/": "*"}


@dataclass(frozen=True)
class Change:
    """How a function of a variant differs from the book's; expressions of its parameters and of its `result`."""

    takes: Mapping[str, str] = field(default_factory=dict)  # from what the variant is called with
    gives: str = "result"
    given: Mapping[str, str] = field(default_factory=dict)  # the inverse of `takes`
    back: str = "result"  # the inverse of `gives`


@dataclass(frozen=True)
class Variant:
    """A question as one student has it."""

    says: str
    changes: Mapping[str, Change]  # by the function's name

    def answer(self, code: str, solution: str) -> str:
        """An answer to the book's question as one to this variant's. What calls itself calls the book's."""
        tree = ast.parse(code)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in self.changes:
                node.id += OF_THE_BOOK
            elif isinstance(node, ast.FunctionDef) and node.name in self.changes:
                node.name += OF_THE_BOOK
        return "\n\n\n".join([ast.unparse(tree), *self._functions(solution)]) + "\n"

    def notebook(self, cell: str, solution: str) -> str:
        """The cell of the solution with its addition, which otter takes out of a student's."""
        kept = "\n".join(f"{name}{OF_THE_BOOK} = {name}" for name in self.changes)
        added = "\n\n\n".join([kept, *self._functions(solution)])
        return f"{cell.rstrip()}\n\n\n# BEGIN SOLUTION NO PROMPT\n{added}\n# END SOLUTION"

    def _functions(self, solution: str) -> list[str]:
        signatures = _signatures(solution)
        return [
            _through(name, signatures[name], name + OF_THE_BOOK, change.takes, change.gives)
            for name, change in self.changes.items()
        ]

    def asked(self, name: str, solution: str, tests: list[str]) -> Iterator[tuple[Any, ...]]:
        """What the tests' calls with written values ask of this variant's function."""
        signature, change = _signatures(solution)[name], self.changes[name]
        for node in (each for test in tests for each in ast.walk(ast.parse(test))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == name and not node.keywords:
                try:
                    values = [ast.literal_eval(each) for each in node.args]
                except ValueError:
                    continue
                space = dict(zip((each.arg for each in signature.args), values, strict=False))
                if all(each in space for each in change.given):
                    yield tuple(eval(change.given.get(each, each), dict(space)) for each in space)

    def test(self, source: str, solution: str) -> str:
        """A test of the book's question that asks an answer to this variant's."""
        signatures = _signatures(solution)
        (function,) = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
        wanted = {each.arg for each in function.args.args}
        lines = []
        for name, change in self.changes.items():
            if name in wanted:
                asked = f"{name}_of_the_variant"
                lines += [
                    f"{asked} = {name}",
                    "",
                    *_through(name, signatures[name], asked, change.given, change.back).splitlines(),
                    "",
                ]
        before, after = (
            source.splitlines()[: function.body[0].lineno - 1],
            source.splitlines()[function.body[0].lineno - 1 :],
        )
        return "\n".join([*before, *(f"    {line}" if line else "" for line in lines), *after])


def _through(name: str, signature: ast.arguments, asked: str, into: Mapping[str, str], out: str) -> str:
    """A function that asks another of the same parameters."""
    values = ", ".join(into.get(each.arg, each.arg) for each in signature.args)
    return f"def {name}({ast.unparse(signature)}):\n    result = {asked}({values})\n    return {out}"


def _signatures(code: str) -> dict[str, ast.arguments]:
    return {node.name: node.args for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}


@functools.cache
def declared() -> dict[str, dict[str, dict[str, Any]]]:
    """By chapter and question."""
    return {
        master.stem: {each.name: each.declared for each in masters.read(master).questions}
        for master in masters.files()
    }


def variant(chapter: str, question: str, seed: int) -> Variant | None:
    """The variant of a seed; None for 0, which is the book's own, and for a question that has none."""
    entry = declared().get(chapter, {}).get(question, {})
    if seed == 0 or "says" not in entry:
        return None
    dice = random.Random(f"{chapter}-{question}-{seed}")
    drawn: dict[str, str] = {}
    for name, limits in entry["draws"].items():
        if "among" in limits:
            drawn[name] = str(dice.choice(limits["among"]))
        elif "between" in limits:  # several that differ
            low, high = limits["between"]
            values = dice.sample(range(low, high + 1), limits["sample"])
            drawn |= {name: repr(values)} | {f"{name}{i}": str(value) for i, value in enumerate(values)}
        else:
            low, high, *step = limits
            drawn[name] = str(dice.choice(range(low, high + 1, *step)))

    def filled(text: str) -> str:
        return string.Template(text).substitute(drawn)

    changes = {}
    for name, change in entry["function"].items():
        takes, gives = change.get("takes", {}), change.get("gives", "result")
        given = change.get("given") or {argument: _undone(text) for argument, text in takes.items()}
        changes[name] = Change(
            takes={argument: filled(text) for argument, text in takes.items()},
            gives=filled(gives),
            given={argument: filled(text) for argument, text in given.items()},
            back=filled(change.get("back") or _undone(gives)),
        )
    return Variant(filled(entry["says"]), changes)


def _undone(expression: str) -> str:
    """Its inverse, where it only adds, takes off, multiplies or divides."""
    return re.sub(r"(?<= )[-+*/](?= )", lambda sign: INVERSE[sign[0]], expression)
