"""The exercises as the book's page shows them: each question, the data that it is about, as the book's own variant has them, and afterwards what its solution says."""

from __future__ import annotations

import pprint
from pathlib import Path

from engineroom.teach import handouts, masters
from engineroom.teach.trial import Trial

__all__ = ["exercises"]

WIDTH = 110
COUNTED = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


def exercises(master: Path, *, with_data: bool = True) -> str:
    """The page's text, in MyST. The data that a question is about may need a kernel."""
    read = masters.read(master)
    before = {each.name: each for each in handouts.questions(master)}
    intro = (
        f"Predict first, then run. The same {COUNTED[len(read.questions)]} questions come as "
        f'<a href="../_sources/notebooks/exercises/{master.stem}.ipynb" download>a notebook that checks your answers</a>; for a class, '
        f"`make class` writes one with a grader to `_build/class/{master.stem}/student/`. {read.on_page}"
    )
    parts = [intro]
    for each in read.questions:
        name = f"{master.stem.replace('_', '-')}-{each.name}"
        parts.append(f"````{{exercise}} {each.heading}\n:label: exercise-{name}\n:nonumber:\n\n{each.text}")
        if data := each.declared.get("data"):
            value = _value(data, before[each.name]) if with_data else "… (the data are in make book)"
            parts.append(f"```text\n{value}\n```")
        parts.append(f"<details><summary>Afterwards</summary>\n\n{each.told}\n\n</details>\n\n````")
    return "\n\n".join(parts)


def _value(expression: str, question: handouts.Question) -> str:
    """What an expression is where the question is asked; a text as it is."""
    value = eval(expression, dict(Trial(question).before))
    return (
        value
        if isinstance(value, str)
        else pprint.pformat(value, width=WIDTH, compact=True, sort_dicts=False)
    )
