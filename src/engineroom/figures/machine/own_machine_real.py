"""The simulated machine against real threads: commits per second of both, one dot a load, design and number of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import EngFormatter

from engineroom.experiments.machine.real import errors
from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import BLUE, INK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOTH = ["commits_per_s_real", "commits_per_s_simulated"]


def rows(run: Run) -> Rows:
    """Medians of both, and how far apart."""
    return errors(run.table)


def picture(table: Rows, ax: Axes) -> None:
    """On the line both are equal; the band is 20 % to either side."""
    both = table[BOTH].to_numpy(float)
    ends = [both.min() / 1.3, both.max() * 1.3]
    ax.plot(ends, ends, color=INK, linewidth=1)
    ax.fill_between(ends, [0.8 * end for end in ends], [1.2 * end for end in ends], color=INK, alpha=0.12)
    for held_out, colour, marker, label in ((False, BLUE, "o", "fitted"), (True, VERMILION, "s", "held out")):
        mine = table.loc[table["is_held_out"] == held_out, BOTH]
        ax.plot(*mine.to_numpy().T, marker, color=colour, label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(EngFormatter(sep=""))  # short enough for a phone
    ax.minorticks_off()
    ax.set(xlabel="commits per second, real threads", ylabel="commits per second, simulated")
    ax.legend(frameon=False)


def words(table: Rows) -> Words:
    """Median and largest error on the loads that the fit has not seen."""
    off = table.loc[table["is_held_out"], "commits_per_s_off_percent"].abs()
    said = f"{off.median():.0f} % off in the median and {off.max():.0f} % at most"
    return Words(
        alt=f"Log-log scatter of simulated against measured commits per second, {len(table)} points. On loads not fitted: {said}.",
        caption=f"Loads that the fit has not seen: {said}. The band is 20 % to either side.",
    )
