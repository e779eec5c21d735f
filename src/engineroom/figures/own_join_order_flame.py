"""Our own figure: a flame graph of the server while it plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.patches import Rectangle

from engineroom.figures.drawing import BLUE, INK, ORANGE, VERMILION, Words
from engineroom.figures.lines import is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

GROWING = ("ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement")
UNNAMED = "no exported name"
LEAST_PERCENT = 0.3
DEEPEST = 12


def rows(run: Run) -> pd.DataFrame:
    """One row a frame that is wide enough to see: its depth from 0, where it begins, how wide it is, percent of all samples."""
    total = int(run.table["samples"].sum())
    frames: dict[tuple[str, ...], int] = {}
    for path, samples in zip(run.table["path"], run.table["samples"], strict=True):
        names = tuple(path.split(";"))
        for depth in range(min(len(names), DEEPEST)):
            frames[names[: depth + 1]] = frames.get(names[: depth + 1], 0) + int(samples)
    found: list[dict[str, object]] = []

    def place(parent: tuple[str, ...], start: float) -> None:
        children = [path for path in frames if len(path) == len(parent) + 1 and path[: len(parent)] == parent]
        for path in sorted(children, key=lambda path: (-frames[path], path)):
            wide = 100 * frames[path] / total
            if wide >= LEAST_PERCENT:
                name = path[-1] if "+" not in path[-1] else UNNAMED
                found.append(
                    {"depth": len(path) - 1, "start_percent": start, "share_percent": wide, "frame": name}
                )
                place(path, start)
            start += wide

    place((), 0.0)
    return pd.DataFrame(found)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A box a frame, callers below what they call; the enumerator is hatched."""
    across = 52 if is_narrow(ax) else 105  # letters in the full width
    columns = (table[name] for name in ("depth", "start_percent", "share_percent", "frame"))
    for depth, start, wide, frame in zip(*columns, strict=True):
        is_growing = frame in GROWING
        box = Rectangle((start, depth), wide, 0.92, alpha=0.45, edgecolor=INK, linewidth=0.5)
        box.set_facecolor(BLUE if is_growing else VERMILION if frame == UNNAMED else ORANGE)
        box.set_hatch("//" if is_growing else "")
        ax.add_patch(box)
        if len(frame) <= wide / 100 * across:
            ax.text(start + 0.5, depth + 0.46, frame, fontsize=9, va="center", clip_on=True)
    ax.set_xlim(0, 100)
    ax.set_ylim(0, table["depth"].max() + 1)
    ax.set_yticks([])
    ax.set_xlabel("percent of the samples of planning")


def words(table: pd.DataFrame) -> Words:
    """Name the widest enumerating frame and the widest that it calls."""
    share = table.groupby("frame")["share_percent"].max()
    named = ", ".join(f"{name} {share[name]:.0f} percent" for name in GROWING if name in share)
    return Words(
        alt=f"Flame graph of planning. Below FindBestQueryPlan: {named}.",
        caption=f"A flame graph of the server's planning, callers below what they call. With what they call: {named}.",
    )
