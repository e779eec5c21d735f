"""The simulated machine against real threads: commits per second of both, one dot a load, design and number of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.ticker import EngFormatter

from engineroom.experiments.machine.real import errors
from engineroom.figures.style import BLUE, INK, VERMILION
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """Medians of both, and how far apart."""
    return errors(run.table)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """On the line both are equal; the band is 20 % to either side."""
    real, simulated = table["commits_per_s_real"], table["commits_per_s_simulated"]
    ends = [min(real.min(), simulated.min()) / 1.3, max(real.max(), simulated.max()) * 1.3]
    ax.plot(ends, ends, color=INK, linewidth=1)
    ax.fill_between(ends, [0.8 * end for end in ends], [1.2 * end for end in ends], color=INK, alpha=0.12)
    for held_out, colour, marker, label in (
        (False, BLUE, "o", "fitted"),
        (True, VERMILION, "s", "held out"),
    ):
        mine = table[table["is_held_out"] == held_out]
        ax.plot(
            mine["commits_per_s_real"], mine["commits_per_s_simulated"], marker, color=colour, label=label
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(EngFormatter(sep=""))  # short enough for a phone
    ax.minorticks_off()
    ax.set_xlabel("commits per second, real threads")
    ax.set_ylabel("commits per second, simulated")
    ax.legend(frameon=False)


def words(table: pd.DataFrame) -> Words:
    """Median and largest error on the loads that the fit has not seen."""
    off = table.loc[table["is_held_out"], "commits_per_s_off_percent"].abs()
    said = f"{off.median():.0f} % off in the median and {off.max():.0f} % at most"
    return Words(
        alt=f"Log-log scatter of simulated against measured commits per second, {len(table)} points. On loads not fitted: {said}.",
        caption=f"Loads that the fit has not seen: {said}. The band is 20 % to either side.",
    )
