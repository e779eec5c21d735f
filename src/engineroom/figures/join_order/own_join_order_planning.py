"""Our own figure: planning time by the number of tables, a panel a shape of the query graph, with the switch on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["LABELS", "SHAPES", "faster_from", "picture", "rows", "words"]

SHAPES = ("chain", "star", "clique")
LABELS = {"on": "on", "off": "off", "on, at most 1000 pairs": "1000 pairs"}


def rows(run: Run) -> pd.DataFrame:
    """All repeats as measured."""
    return run.table


def faster_from(table: pd.DataFrame, shape: str, series: str, other: str) -> int | None:
    """The number of tables from which on `series` is faster than `other` at every larger size; None when it is not at the largest."""
    least = table.groupby(["shape", "series", "tables"])["planning_cpu_ms"].min()
    found = None
    for tables, is_faster in (least[shape, series] < least[shape, other])[::-1].items():
        if not is_faster:
            break
        found = int(str(tables))
    return found


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Three panels with the same axes; a line a setting, the least of the repeats."""
    drawing = ax.get_figure(root=True)
    assert drawing is not None
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
            lines(
                table[table["shape"] == shape],
                panel,
                x="tables",
                y="planning_cpu_ms",
                labels=LABELS,
                summary="min",
            )
        )
        panel.set_title(shape, fontsize=10, loc="left", pad=2)
    panels[0].set_yscale("log")
    plain_log_ticks(panels[0].yaxis, at=(1.0,))
    panels[0].set_xlim(3, most * (1.45 if narrow else 1.75))
    panels[0].set_xticks(range(4, most + 1, 4))
    for panel, of_panel in zip(panels, ends, strict=True):
        label_ends(panel, of_panel, apart_px=12)
    if narrow:
        panels[1].set_ylabel("EXPLAIN, CPU ms, log")
        panels[2].set_xlabel("tables")
    else:
        panels[0].set_ylabel("EXPLAIN, server CPU ms, log")
        panels[1].set_xlabel("tables")


def words(table: pd.DataFrame) -> Words:
    """Name the largest size of each line, and compare the settings there."""
    least = table.groupby(["shape", "series", "tables"])["planning_cpu_ms"].min()

    def end(shape: str, series: str) -> str:
        line = least[shape, series]
        return f"{shape}, {LABELS[series]} {line.iloc[-1]:.1f} ms at {line.index[-1]} tables"

    def on_against_off(shape: str) -> str:
        on, off = (least[shape, series] for series in ("on", "off"))
        ratio = on.iloc[-1] / off.iloc[-1]
        times = f"{ratio:.0f} times" if ratio >= 1 else f"1/{1 / ratio:.0f} of the time"
        return f"a {shape} of {on.index[-1]} tables {times}"

    bounded = least["clique", "on, at most 1000 pairs"].iloc[-1] / least["clique", "off"].iloc[-1]
    listed = "; ".join(end(shape, series) for shape in SHAPES for series in LABELS)
    return Words(
        alt=f"Three line charts of planning time against tables, for chains, stars and cliques. {listed}.",
        caption=(
            f"Planning with the hypergraph optimizer against planning without: {', '.join(map(on_against_off, SHAPES))}, and "
            f"{bounded:.1f} times with at most 1000 pairs."
        ),
    )
