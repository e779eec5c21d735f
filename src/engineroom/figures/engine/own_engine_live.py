"""Our own figure: throughput of the simulated engine over that of the live server that it models, from one client up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from engineroom.figures.curves import lines
from engineroom.figures.panels import panels
from engineroom.figures.parts import Curves, Rows, Run, Words, as_found, rows_by, rows_over
from engineroom.figures.style import GREY, INK, STYLES, drawing_of, is_narrow, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_over = rows_over(
    "engine_over_server",
    "series == 'server'",
    "clients",
    "server",
    "distribution",
    of=rows_by("clients", "server", "distribution", y="tps", keep=()),
)
WHAT = "throughput, engine over server"
# The lines as they are said; `picture` draws them.
_said = Curves(labels=as_found("series"), x_label="clients", y_label=WHAT, y_log=False)
_PANEL_IN = 2.2


def rows(run: Run) -> Rows:
    """The engine's throughput over the server's median; a series is a server with the distribution of the rows that are drawn."""
    engine = _over(run).query("series == 'engine'")
    named = engine.assign(series=engine["server"] + ", " + engine["distribution"])
    return named.drop(columns=["server", "distribution"]).reset_index(drop=True)


def picture(table: Rows, ax: Axes) -> None:
    """A panel per load, a line per server: with all in one, lines and their names would hide each other."""
    server, load = (table["series"].str.split(", ", n=1).str[at] for at in (0, 1))
    loads = list(dict.fromkeys(load))
    across = 1 if is_narrow(ax) else 2
    down = math.ceil(len(loads) / across)
    drawing_of(ax).set_figheight(_PANEL_IN * down + 0.6)
    labels = {name: name for name in dict.fromkeys(server)}
    all_panels = panels(ax, wide=(down, across), narrow=(down, across), space=(0.06, 0.06), sharex=True)
    for panel, name in zip(all_panels, loads, strict=False):
        mine = table[load == name].assign(series=server[load == name])
        lines(mine, panel, x="clients", y="engine_over_server", labels=labels)
        panel.axhline(1, linewidth=0.8, color=GREY)
        panel.set_title(name, fontsize=9, loc="left", pad=2)
        panel.set_xscale("log", base=2)
        panel.set_xticks(sorted(set(table["clients"])))
        panel.xaxis.set_major_formatter(lambda value, _: plain(value))
        panel.tick_params(labelsize=9)
    all_panels[0].set_ylim(0, 1.08 * table["engine_over_server"].max())  # they share it
    for panel in all_panels[len(loads) :]:
        panel.set_axis_off()
    styles = dict(zip(labels, STYLES, strict=False))
    marks = [
        Line2D([], [], color=style.colour, marker=style.marker, ls=style.dash, label=name)
        for name, style in styles.items()
    ]
    drawing_of(ax).legend(handles=marks, loc="outside upper center", ncols=len(marks), fontsize=9)
    drawing_of(ax).supxlabel("clients, log scale", fontsize=10, color=INK)
    drawing_of(ax).supylabel(WHAT, fontsize=10, color=INK)


def words(table: Rows) -> Words:
    """Each line, and how far the engine is off with one client and with more."""
    of = _said.values(table)
    alone, more = of.xs(1, level="clients"), of.drop(index=1, level="clients")
    return Words(
        alt=_said.alt(table, more="A panel per load."),
        caption=f"With one client the engine is {alone.min():.2f} to {alone.max():.2f} times as fast as the server; the engine leaves out the way of a "
        f"message between the two processes. From two clients on it lies between {more.min():.2f} and {more.max():.2f}, half of the points within "
        f"{100 * (more - 1).abs().median():.0f} %.",
    )
