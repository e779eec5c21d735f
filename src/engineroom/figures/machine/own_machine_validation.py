"""Our own figure: how far the simulated machine is from formulas that it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import GREY, STYLES, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rows(run: Run) -> Rows:
    """One row a case, in the order of the cases, families together."""
    return run.table


def picture(table: Rows, ax: Axes) -> None:
    """Each case's mean and its 99 % interval around the formula's value."""
    ticks: dict[str, float] = {}
    for style, (family, mine) in zip(STYLES * 2, table.groupby("series", sort=False), strict=False):
        y = len(table) - mine.index
        how: dict[str, Any] = {"fmt": style.marker, "color": style.colour, "markersize": 5, "linewidth": 1.2}
        ax.errorbar(mine["off_percent"], y, xerr=mine["half_width_percent"], **how)
        ticks[str(family)] = y.to_numpy().mean()
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_xlim(-2.5, 2.5)
    ax.set_yticks(list(ticks.values()), list(ticks))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel("off its formula, percent" if is_narrow(ax) else "simulated minus formula, percent of it")


def words(table: Rows) -> Words:
    """How many cases hold, and the worst."""
    worst = table.sort_values("off_percent", key=abs).iloc[-1]
    widest, held = table["half_width_percent"].max(), int(table["holds"].sum())
    return Words(
        alt=f"Dots with intervals around zero, one for each of {len(table)} cases in {table['series'].nunique()} families. The mean "
        f"furthest from its formula is {worst['case']}, off by {worst['off_percent']:+.2f} percent; the widest half-width is {widest:.2f} "
        "percent.",
        caption=f"{held} of {len(table)} cases hold: the formula's value lies inside the 99 % interval of twenty runs, and the interval is at "
        "most 2 % of the mean to each side.",
    )
