"""What the book's page shows of an exercise's data: the cases of its predictions, as the notebook has them.

A fragment holds `<!-- data: EXPRESSION -->` and `<!-- /data -->` in an exercise; `python -m engineroom.teach.plan` writes between them what the
expression is in the book's own variant.
"""

from __future__ import annotations

import pprint
import re
from pathlib import Path

from engineroom import paths
from engineroom.teach import handouts
from engineroom.teach.trial import Trial

__all__ = ["filled", "fragment"]

EXERCISE = re.compile(r"^:label: exercise-[\w-]+-(q\d+)$", re.MULTILINE)
DATA = re.compile(r"(<!-- data: ([^\n]+) -->\n).*?(<!-- /data -->\n)", re.DOTALL)
WIDTH = 110


def fragment(master: Path) -> Path:
    """The exercises of a master as the page includes them."""
    return paths.root() / "book" / "_fragments" / f"{master.stem}_exercises.md"


def filled(master: Path, text: str) -> str:
    """The fragment's text with the data of its exercises written anew."""
    questions = {each.name: each for each in handouts.questions(master)}

    def written(found: re.Match[str]) -> str:
        question = EXERCISE.findall(text[: found.start()])[-1]
        value = eval(found[2], dict(Trial(questions[question]).before))
        return f"{found[1]}```text\n{pprint.pformat(value, width=WIDTH, compact=True, sort_dicts=False)}\n```\n{found[3]}"

    return DATA.sub(written, text)
