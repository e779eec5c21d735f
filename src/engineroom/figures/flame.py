"""Flame graphs: where each frame stands, and how boxes are drawn. Callers are below what they call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.patches import Rectangle

from engineroom.figures.drawing import INK
from engineroom.figures.lines import is_narrow

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LEAST_PERCENT", "Frame", "boxes", "frames"]

LEAST_PERCENT = 0.3


class Frame(NamedTuple):
    """A call path from the outermost function, where its box begins and how wide it is, percent of everything."""

    path: tuple[str, ...]
    start_percent: float
    share_percent: float


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


def boxes(
    table: pd.DataFrame,
    ax: Axes,
    *,
    style: Callable[[int], tuple[str, str]],
    alpha: float,
    letters: tuple[int, int],
    of: str,
) -> None:
    """A box a row with its name where that fits; `style` gives colour and hatch of row i, `letters` fit the narrow and wide width."""
    across = letters[0] if is_narrow(ax) else letters[1]
    columns = (table[name] for name in ("depth", "start_percent", "share_percent", "frame"))
    for i, (depth, start, wide, frame) in enumerate(zip(*columns, strict=True)):
        colour, hatch = style(i)
        box = Rectangle(
            (start, depth), wide, 0.92, facecolor=colour, edgecolor=INK, linewidth=0.5, hatch=hatch
        )
        box.set_alpha(alpha)
        ax.add_patch(box)
        if len(frame) <= wide / 100 * across:
            ax.text(start + 0.5, depth + 0.46, frame.strip("()"), fontsize=9, va="center", clip_on=True)
    ax.set_xlim(0, 100)
    ax.set_ylim(0, table["depth"].max() + 1)
    ax.set_yticks([])
    ax.set_xlabel(f"percent of {of}")
