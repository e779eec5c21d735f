"""The simulated machine against what others measured on many cores: a panel a study, throughput by threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from engineroom.experiments.machine import crowds
from engineroom.figures.panels import panels
from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import INK, STYLES, drawing_of, is_narrow, plain, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Studies of one panel differ in their machines alone.
PANELS = {
    "8 sockets": ("perfbook_448",),
    "2 x 12 cores": ("lockbench_48",),
    "2 x 16 cores": ("concurrency_freaks_32",),
    "1 x 24 cores": ("java_locks_24",),
    "2 x 20, 22, 48": ("swift_mutex_40", "swift_mutex_44", "swift_mutex_96"),
}
NAMES = (
    *("atomic increment", "test-and-set", "test-and-test-and-set", "ticket", "pthread mutex", "MCS queue"),
    "ticket, yielding",
)
LOCKS = dict(zip(NAMES, STYLES, strict=True))


def rows(run: Run) -> Rows:
    """One row a study, lock, number of threads and series: turns of all threads per microsecond, the median."""
    by = ["study", "lock", "threads", "series"]
    middle = run.table.groupby(by, sort=False)["ns_per_turn"].median().reset_index()
    return middle.assign(turns_per_us=1000 / middle["ns_per_turn"]).sort_values(by, ignore_index=True)


def picture(table: Rows, ax: Axes) -> None:
    """Dots are published, lines simulated; the sixth place is the legend's."""
    narrow = is_narrow(ax)
    *all_panels, legend = panels(ax, wide=(2, 3), narrow=(3, 2), space=(0.04, 0.06))
    seen: dict[str, Line2D] = {}
    for panel, (title, studies) in zip(all_panels, PANELS.items(), strict=True):
        mine = table[table["study"].isin(studies)]
        for (_, lock), of_lock in mine.groupby(["study", "lock"], sort=False):
            style = LOCKS[str(lock)]
            both = of_lock.pivot(index="threads", columns="series", values="turns_per_us")
            panel.plot(both.index, both["published"], style.marker, color=style.colour, markersize=4)
            panel.plot(both.index, both["simulated"], style.dash, color=style.colour, linewidth=1.4)
            seen[str(lock)] = Line2D(
                [], [], color=style.colour, marker=style.marker, ls=style.dash, markersize=4
            )
        panel.set_title(title, fontsize=9, loc="left", pad=2)
        panel.set_xscale("log", base=2)
        most = mine["threads"].max()
        panel.set_xticks([n for n in ((1, 8, 64) if narrow else (1, 4, 16, 64, 224)) if n <= most])
        panel.xaxis.set_major_formatter(lambda value, _: plain(value))
        panel.tick_params(labelsize=9)
    all_panels[0].set_yscale("log")
    plain_log_ticks(all_panels[0].yaxis, at=(1.0,))
    for panel in (*all_panels, legend):
        panel.minorticks_off()
    legend.set_axis_off()
    names = [lock.replace("test-and-test", "test, test") if narrow else lock for lock in seen]
    handles = list(seen.values())
    legend.legend(handles, names, loc="center left", fontsize=9, frameon=False, borderaxespad=0)
    drawing_of(ax).supxlabel("threads", fontsize=10, color=INK)
    drawing_of(ax).supylabel("turns per us", fontsize=10, color=INK)


def words(table: Rows) -> Words:
    """The median error, and where we are farthest off to either side."""
    points = crowds.off(table.assign(repeat=0)).sort_values("off_percent")
    middle, n = points["off_percent"].abs().median(), len(points)
    slow, fast = points.iloc[0], points.iloc[-1]
    farthest = " and ".join(
        f"{each['lock']} with {each['threads']} threads ({each['off_percent']:+.0f} %)"
        for each in (slow, fast)
    )
    return Words(
        alt=f"{len(PANELS)} small log-log charts of turns per microsecond against threads, one a study or several of one kind; dots are "
        f"published, lines simulated. Simulated throughput is {middle:.0f} percent off in the median of {n} points, from "
        f"{slow['off_percent']:+.0f} to {fast['off_percent']:+.0f} percent.",
        caption=f"Dots are what others measured, lines the simulated machine of each study. Throughput is {middle:.0f} % off in the median of "
        f"{n} contended points; farthest {farthest}.",
    )
