"""Our own figure: counted work by phase of one hash join, for the lab's control panel."""

from __future__ import annotations

from engineroom.figures.parts import Bar, Bars, Rows, Run, Words, ours, rows_by, valued
from engineroom.figures.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION

PHASES = {
    "build": Bar("build", BLUE),
    "probe": Bar("probe", GREEN, "//"),
    "spill_write": Bar("write chunks", VERMILION, "xx"),
    "spill_read": Bar("read chunks", ORANGE, ".."),
    "chunk_join": Bar("join chunks", PURPLE, "\\\\"),
}
picture = Bars(bars=PHASES, label="share of counted work")
_rows = rows_by("phase", y="work")


def rows(run: Run) -> Rows:
    """A row a phase with its share of the counted work."""
    table = _rows(run)
    return valued(table, "share_percent", 100 * table["work"] / table["work"].sum())


def words(table: Rows) -> Words:
    """Say the shares and the files."""
    share, first = ours(table).droplevel("series"), table.iloc[0]
    return Words(
        alt=f"Bar chart of counted work by phase: {picture.said(share)}.",
        caption=f"{first['chunk_files']} chunk files, {first['bytes_written']:,} bytes written, {first['bytes_read']:,} read, "
        f"{first['passes']} passes. Work is counted, not timed.",
    )
