"""Our own figure: a flame graph of the server while it plans."""

from __future__ import annotations

import pandas as pd

from engineroom.figures import flame
from engineroom.figures.style import BLUE, ORANGE, VERMILION
from engineroom.figures.wording import Words
from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

GROWING = ("ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement")
UNNAMED = "no exported name"
DEEPEST = 12


def rows(run: Run) -> pd.DataFrame:
    """A row per frame that is wide enough to see, percent of all samples."""
    table = flame.table_of(
        zip(flame.paths(run.table["path"]), run.table["samples"], strict=True), deepest=DEEPEST
    )
    return table.assign(frame=table["frame"].where(~table["frame"].str.contains("+", regex=False), UNNAMED))


# The enumerator is hatched.
picture = flame.Flame(
    of="the samples of planning",
    style=lambda frame: (BLUE, "//") if frame in GROWING else (VERMILION if frame == UNNAMED else ORANGE, ""),
)


def words(table: pd.DataFrame) -> Words:
    """Name the widest enumerating frame and the widest that it calls."""
    share = table.groupby("frame")["share_percent"].max()
    named = ", ".join(f"{name} {share[name]:.0f} percent" for name in GROWING if name in share)
    return Words(
        alt=f"Flame graph of planning. Below FindBestQueryPlan: {named}.",
        caption=f"A flame graph of the server's planning, callers below what they call. With what they call: {named}.",
    )
