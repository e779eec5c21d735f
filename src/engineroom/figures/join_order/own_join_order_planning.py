"""Our own figure: planning time by the number of tables, a panel per shape of the query graph, with the switch on and off."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import label_ends, lines
from engineroom.figures.style import is_narrow, plain_log_ticks
from engineroom.figures.wording import Words
from engineroom.summary import values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LABELS", "SHAPES", "faster_from", "picture", "rows", "words"]

SHAPES = ("chain", "star", "clique")
LABELS = {"on": "on", "off": "off", "on, at most 1000 pairs": "1000 pairs"}
rows = partial(side_by_side.rows, by=("shape", "tables", "series"), y="planning_cpu_ms")


def faster_from(table: pd.DataFrame, shape: str, series: str, other: str) -> int | None:
    """The number of tables from which on `series` is faster than `other` at every larger size; None when it is not at the largest."""
    ms = values(table[table["shape"] == shape], "series", "tables", y="planning_cpu_ms")
    found = None
    for tables, is_faster in (ms[series] < ms[other])[::-1].items():
        if not is_faster:
            break
        found = int(str(tables))
    return found


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Three panels with the same axes, a line per setting."""
    ax.set_axis_off()
    narrow = is_narrow(ax)
    place = ax.get_subplotspec()
    assert place is not None
    grid = place.subgridspec(*((3, 1) if narrow else (1, 3)), wspace=0.02, hspace=0.02)
    panels: list[Axes] = list(np.asarray(grid.subplots(sharex=True, sharey=True)).flat)
    most = int(table["tables"].max())
    ends = []
    for panel, shape in zip(panels, SHAPES, strict=True):
        ends.append(
            lines(table[table["shape"] == shape], panel, x="tables", y="planning_cpu_ms", labels=LABELS)
        )
        panel.set_title(shape, fontsize=10, loc="left", pad=2)
    panels[0].set_yscale("log")
    plain_log_ticks(panels[0].yaxis, at=(1.0,))
    panels[0].set_xlim(3, most * (1.45 if narrow else 1.75))
    panels[0].set_xticks(range(4, most + 1, 4))
    for panel, of_panel in zip(panels, ends, strict=True):
        label_ends(panel, of_panel, apart_px=12)
    panels[1 if narrow else 0].set_ylabel("EXPLAIN, CPU ms, log" if narrow else "EXPLAIN, server CPU ms, log")
    panels[2 if narrow else 1].set_xlabel("tables")


def words(table: pd.DataFrame) -> Words:
    """Name the largest size of each line, and compare the settings there."""
    of = values(table, "shape", "series", "tables", y="planning_cpu_ms")

    def last(shape: str, series: str) -> float:
        return float(of[shape, series].iloc[-1])

    def on_against_off(shape: str) -> str:
        ratio = last(shape, "on") / last(shape, "off")
        times = f"{ratio:.0f} times" if ratio >= 1 else f"1/{1 / ratio:.0f} of the time"
        return f"a {shape} of {of[shape, 'on'].index[-1]} tables {times}"

    listed = "; ".join(
        f"{shape}, {label} {last(shape, series):.1f} ms at {of[shape, series].index[-1]} tables"
        for shape in SHAPES
        for series, label in LABELS.items()
    )
    return Words(
        alt=f"Three line charts of planning time against tables, for chains, stars and cliques. {listed}.",
        caption=f"Planning with the hypergraph optimizer against planning without: {', '.join(map(on_against_off, SHAPES))}, and "
        f"{last('clique', 'on, at most 1000 pairs') / last('clique', 'off'):.1f} times with at most 1000 pairs.",
    )
