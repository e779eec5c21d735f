"""Our own figure: a flame graph of where the time of a run went, simulated or real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom import provenance
from engineroom.figures import flame
from engineroom.figures.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, Words
from engineroom.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_run", "picture", "rows", "words"]

# What a thread is in: colour and hatch, so that colour is never the only difference.
STATES = {
    "work": (GREEN, ""),
    "memory": (SKY, ".."),
    "spin": (VERMILION, "//"),
    "runnable": (ORANGE, "\\\\"),
    "parked": (PURPLE, "xx"),
    "io": (BLUE, "--"),
    "sleeping": (INK, ""),
}


def as_run(seen: Mapping[str, Any], *, method: str = "sim") -> Run:
    """A run of a machine as its figure draws it: the activities of all threads."""
    table = pd.DataFrame(
        [
            {"path": ";".join(path), "state": state, "ns": ps / 1000, "series": state, "repeat": 0}
            for path, state, ps in seen["activities"]
        ]
    )
    return Run("own-machine-flame", method, table, provenance=provenance.machine())


def rows(run: Run) -> pd.DataFrame:
    """A row a frame that is wide enough to see; the outermost are what threads do, the innermost what they are in meanwhile."""
    paths = (
        (*path.split(";"), f"({state})")
        for path, state in zip(run.table["path"], run.table["state"], strict=True)
    )
    return pd.DataFrame(
        [
            {"depth": len(path) - 1, "start_percent": start, "share_percent": wide, "frame": path[-1]}
            for path, start, wide in flame.frames(zip(paths, run.table["ns"], strict=True))
        ]
    )


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A box a frame, callers below what they call; what a thread is in has a colour and a hatch."""

    def style(i: int) -> tuple[str, str]:
        frame = table["frame"].iloc[i]
        return STATES.get(frame.strip("()"), (ORANGE, "")) if frame.startswith("(") else ("none", "")

    flame.boxes(table, ax, style=style, alpha=0.3, letters=(46, 95), of="the threads' time")


def words(table: pd.DataFrame) -> Words:
    """The states, from the largest down."""
    in_state = table[table["frame"].str.startswith("(")]
    share = in_state.groupby("frame")["share_percent"].sum().sort_values(ascending=False)
    named = ", ".join(f"{str(frame).strip('()')} {value:.0f} percent" for frame, value in share.items())
    return Words(
        alt=f"Flame graph of the threads' time, what they do below, what they are in meanwhile above it: {named}.",
        caption=f"Where the time of the threads went: {named}.",
    )
