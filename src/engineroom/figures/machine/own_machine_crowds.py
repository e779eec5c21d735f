"""The simulated machine against what others measured on many cores: a panel a study, throughput by threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from engineroom.experiments.machine import crowds
from engineroom.figures.style import INK, STYLES, Style, is_narrow, plain, plain_log_ticks
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["PANELS", "picture", "rows", "words"]

# Studies of one panel differ in their machines alone.
PANELS = {
    "8 sockets": ("perfbook_448",),
    "2 x 12 cores": ("lockbench_48",),
    "2 x 16 cores": ("concurrency_freaks_32",),
    "1 x 24 cores": ("java_locks_24",),
    "2 x 20, 22, 48": ("swift_mutex_40", "swift_mutex_44", "swift_mutex_96"),
}
LOCKS = dict(
    zip(
        (
            "atomic increment",
            "test-and-set",
            "test-and-test-and-set",
            "ticket",
            "pthread mutex",
            "MCS queue",
            "ticket, yielding",
        ),
        STYLES,
        strict=True,
    )
)
SHORTER = {"test-and-test-and-set": "test, test-and-set"}


def rows(run: Run) -> pd.DataFrame:
    """One row a study, lock, number of threads and series: turns of all threads per microsecond, the median."""
    by = ["study", "lock", "threads", "series"]
    middle = run.table.groupby(by, sort=False)["ns_per_turn"].median().reset_index()
    return middle.assign(turns_per_us=1000 / middle["ns_per_turn"]).sort_values(by, ignore_index=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Dots are published, lines simulated; the sixth place is the legend's."""
    ax.set_axis_off()
    narrow = is_narrow(ax)
    place = ax.get_subplotspec()
    assert place is not None
    grid = place.subgridspec(*((3, 2) if narrow else (2, 3)), wspace=0.04, hspace=0.06)
    panels: list[Axes] = list(np.asarray(grid.subplots(sharey=True)).flat)
    seen: dict[str, Style] = {}
    for panel, (title, studies) in zip(panels, PANELS.items(), strict=False):
        mine = table[table["study"].isin(studies)]
        for (_, lock), of_lock in mine.groupby(["study", "lock"], sort=False):
            style = seen[str(lock)] = LOCKS[str(lock)]
            both = of_lock.pivot(index="threads", columns="series", values="turns_per_us")
            panel.plot(both.index, both["published"], style.marker, color=style.colour, markersize=4)
            panel.plot(both.index, both["simulated"], style.dash, color=style.colour, linewidth=1.4)
        panel.set_title(title, fontsize=9, loc="left", pad=2)
        panel.set_xscale("log", base=2)
        most = mine["threads"].max()
        panel.set_xticks([n for n in ((1, 8, 64) if narrow else (1, 4, 16, 64, 224)) if n <= most])
        panel.xaxis.set_major_formatter(lambda value, _: plain(value))
        panel.tick_params(labelsize=9)
    panels[0].set_yscale("log")
    plain_log_ticks(panels[0].yaxis, at=(1.0,))
    for panel in panels:
        panel.minorticks_off()
    legend = panels[len(PANELS)]
    legend.set_axis_off()
    handles = [
        Line2D([], [], color=style.colour, marker=style.marker, ls=style.dash, markersize=4)
        for style in seen.values()
    ]
    names = [SHORTER.get(lock, lock) if narrow else lock for lock in seen]
    legend.legend(handles, names, loc="center left", fontsize=9, frameon=False, borderaxespad=0)
    of = ax.get_figure(root=True)
    assert of is not None
    of.supxlabel("threads", fontsize=10, color=INK)
    of.supylabel("turns per us", fontsize=10, color=INK)


def words(table: pd.DataFrame) -> Words:
    """The median error, and where we are farthest off to either side."""
    points = crowds.off(table.assign(repeat=0))
    size = points["off_percent"].abs()
    in_order = points.sort_values("off_percent")
    slow, fast = in_order.iloc[0], in_order.iloc[-1]
    farthest = " and ".join(
        f"{each['lock']} with {each['threads']} threads ({each['off_percent']:+.0f} %)"
        for each in (slow, fast)
    )
    return Words(
        alt=(
            f"{len(PANELS)} small log-log charts of turns per microsecond against threads, one a study or several of one kind; "
            f"dots are published, lines simulated. Simulated throughput is {size.median():.0f} percent off in the median of "
            f"{len(points)} points, from {slow['off_percent']:+.0f} to {fast['off_percent']:+.0f} percent."
        ),
        caption=(
            f"Dots are what others measured, lines the simulated machine of each study. Throughput is {size.median():.0f} % off in the "
            f"median of {len(points)} contended points; farthest {farthest}."
        ),
    )
