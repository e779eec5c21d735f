"""A chapter's exercises as a notebook for a reader alone: each answer is checked by the cell below it, with the visible tests and without a grader."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engineroom.teach import handouts, masters

__all__ = ["check", "write"]

GRADED = re.compile(r"`grader\.check\(.*")
CHECKED = "The last cell of each question checks your answer. Solutions are folded at the end of the chapter."
MARKED = re.compile(r"^( *)# BEGIN SOLUTION$.*?^ *# END SOLUTION$", re.MULTILINE | re.DOTALL)
MARKED_LINE = re.compile(r"= .*# SOLUTION$", re.MULTILINE)


def write(master: Path, target: Path) -> None:
    """Write the notebook of a master, without solutions and hidden tests."""
    read = masters.read(master)
    cells = [("markdown", GRADED.sub(CHECKED, read.introduction)), *(("code", each) for each in read.given)]
    for asked in read.questions:
        cells.append(("markdown", f"## {asked.heading}\n\n{asked.text}"))
        cells += [("code", each) for each in (*asked.given, _starter(asked), _checks(asked))]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": handouts.KERNEL},
        "cells": [
            {"cell_type": kind, "id": f"cell-{n}", "metadata": {}, "source": source}
            | ({"execution_count": None, "outputs": []} if kind == "code" else {})
            for n, (kind, source) in enumerate(cells)
        ],
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _starter(asked: masters.Asked) -> str:
    return asked.starter or MARKED_LINE.sub("= ...", MARKED.sub(r"\1...", asked.cell))


def _checks(asked: masters.Asked) -> str:
    names = re.findall(r"^def (\w+)", "\n".join(asked.visible), re.MULTILINE)
    called = f"practice.check(globals(), {', '.join(names)})"
    return "\n\n\n".join(["from engineroom.teach import practice", *asked.visible, called])


def check(space: Mapping[str, Any], *tests: Callable[..., None]) -> None:
    """Print of each test whether the answers among the names of `space` pass it, and why not."""
    for test in tests:
        said = test.__name__.removeprefix("test_").replace("_", " ")
        try:
            test(*(space[name] for name in inspect.signature(test).parameters))
        except Exception as error:  # noqa: BLE001 (of an answer that is not there yet, anything)
            print(f"✗ {said}: {type(error).__name__}: {error}"[:500])
        else:
            print(f"✓ {said}")
