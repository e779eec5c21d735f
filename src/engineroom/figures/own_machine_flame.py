"""Our own figure: a flame graph of where the time of a run went, simulated or real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.patches import Rectangle

from engineroom import provenance
from engineroom.figures.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, Words
from engineroom.figures.lines import is_narrow
from engineroom.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_run", "picture", "rows", "words"]

LEAST_PERCENT = 0.3
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
    total = float(run.table["ns"].sum())
    frames: dict[tuple[str, ...], float] = {}
    for path, state, ns in zip(run.table["path"], run.table["state"], run.table["ns"], strict=True):
        names = (*path.split(";"), f"({state})")
        for depth in range(len(names)):
            frames[names[: depth + 1]] = frames.get(names[: depth + 1], 0.0) + float(ns)
    found: list[dict[str, object]] = []

    def place(parent: tuple[str, ...], start: float) -> None:
        children = [path for path in frames if len(path) == len(parent) + 1 and path[: len(parent)] == parent]
        for path in sorted(children, key=lambda path: (-frames[path], path)):
            wide = 100 * frames[path] / total
            if wide >= LEAST_PERCENT:
                found.append(
                    {"depth": len(path) - 1, "start_percent": start, "share_percent": wide, "frame": path[-1]}
                )
                place(path, start)
            start += wide

    place((), 0.0)
    return pd.DataFrame(found)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A box a frame, callers below what they call; what a thread is in has a colour and a hatch."""
    across = 46 if is_narrow(ax) else 95  # letters in the full width
    columns = (table[name] for name in ("depth", "start_percent", "share_percent", "frame"))
    for depth, start, wide, frame in zip(*columns, strict=True):
        colour, hatch = STATES.get(frame.strip("()"), (ORANGE, "")) if frame.startswith("(") else ("none", "")
        box = Rectangle(
            (start, depth), wide, 0.92, facecolor=colour, edgecolor=INK, linewidth=0.5, hatch=hatch
        )
        box.set_alpha(0.3)
        ax.add_patch(box)
        if len(frame) <= wide / 100 * across:
            ax.text(start + 0.5, depth + 0.46, frame.strip("()"), fontsize=9, va="center", clip_on=True)
    ax.set_xlim(0, 100)
    ax.set_ylim(0, table["depth"].max() + 1)
    ax.set_yticks([])
    ax.set_xlabel("percent of the threads' time")


def words(table: pd.DataFrame) -> Words:
    """The states, from the largest down."""
    in_state = table[table["frame"].str.startswith("(")]
    share = in_state.groupby("frame")["share_percent"].sum().sort_values(ascending=False)
    named = ", ".join(f"{str(frame).strip('()')} {value:.0f} percent" for frame, value in share.items())
    return Words(
        alt=f"Flame graph of the threads' time, what they do below, what they are in meanwhile above it: {named}.",
        caption=f"Where the time of the threads went: {named}.",
    )
