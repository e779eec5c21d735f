"""Flame graphs: where each frame stands, and how boxes are drawn. Callers are below what they call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from engineroom.show.style import INK, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["LEAST_PERCENT", "Flame", "Frame", "frames", "paths", "sampled", "table_of"]

LEAST_PERCENT = 0.3
# So many letters of nine points fit across the narrow and the wide drawing.
_LETTERS = (46, 95)


class Frame(NamedTuple):
    """A call path from the outermost function, where its box begins and how wide it is, percent of everything."""

    path: tuple[str, ...]
    start_percent: float
    share_percent: float


def paths(column: Iterable[str]) -> list[tuple[str, ...]]:
    """Call paths as they are recorded, outermost first, a semicolon between two."""
    return [tuple(path.split(";")) for path in column]


def frames(found: Iterable[tuple[tuple[str, ...], float]], *, deepest: int | None = None) -> list[Frame]:
    """Every frame that is wide enough to see, of call paths and what was counted in each; the widest stand left."""
    weight: dict[tuple[str, ...], float] = {}
    total = 0.0
    for path, counted in found:
        total += counted
        for depth in range(len(path[:deepest])):
            weight[path[: depth + 1]] = weight.get(path[: depth + 1], 0.0) + counted
    callees: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for path in weight:
        callees.setdefault(path[:-1], []).append(path)
    placed: list[Frame] = []

    def place(caller: tuple[str, ...], start: float) -> None:
        for path in sorted(callees.get(caller, ()), key=lambda path: (-weight[path], path)):
            wide = 100 * weight[path] / total
            if wide >= LEAST_PERCENT:
                placed.append(Frame(path, start, wide))
                place(path, start)
            start += wide

    place((), 0.0)
    return placed


def table_of(
    found: Iterable[tuple[tuple[str, ...], float]],
    *,
    deepest: int | None = None,
    more: Callable[[tuple[str, ...]], dict[str, object]] = lambda _: {},
) -> pd.DataFrame:
    """A row per frame: its depth from 0, where it begins, how wide it is, percent of all, its name, and `more` of its path."""
    return pd.DataFrame(
        [
            {"depth": len(path) - 1, "start_percent": start, "share_percent": wide, "frame": path[-1]}
            | more(path)
            for path, start, wide in frames(found, deepest=deepest)
        ]
    )


def sampled(
    run: Run,
    *,
    deepest: int,
    more: Callable[[tuple[str, ...]], dict[str, object]] = lambda _: {},
) -> pd.DataFrame:
    """The `table_of` a run of sampled stacks."""
    found = zip(paths(run.table["path"]), run.table["samples"], strict=True)
    return table_of(found, deepest=deepest, more=more)


@dataclass(frozen=True, kw_only=True)
class Flame:
    """A box per row with its name where that fits; `style` gives the colour and hatch that the value in `by` has."""

    of: str
    style: Callable[[str], tuple[str, str]]
    by: str = "frame"

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows of `table_of`."""
        from matplotlib.patches import Rectangle

        across = _LETTERS[0] if is_narrow(ax) else _LETTERS[1]
        columns = (table[name] for name in ("depth", "start_percent", "share_percent", "frame", self.by))
        for depth, start, wide, frame, kind in zip(*columns, strict=True):
            colour, hatch = self.style(kind)
            box = Rectangle(
                (start, depth), wide, 0.92, facecolor=colour, edgecolor=INK, linewidth=0.5, hatch=hatch
            )
            box.set_alpha(0.4)
            ax.add_patch(box)
            if len(frame) <= wide / 100 * across:
                ax.text(start + 0.5, depth + 0.46, frame.strip("()"), fontsize=9, va="center", clip_on=True)
        ax.set_xlim(0, 100)
        ax.set_ylim(0, table["depth"].max() + 1)
        ax.set_yticks([])
        ax.set_xlabel(f"percent of {self.of}")
