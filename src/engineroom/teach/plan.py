"""`python -m engineroom.teach.plan`: the tables of the instructor's guide, made from the exercises and what was recorded of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engineroom import chapters, paths
from engineroom.teach import handouts, mutant_table, rehearsal, servers

__all__ = ["PARTS", "Label", "believed", "filled", "labels", "measured", "page", "part", "written"]

LABEL = re.compile(
    r"^## Question (\d+)\. (.+)\n\n\*(\w+), (★{1,3}), (\d+) minutes, \d+ points?: (.+)\.\*$", re.MULTILINE
)
QUESTION = re.compile(r"^## Question (\d+)\. ", re.MULTILINE)
RECORDED = re.compile(r"\brecorded\.(\w+)\(")
POINTS = re.compile(r" minutes, (\d+) points?: ")


@dataclass(frozen=True)
class Label:
    """What stands under the heading of a question."""

    question: str
    title: str
    kind: str
    stars: int
    minutes: int
    concept: str


def labels(master: Path) -> list[Label]:
    """Of each question that has one, in order."""
    return [
        Label(f"q{number}", title, kind.lower(), len(stars), int(minutes), concept)
        for number, title, kind, stars, minutes, concept in LABEL.findall(master.read_text())
    ]


def measured(master: Path) -> list[str]:
    """The questions, of any kind, about what live servers were recorded to do, in order."""
    _, *parts = QUESTION.split(master.read_text())
    return [
        f"q{number}"
        for number, text in zip(parts[::2], parts[1::2], strict=True)
        if servers.LIVE & set(RECORDED.findall(text))
    ]


def _row(master: Path, title: str) -> str:
    mine = labels(master)
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(each.kind for each in mine).items()))
    points = list(map(int, POINTS.findall(master.read_text())))
    minutes = [each.minutes for each in mine]
    first = max(mine, key=lambda each: each.stars)
    return (
        f"| [{title}]({master.stem}.md) | {len(mine)} | {_sum(minutes)} | {_sum(points)} | {kinds} "
        f"| {', '.join(measured(master))} | {first.title} |"
    )


def _sum(parts: list[int]) -> str:
    """All together, and question by question."""
    return f"{sum(parts)}: {', '.join(map(str, parts))}"


def _titles() -> dict[str, str]:
    return {page.word: page.title for page in chapters.written()}


def written() -> str:
    """The table: per chapter its questions, minutes, points and kinds, those on recorded servers, and the hardest one."""
    head = (
        "| chapter | questions | minutes | points | kinds | on recorded servers | hardest |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    rows = [_row(handouts.masters()[0].with_stem(word), title) for word, title in _titles().items()]
    return head + "\n".join(rows) + "\n"


def believed() -> str:
    """A fold per chapter: what its planted wrong answers take for true, question by question."""
    folds = []
    for word, title in _titles().items():
        master = handouts.masters()[0].with_stem(word)
        lines = []
        for each in labels(master):
            mine = [
                wrong.misconception
                for wrong in handouts.wrong_answers(master)
                if wrong.question == each.question
            ]
            lines.append(f"- *{each.question[1:]}. {each.title}* {'; '.join(dict.fromkeys(mine))}.")
        folds.append(f"```{{admonition}} {title}\n:class: dropdown\n\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(folds)


def page() -> Path:
    """The instructor's guide."""
    return paths.root() / "book" / "instructors.md"


# What stands between the marks of each name in the guide.
PARTS: dict[str, Callable[[], str]] = {
    "plan": written,
    "beliefs": believed,
    "mutants": lambda: mutant_table.written(_titles()),
    "time": rehearsal.took,
    "rehearsal": rehearsal.written,
}


def part(name: str, text: str) -> tuple[str, str, str]:
    """The guide's text before the part of a name, in it, and after; ValueError where its marks are missing."""
    before, rest = text.split(f"<!-- {name}: written by `python -m engineroom.teach.plan` -->\n")
    inside, after = rest.split(f"<!-- /{name} -->\n")
    return before, inside, after


def filled(text: str) -> str:
    """The guide's text with all of its parts written anew."""
    for name, make in PARTS.items():
        _, inside, after = part(name, text)
        text = text.removesuffix(f"{inside}<!-- /{name} -->\n{after}") + make() + f"<!-- /{name} -->\n{after}"
    return text


if __name__ == "__main__":
    page().write_text(filled(page().read_text()))
