"""Our own figure: a flame graph of the server while it plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures import flame
from engineroom.figures.drawing import BLUE, ORANGE, VERMILION, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

GROWING = ("ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement")
UNNAMED = "no exported name"
DEEPEST = 12


def rows(run: Run) -> pd.DataFrame:
    """One row a frame that is wide enough to see: its depth from 0, where it begins, how wide it is, percent of all samples."""
    paths = (tuple(path.split(";")) for path in run.table["path"])
    placed = flame.frames(zip(paths, run.table["samples"], strict=True), deepest=DEEPEST)
    return pd.DataFrame(
        [
            {
                "depth": len(path) - 1,
                "start_percent": start,
                "share_percent": wide,
                "frame": path[-1] if "+" not in path[-1] else UNNAMED,
            }
            for path, start, wide in placed
        ]
    )


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A box a frame, callers below what they call; the enumerator is hatched."""

    def style(i: int) -> tuple[str, str]:
        frame = table["frame"].iloc[i]
        return (BLUE, "//") if frame in GROWING else (VERMILION if frame == UNNAMED else ORANGE, "")

    flame.boxes(table, ax, style=style, alpha=0.45, letters=(52, 105), of="the samples of planning")


def words(table: pd.DataFrame) -> Words:
    """Name the widest enumerating frame and the widest that it calls."""
    share = table.groupby("frame")["share_percent"].max()
    named = ", ".join(f"{name} {share[name]:.0f} percent" for name in GROWING if name in share)
    return Words(
        alt=f"Flame graph of planning. Below FindBestQueryPlan: {named}.",
        caption=f"A flame graph of the server's planning, callers below what they call. With what they call: {named}.",
    )
