"""Whose answers are alike: statement by statement, whatever is renamed and whichever numbers are in them. It names pairs and proves nothing."""

from __future__ import annotations

import ast
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engineroom.teach.grading.submissions import MAGIC, Handouts, Submission, answer_cells

__all__ = ["Pair", "answers", "pairs", "told"]

ALIKE = 0.6  # of what is rare in the class
LEAST_STATEMENTS = 8  # that few others have: two short answers are alike by themselves
MOST_TOLD = 50


@dataclass(frozen=True)
class Pair:
    """Two students, how much of what is rare in their answers both have, and the questions in which they have it."""

    one: str
    other: str
    share: float
    questions: tuple[str, ...]


def answers(found: Iterable[Submission], handouts: Handouts) -> dict[str, dict[str, str]]:
    """The code that each student wrote, by question: CHAPTER.QUESTION."""
    made: dict[str, dict[str, str]] = {}
    for each in found:
        given = None if each.fault else handouts.of(each.student, each.chapter)
        for cell in answer_cells(given, each) if given else ():
            if cell["by"] == "student" and cell["question"]:
                mine, question = made.setdefault(each.student, {}), f"{each.chapter}.{cell['question']}"
                source = MAGIC.sub(r"\1pass", cell["source"])
                mine[question] = f"{mine.get(question, '')}\n{source}"
    return made


def pairs(written: Mapping[str, Mapping[str, str]]) -> list[Pair]:
    """Those whose answers are alike, the most alike first. A statement counts for the more, the fewer students have it."""
    shapes = {
        student: Counter((question, shape) for question, code in mine.items() for shape in _shapes(code))
        for student, mine in written.items()
    }
    having = Counter(shape for mine in shapes.values() for shape in mine)
    usual = max(4, len(shapes) / 5)  # so many have what no two have from each other

    def weight(counted: Counter[tuple[str, str]]) -> float:
        return sum(n * math.log(len(shapes) / having[shape] + 1) for shape, n in counted.items())

    found = []
    for one, other in itertools.combinations(sorted(shapes), 2):
        common = shapes[one] & shapes[other]
        rare = Counter({shape: n for shape, n in common.items() if having[shape] <= usual})
        if rare.total() < LEAST_STATEMENTS:
            continue
        share = weight(common) / weight(shapes[one] | shapes[other])
        if share >= ALIKE:
            found.append(Pair(one, other, share, tuple(sorted({question for question, _ in rare}))))
    return sorted(found, key=lambda pair: -pair.share)


def told(found: Iterable[Submission], handouts: Handouts) -> str:
    """A section of the instructor's report."""
    alike = pairs(answers(found, handouts))
    lines = [
        f"- {pair.one} and {pair.other}: {100 * pair.share:.0f} % alike, in {', '.join(pair.questions)}"
        for pair in alike[:MOST_TOLD]
    ]
    said = "\n".join(lines) or "No two students' answers are alike beyond what most have."
    return f"\n## Answers that are alike\n\nNames and numbers are left out of account. Talk with both before you conclude.\n\n{said}\n"


def _shapes(code: str) -> list[str]:
    """Each statement without its names, its constants and the statements in it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [_shape(node) for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_text(node)]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _shape(node: ast.AST) -> str:
    parts = [
        _shape(part)
        for part in ast.iter_child_nodes(node)
        if not isinstance(part, ast.stmt | ast.expr_context | ast.arguments)
    ]
    return f"{type(node).__name__}({','.join(parts)})"
