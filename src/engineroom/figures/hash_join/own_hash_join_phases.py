"""Our own figure: a small hash join step by step, from the kernel's trace. Build, probe, then the chunk pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, is_narrow, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The second name is a phone's.
LANES = {
    "build_stored": ("build row into memory", "memory", BLUE, "s"),
    "build_to_chunk": ("build row to chunk", "build → file", VERMILION, "v"),
    "probe_lookup": ("probe row looked up", "look-up", GREEN, "o"),
    "probe_to_chunk": ("probe row to chunk", "probe → file", VERMILION, "^"),
    "build_stored_from_chunk": ("build row from chunk", "file → memory", SKY, "s"),
    "probe_lookup_from_chunk": ("probe row from chunk", "file → look-up", PURPLE, "o"),
    "output": ("result row", "result", ORANGE, "D"),
}
ALONG = "steps", " of the join (dotted: the buffer is full; a pair of chunks is loaded)"


def rows(run: Run) -> Rows:
    """The steps in their order."""
    return run.table


def picture(table: Rows, ax: Axes) -> None:
    """Time runs to the right, one lane a kind of step; dotted lines mark a full buffer and a loaded pair of chunks."""
    narrow, at = is_narrow(ax), table.groupby("step")["order"].apply(list).get
    for lane, (step, (_, _, colour, marker)) in enumerate(LANES.items()):
        places = at(step, [])
        ax.plot(places, [lane] * len(places), marker, color=colour, markersize=4 if narrow else 6)
    for place in at("buffer_full", []):
        ax.axvline(place, linestyle=":", color=VERMILION, linewidth=1)
        note(ax, "full", (place, -0.7), (3, 0), ha="left", color=VERMILION)
    for place in at("chunk_loading", []):
        ax.axvline(place, linestyle=":", color=SKY, linewidth=1)
    ax.set_yticks(range(len(LANES)), [short if narrow else long for long, short, _, _ in LANES.values()])
    ax.set_ylim(len(LANES) - 0.5, -1.1)
    ax.set_xlabel("".join(ALONG[:1] if narrow else ALONG))


def words(table: Rows) -> Words:
    """Count the steps of each kind."""
    n = table["step"].value_counts().reindex(list(LANES), fill_value=0)
    pairs = table.loc[table["step"] == "build_to_chunk", "chunk"].nunique()
    said = ", ".join(f"{long} {n[step]} times" for step, (long, *_) in LANES.items())
    return Words(
        alt=f"Timeline of the steps of one hash join that spills, one lane a kind of step: {said}.",
        caption=f"{n['build_stored']} build rows fit into memory and {n['build_to_chunk']} go to {pairs} chunk files. Each of the "
        f"{n['probe_lookup']} probe rows is looked up at once and also written to its chunk, because it may have more matches there; "
        "then the pairs of chunks are joined one by one.",
    )
