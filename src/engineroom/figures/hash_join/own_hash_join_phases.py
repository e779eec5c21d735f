"""Our own figure: a small hash join step by step, from the kernel's trace. Build, probe, then the chunk pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, is_narrow
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LANES = {
    "build_stored": ("build row into memory", "memory", BLUE, "s"),
    "build_to_chunk": ("build row to chunk", "build → file", VERMILION, "v"),
    "probe_lookup": ("probe row looked up", "look-up", GREEN, "o"),
    "probe_to_chunk": ("probe row to chunk", "probe → file", VERMILION, "^"),
    "build_stored_from_chunk": ("build row from chunk", "file → memory", SKY, "s"),
    "probe_lookup_from_chunk": ("probe row from chunk", "file → look-up", PURPLE, "o"),
    "output": ("result row", "result", ORANGE, "D"),
}


def rows(run: Run) -> pd.DataFrame:
    """The steps in their order."""
    return run.table


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Time runs to the right, one lane a kind of step; dotted lines mark a full buffer and a loaded pair of chunks."""
    narrow = is_narrow(ax)
    for lane, (step, (_, _, colour, marker)) in enumerate(LANES.items()):
        mine = table[table["step"] == step]
        ax.plot(mine["order"], [lane] * len(mine), marker, color=colour, markersize=4 if narrow else 6)
    for at in table.loc[table["step"] == "buffer_full", "order"]:
        ax.axvline(at, linestyle=":", color=VERMILION, linewidth=1)
        ax.annotate("full", (at, -0.7), (3, 0), textcoords="offset points", fontsize=9, color=VERMILION)
    for at in table.loc[table["step"] == "chunk_loading", "order"]:
        ax.axvline(at, linestyle=":", color=SKY, linewidth=1)
    ax.set_yticks(range(len(LANES)), [short if narrow else long for long, short, _, _ in LANES.values()])
    ax.set_ylim(len(LANES) - 0.5, -1.1)
    ax.set_xlabel(
        "steps" if narrow else "steps of the join (dotted: the buffer is full; a pair of chunks is loaded)"
    )


def words(table: pd.DataFrame) -> Words:
    """Count the steps of each kind."""
    n = table["step"].value_counts()
    count = {step: int(n.get(step, 0)) for step in LANES}
    pairs = table.loc[table["step"] == "build_to_chunk", "chunk"].nunique()
    said = ", ".join(f"{LANES[step][0]} {count[step]} times" for step in LANES)
    return Words(
        alt=f"Timeline of the steps of one hash join that spills, one lane a kind of step: {said}.",
        caption=(
            f"{count['build_stored']} build rows fit into memory and {count['build_to_chunk']} go to {pairs} chunk files. Each of the "
            f"{count['probe_lookup']} probe rows is looked up at once and also written to its chunk, because it may have more matches there; "
            "then the pairs of chunks are joined one by one."
        ),
    )
