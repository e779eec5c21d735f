"""A figure of a chapter: three functions over tables, under the figure's id.

    @figure("fig-7-06", rows=all_rows, picture=Curves(labels=LABELS, x_label="clients", y_label="flushes per transaction"))
    def fig_7_06(table: Rows) -> Words: ...

`rows` makes the table of a run (`engineroom.runs.side_by_side.rows`), `picture` draws it from those rows alone (`Curves`, `Dots`,
`Ranked`, `Bars`, `Steps`, `Flame`, or a function of its own), and the decorated function says what it shows: alt text and caption,
computed from the same rows. Numbers of a source come with the rows, from `data/published`.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import chapters
from engineroom.errors import EngineRoomError
from engineroom.show.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["Figure", "figure", "figure_of", "ids"]


@dataclass(frozen=True)
class Figure:
    """What is drawn under `id`: a table of a run, a picture of the table, and words about it."""

    id: str
    rows: Callable[[Run], pd.DataFrame]
    picture: Callable[[pd.DataFrame, Axes], None]
    words: Callable[[pd.DataFrame], Words]


def figure(
    id: str,
    *,
    rows: Callable[[Run], pd.DataFrame],
    picture: Callable[[pd.DataFrame, Axes], None],
) -> Callable[[Callable[[pd.DataFrame], Words]], Figure]:
    """Make a Figure of the function that says what it shows."""
    return lambda words: Figure(id, rows, picture, words)


@functools.cache
def _homes() -> dict[str, str]:
    """Figure -> the module that draws it, by the text of the modules: nothing is imported to look one up."""
    here = Path(__file__).resolve().parents[1]
    found: dict[str, str] = {}
    for module in (page.module("figures") for page in chapters.recorded()):
        file = here.parent / (module.replace(".", "/") + ".py")
        if file.exists():
            found |= dict.fromkeys(
                re.findall(r'\bfigure\(\s*"([a-z0-9-]+)"', file.read_text(encoding="utf-8")), module
            )
    return found


def ids() -> list[str]:
    """All figures that can be drawn."""
    return list(_homes())


def figure_of(id: str) -> Figure:
    """The figure of that id; EngineRoomError if no chapter draws it."""
    module = _homes().get(id)
    if module is None:
        raise EngineRoomError(
            f"no figure {id!r}",
            remedy="`engineroom ledger` lists the figures; those of unwritten chapters are not drawn yet",
        )
    found: Figure = getattr(importlib.import_module(module), id.replace("-", "_"))
    return found
