"""Our own figure: one run, a line per transaction, what it does or waits for from left to right, and who leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.figures.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, drawing_of
from engineroom.figures.wording import Words
from engineroom.side_by_side import OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

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
    steps, leads = _steps_us(table), table[table["happening"] == "leads"]
    for xid, of in steps.T.items():
        before = of["begun"]
        for name, (_, colour, hatch) in _BETWEEN.items():
            if pd.isna(of.get(name)):
                break
            ax.barh(int(str(xid)), of[name] - before, left=before, height=0.7, **_filled(colour, hatch))
            before = of[name]
    ax.plot(leads["ns"] / 1000, leads["xid"], "o", color=INK, markersize=3.5)
    handles = [ax.barh(0, 0, label=label, **_filled(*how)) for label, *how in _BETWEEN.values()]
    legend = drawing_of(ax).legend
    legend(handles=handles, fontsize=9, loc="outside lower center", ncols=2, columnspacing=1)
    ax.set_xlabel("virtual time, us")
    ax.set_ylabel("transaction")
    ax.set_ylim(max(steps.index, default=1) + 0.6, 0.4)


def words(table: pd.DataFrame) -> Words:
    """How many groups there were."""
    told_us = _steps_us(table)["acknowledged"]
    leads = table[table["happening"] == "leads"]["what"].value_counts()
    return Words(
        alt=f"A line per transaction over time, {len(told_us)} of them in {told_us.max():.0f} us: executing, then FLUSH, SYNC and COMMIT. "
        f"Leaders are dots: {leads['FLUSH']} in FLUSH, {leads['SYNC']} in SYNC, {leads['COMMIT']} in COMMIT. While one group is in SYNC, "
        "the next is in FLUSH.",
        caption=f"{told_us.count()} transactions committed in {leads['FLUSH']} groups, with {leads['FLUSH']} redo and {leads['SYNC']} binlog "
        "fsyncs. A dot is a leader at work; all others wait.",
    )


def _filled(colour: str, hatch: str) -> dict[str, Any]:
    return {"color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.3}


def _steps_us(table: pd.DataFrame) -> pd.DataFrame:
    """When each transaction reached each step, a column per step; of its changes the first counts."""
    reached = table[table["happening"] == "reached"]
    return reached.pivot_table(index="xid", columns="what", values="ns", aggfunc="min") / 1000
