"""Our own figure: a flame graph of where the time of a run went, simulated or real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from engineroom import provenance
from engineroom.figures import flame
from engineroom.figures.parts import Rows, Run, Words, each
from engineroom.figures.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

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
    activities = [(";".join(path), state, ps / 1000, state, 0) for path, state, ps in seen["activities"]]
    table = pd.DataFrame(activities, columns=["path", "state", "ns", "series", "repeat"])
    return Run("own-machine-flame", method, table, provenance=provenance.machine())


def rows(run: Run) -> Rows:
    """A row per frame that is wide enough to see; the outermost are what threads do, the innermost what they are in meanwhile."""
    paths = flame.paths(run.table["path"] + ";(" + run.table["state"] + ")")
    return flame.table_of(zip(paths, run.table["ns"], strict=True))


def _style(frame: str) -> tuple[str, str]:
    return STATES.get(frame.strip("()"), (ORANGE, "")) if frame.startswith("(") else ("none", "")


picture = flame.Flame(of="the threads' time", style=_style)


def words(table: Rows) -> Words:
    """The states, from the largest down."""
    in_state = table[table["frame"].str.startswith("(")]
    share = in_state.groupby(in_state["frame"].str.strip("()"))["share_percent"].sum()
    named = each(share.sort_values(ascending=False), "{:.0f} percent")
    return Words(
        alt=f"Flame graph of the threads' time, what they do below, what they are in meanwhile above it: {named}.",
        caption=f"Where the time of the threads went: {named}.",
    )
