"""Our own figure: counted work by phase of one hash join, for the lab's control panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import BLUE, GREEN, ORANGE, PURPLE, VERMILION, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

PHASES = {
    "build": ("build", BLUE, ""),
    "probe": ("probe", GREEN, "//"),
    "spill_write": ("write chunks", VERMILION, "xx"),
    "spill_read": ("read chunks", ORANGE, ".."),
    "chunk_join": ("join chunks", PURPLE, "\\\\"),
}


def rows(run: Run) -> pd.DataFrame:
    """One row a phase with its share of the counted work."""
    return run.table.assign(share_percent=100 * run.table["work"] / run.table["work"].sum())


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A bar a phase, hatched as well as coloured."""
    share = table.set_index("phase")["share_percent"]
    for y, (phase, (_, colour, hatch)) in enumerate(PHASES.items()):
        ax.barh(y, share[phase], color=colour, hatch=hatch, edgecolor="white", height=0.7)
        ax.annotate(
            f"{share[phase]:.0f} %", (share[phase], y), (4, 0), textcoords="offset points", va="center"
        )
    ax.set_yticks(range(len(PHASES)), [label for label, _, _ in PHASES.values()])
    ax.invert_yaxis()
    ax.set_xlim(0, 110)
    ax.set_xlabel("share of counted work, percent")


def words(table: pd.DataFrame) -> Words:
    """Say the shares and the files."""
    share = table.set_index("phase")["share_percent"]
    first = table.iloc[0]
    said = ", ".join(f"{label} {share[phase]:.0f} %" for phase, (label, _, _) in PHASES.items())
    return Words(
        alt=f"Bar chart of counted work by phase: {said}.",
        caption=(
            f"{first['chunk_files']} chunk files, {first['bytes_written']:,} bytes written, {first['bytes_read']:,} read, "
            f"{first['passes']} passes. Work is counted, not timed."
        ),
    )
