"""Our own figure: a flame graph of the server while it plans."""

from __future__ import annotations

from engineroom.figures.flame import Flame, sampled
from engineroom.figures.parts import Rows, Run, Words, each
from engineroom.figures.style import BLUE, ORANGE, VERMILION

GROWING = ["ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement"]
UNNAMED = "no exported name"
# The enumerator is hatched.
STYLES = {UNNAMED: (VERMILION, "")} | dict.fromkeys(GROWING, (BLUE, "//"))
picture = Flame(of="the samples of planning", style=lambda frame: STYLES.get(frame, (ORANGE, "")))


def rows(run: Run) -> Rows:
    """A row per frame that is wide enough to see, percent of all samples."""
    table = sampled(run, deepest=12)
    return table.assign(frame=table["frame"].where(~table["frame"].str.contains("+", regex=False), UNNAMED))


def words(table: Rows) -> Words:
    """Name the widest enumerating frame and the widest that it calls."""
    named = each(table.groupby("frame")["share_percent"].max().reindex(GROWING).dropna(), "{:.0f} percent")
    return Words(
        alt=f"Flame graph of planning. Below FindBestQueryPlan: {named}.",
        caption=f"A flame graph of the server's planning, callers below what they call. With what they call: {named}.",
    )
