"""Our own figure: counted work by phase of one hash join, for the lab's control panel."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.shares import Bar, Bars
from engineroom.figures.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

PHASES = {
    "build": Bar("build", BLUE),
    "probe": Bar("probe", GREEN, "//"),
    "spill_write": Bar("write chunks", VERMILION, "xx"),
    "spill_read": Bar("read chunks", ORANGE, ".."),
    "chunk_join": Bar("join chunks", PURPLE, "\\\\"),
}
picture = Bars(bars=PHASES, label="share of counted work")


def rows(run: Run) -> pd.DataFrame:
    """A row a phase with its share of the counted work."""
    table = side_by_side.rows(run, by=("phase", "series"), y="work")
    return side_by_side.valued(table, "share_percent", 100 * table["work"] / table["work"].sum())


def words(table: pd.DataFrame) -> Words:
    """Say the shares and the files."""
    share, first = ours(table).droplevel("series"), table.iloc[0]
    said = ", ".join(f"{bar.name} {share[phase]:.0f} %" for phase, bar in PHASES.items())
    return Words(
        alt=f"Bar chart of counted work by phase: {said}.",
        caption=f"{first['chunk_files']} chunk files, {first['bytes_written']:,} bytes written, {first['bytes_read']:,} read, "
        f"{first['passes']} passes. Work is counted, not timed.",
    )
