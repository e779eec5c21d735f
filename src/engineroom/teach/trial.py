"""One answer to one question, tried in this process against the tests of its master. For our own answers only: nothing is isolated."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom.teach import fresh
from engineroom.teach.grading import judge
from engineroom.teach.grading.submissions import CHECK_CELL, code_cells
from engineroom.teach.handouts import Question

__all__ = ["Failure", "Trial", "tried"]

OWN_CELL = "its cell"


@dataclass(frozen=True)
class Failure:
    """What a test said, and the planted answers that it recognised."""

    test: str
    said: str
    hidden: bool
    looks_like: tuple[str, ...] = ()

    @property
    def is_by_a_test(self) -> bool:
        """Whether a test found the answer wrong, rather than tripped over it."""
        return self.test != OWN_CELL and self.said.startswith(("AssertionError", "Mistaken"))


class Trial:
    """A question with what stands before it, run once for all of its answers."""

    def __init__(self, question: Question) -> None:
        self.question = question

    @functools.cached_property
    def before(self) -> dict[str, Any]:
        space: dict[str, Any] = {"__name__": "__main__"}
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in self.question.before:
                exec(compile(cell, f"<before {self.question.name}>", "exec"), space)  # noqa: S102
        return space

    @functools.cached_property
    def cases(self) -> list[Any]:
        """The test cases, as the grading process has them."""
        marked = "\n".join(
            f"@test_case(hidden={source.startswith('# HIDDEN')})\n{source.removeprefix('# HIDDEN')}"
            for source in self.question.tests
        )
        return judge.test_cases(marked)

    def failures(self, code: str) -> list[Failure]:
        """The tests that an answer fails, in order. An error of its cell is one, too."""
        space, found = dict(self.before), []
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, f"<{self.question.name}>", "exec"), space)  # noqa: S102
        except Exception as error:  # noqa: BLE001 (whatever an answer raises)
            return [Failure(OWN_CELL, f"{type(error).__name__}: {error}", hidden=False)]
        for case in self.cases:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    case.body(**{name: space[name] for name in case.wants})
            except Exception as error:  # noqa: BLE001
                alike = tuple(getattr(error, "looks_like", ()))
                said = f"{type(error).__name__}: {error}"
                found.append(Failure(case.name, said, case.hidden, alike))
        return found


def tried(notebook: Path, questions: list[Question]) -> Iterator[tuple[Question, list[Failure]]]:
    """What is wrong with each answer of a handout, the student's or the solution's, by the same drawn inputs each time."""
    fresh.reseed(0)
    answers, before = {}, ""
    for cell in code_cells(json.loads(notebook.read_text(encoding="utf-8"))):
        if check := CHECK_CELL.match(cell["source"]):
            answers[check[1]] = before
        before = cell["source"]
    for question in questions:
        yield question, Trial(question).failures(answers[question.name])
