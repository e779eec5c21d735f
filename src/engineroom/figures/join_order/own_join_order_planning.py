"""Our own figure: planning time by the number of tables, a panel per shape of the query graph, with the switch on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.curves import label_ends, lines
from engineroom.figures.panels import panels
from engineroom.figures.parts import Rows, Words, rows_by, values
from engineroom.figures.style import is_narrow, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAPES = ("chain", "star", "clique")
LABELS = {"on": "on", "off": "off", "on, at most 1000 pairs": "1000 pairs"}
Y = "planning_cpu_ms"
rows = rows_by("shape", "tables", y=Y)


def faster_from(table: Rows, shape: str, series: str, other: str) -> int | None:
    """The number of tables from which on `series` is faster than `other` at every larger size; None when it is not at the largest."""
    ms = values(table[table["shape"] == shape], "series", "tables", y=Y)
    is_faster = (ms[series] < ms[other])[::-1].cummin()
    return int(is_faster[is_faster].index[-1]) if is_faster.any() else None


def picture(table: Rows, ax: Axes) -> None:
    """Three panels with the same axes, a line per setting."""
    narrow, most = is_narrow(ax), int(table["tables"].max())
    left, middle, right = all_panels = panels(ax, wide=(1, 3), narrow=(3, 1), space=(0.02, 0.02), sharex=True)
    ends = []
    for panel, shape in zip(all_panels, SHAPES, strict=True):
        ends.append(lines(table[table["shape"] == shape], panel, x="tables", y=Y, labels=LABELS))
        panel.set_title(shape, fontsize=10, loc="left", pad=2)
    left.set_yscale("log")
    plain_log_ticks(left.yaxis, at=(1.0,))
    left.set_xlim(3, most * (1.45 if narrow else 1.75))
    left.set_xticks(range(4, most + 1, 4))
    for panel, of_panel in zip(all_panels, ends, strict=True):
        label_ends(panel, of_panel, apart_px=12)
    (middle if narrow else left).set_ylabel(f"EXPLAIN, {'' if narrow else 'server '}CPU ms, log")
    (right if narrow else middle).set_xlabel("tables")


def words(table: Rows) -> Words:
    """Name the largest size of each line, and compare the settings there."""
    of = values(table, "shape", "series", "tables", y=Y)
    last = {(shape, series): of[shape, series].iloc[[-1]] for shape in SHAPES for series in LABELS}
    said = "; ".join(
        f"{shape}, {LABELS[series]} {ms:.1f} ms at {tables} tables"
        for (shape, series), line in last.items()
        for tables, ms in line.items()
    )
    clique = last["clique", "on, at most 1000 pairs"].iloc[0] / last["clique", "off"].iloc[0]
    against = []
    for shape in SHAPES:
        times = last[shape, "on"].iloc[0] / last[shape, "off"].iloc[0]
        how = f"{times:.0f} times" if times >= 1 else f"1/{1 / times:.0f} of the time"
        against.append(f"a {shape} of {last[shape, 'on'].index[0]} tables {how}")
    return Words(
        alt=f"Three line charts of planning time against tables, for chains, stars and cliques. {said}.",
        caption=f"Planning with the hypergraph optimizer against planning without: {', '.join(against)}, and {clique:.1f} times with at "
        "most 1000 pairs.",
    )
