"""Our own figure: one run, a line per transaction, what it does or waits for from left to right, and who leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engineroom.figures.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION
from engineroom.figures.wording import Words
from engineroom.side_by_side import OURS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

# From one step to the next: what lies between, its colour and its hatching.
_BETWEEN = {
    "prepare in the redo buffer": ("executes, prepares", SKY, ""),
    "redo flushed": ("FLUSH: redo fsync", BLUE, "//"),
    "binlog written": ("FLUSH: writes events", ORANGE, ""),
    "binlog synced": ("SYNC: binlog fsync", VERMILION, "\\\\"),
    "committed in the engine": ("COMMIT", GREEN, ""),
    "acknowledged": ("is told", PURPLE, ".."),
}


def rows(run: Run) -> pd.DataFrame:
    """What happened in the first repeat, in order; a transaction begins with its first change."""
    table = run.table[run.table["repeat"] == 0]
    return table[["xid", "happening", "what", "ns"]].assign(source=OURS, method=run.method)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Draw the rows."""
    steps, leads = _steps(table), table[table["happening"] == "leads"]
    for xid, of in steps.items():
        before = of["begun"]
        for name, (_, colour, hatch) in _BETWEEN.items():
            if name not in of:
                break
            ax.barh(
                xid, (of[name] - before) / 1000, left=before / 1000, height=0.7,
                color=colour, hatch=hatch, edgecolor=INK, linewidth=0.3,
            )  # fmt: skip
            before = of[name]
    ax.plot(leads["ns"] / 1000, leads["xid"], "o", color=INK, markersize=3.5)
    handles = [
        ax.barh(0, 0, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.3, label=label)
        for label, colour, hatch in _BETWEEN.values()
    ]
    drawing = ax.get_figure(root=True)
    assert drawing is not None
    drawing.legend(handles=handles, fontsize=9, loc="outside lower center", ncols=2, columnspacing=1)
    ax.set_xlabel("virtual time, us")
    ax.set_ylabel("transaction")
    ax.set_ylim(max(steps, default=1) + 0.6, 0.4)


def words(table: pd.DataFrame) -> Words:
    """How many groups there were."""
    steps = _steps(table)
    done = [of for of in steps.values() if "acknowledged" in of]
    leads = table[table["happening"] == "leads"]["what"].value_counts()
    last_us = max(of["acknowledged"] for of in done) / 1000
    return Words(
        alt=f"A line per transaction over time, {len(steps)} of them in {last_us:.0f} us: executing, then FLUSH, SYNC and COMMIT. Leaders are"
        f" dots: {leads['FLUSH']} in FLUSH, {leads['SYNC']} in SYNC, {leads['COMMIT']} in COMMIT. While one group is in SYNC, the next"
        " is in FLUSH.",
        caption=f"{len(done)} transactions committed in {leads['FLUSH']} groups, with {leads['FLUSH']} redo and {leads['SYNC']} binlog fsyncs."
        " A dot is a leader at work; all others wait.",
    )


def _steps(table: pd.DataFrame) -> dict[int, dict[str, Any]]:
    """When each transaction reached each step; of its changes the first counts."""
    reached = table[table["happening"] == "reached"]
    found: dict[int, dict[str, Any]] = {}
    for row in reached.to_dict("records"):
        found.setdefault(int(row["xid"]), {}).setdefault(str(row["what"]), row["ns"])
    return found
