"""`python -m engineroom.classroom.plan`: the table of the instructor's guide, made from the exercises themselves."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engineroom import chapters, paths
from engineroom.classroom import handouts

__all__ = ["Label", "labels", "page", "written"]

LABEL = re.compile(r"^## Question (\d+)\. (.+)\n\n\*(\w+), (★{1,3}), (\d+) minutes: (.+)\.\*$", re.MULTILINE)
POINTS = re.compile(r"^name: q\d+\npoints: (\d+)$", re.MULTILINE)
MARKS = ("<!-- plan: written by `python -m engineroom.classroom.plan` -->\n", "<!-- /plan -->\n")


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


def _row(master: Path, title: str) -> str:
    mine = labels(master)
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(each.kind for each in mine).items()))
    points = list(map(int, POINTS.findall(master.read_text())))
    minutes = [each.minutes for each in mine]
    first = max(mine, key=lambda each: each.stars)
    wrong = handouts.wrong_answers(master)
    said = "; ".join(
        each.misconception for each in wrong if each.question in (mine[0].question, mine[-1].question)
    )
    return (
        f"| [{title}]({master.stem}.md) | {len(mine)} | {_sum(minutes)} | {_sum(points)} | {kinds} "
        f"| {first.title} | {'; '.join(said.split('; ')[:2])} |"
    )


def _sum(parts: list[int]) -> str:
    """All together, and question by question."""
    return f"{sum(parts)}: {', '.join(map(str, parts))}"


def written() -> str:
    """The table: per chapter its questions, minutes, points, kinds, the hardest question, and what students believe."""
    titles = {page.word: page.title for page in chapters.written()}
    head = "| chapter | questions | minutes | points | kinds | hardest | what students believe |\n|---|---|---|---|---|---|---|\n"
    rows = [_row(handouts.masters()[0].with_stem(word), title) for word, title in titles.items()]
    return head + "\n".join(rows) + "\n"


def page() -> Path:
    """The instructor's guide."""
    return paths.root() / "book" / "instructors.md"


if __name__ == "__main__":
    text = page().read_text()
    before, rest = text.split(MARKS[0])
    page().write_text(before + MARKS[0] + written() + MARKS[1] + rest.split(MARKS[1])[1])
