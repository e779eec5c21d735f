"""Our own figure: throughput of eight policies on five loads, FIFO being 1, with the interval of the seeds: which differences are noise?"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from engineroom.experiments.cats.policies import Standing
from engineroom.figures.cats import LOADS, POLICIES, named
from engineroom.figures.panels import panels
from engineroom.figures.parts import Rows, Run, Words, rows_by, valued
from engineroom.figures.style import GREY, INK, STYLES, Style, drawing_of, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Y = "throughput_over_fifo"
_STYLES = (*STYLES, Style(INK, "*", "-"))
_NARROW_HEIGHT_IN = 9  # five panels, one below another
_tps = rows_by("workload", y="tps", keep=())


def rows(run: Run) -> Rows:
    """Throughput of every seed over FIFO's mean on the same load."""
    table = _tps(run)
    fifo = table[table["series"] == "fifo"].groupby("workload")["tps"].mean()
    return valued(table, Y, table["tps"] / table["workload"].map(fifo))


def picture(table: Rows, ax: Axes) -> None:
    """A panel per load with its own axis: every seed faint, the mean large, on its interval."""
    if is_narrow(ax):
        drawing_of(ax).set_figheight(_NARROW_HEIGHT_IN)
    for panel, load in zip_longest(panels(ax, wide=(2, 3), narrow=(5, 1), space=(0.05, 0.05)), LOADS):
        if load is None:
            panel.set_axis_off()
            continue
        of = Standing.of(table, load, Y)
        panel.axvline(1, linewidth=0.8, color=GREY)
        for at, (policy, style) in enumerate(zip(POLICIES, _STYLES, strict=True)):
            seeds = table.query("workload == @load and series == @policy")[Y]
            how: dict[str, Any] = {"marker": style.marker, "color": style.colour, "linestyle": ""}
            panel.hlines(at, of.low[policy], of.high[policy], color=style.colour, linewidth=2)
            panel.plot(seeds, [at] * len(seeds), alpha=0.3, markersize=4, **how)
            panel.plot(of.mean[policy], at, markersize=6, **how)
        panel.set_title(LOADS[load], fontsize=9, loc="left", pad=2)
        panel.set_yticks(range(len(POLICIES)), list(POLICIES.values()), fontsize=9)
        panel.set_ylim(len(POLICIES) - 0.4, -0.6)
        panel.tick_params(labelsize=9)
        panel.locator_params(axis="x", nbins=4)
        panel.grid(axis="x", alpha=0.25)
    drawing_of(ax).supxlabel("throughput over FIFO's", fontsize=10, color=INK)


def words(table: Rows) -> Words:
    """The policies that are ahead on each load, and all means with their intervals."""
    of = {load: Standing.of(table, load, Y) for load in LOADS}
    ahead = "; ".join(f"{name}: {named(of[load].leaders())}" for load, name in LOADS.items())
    said = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{label} {of[load].mean[key]:.2f} ({of[load].low[key]:.2f} to {of[load].high[key]:.2f})"
            for key, label in POLICIES.items()
        )
        for load, name in LOADS.items()
    )
    return Words(
        alt=f"Five panels of dots: throughput over FIFO's, a row per policy. {said}.",
        caption=f"Ahead on each load are the fastest policy and whoever it does not differ from. {ahead}. Faint dots are the "
        f"{table['repeat'].nunique()} seeds, large ones their mean, bars its interval of 95 % by Student's t. Two policies differ where their bars "
        "do not overlap. Each panel has a scale of its own.",
    )
