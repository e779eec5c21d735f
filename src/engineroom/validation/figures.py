"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.ledger.sensitivity import MOVES_PERCENT, SEED
from engineroom.runs import provenance
from engineroom.show import flame
from engineroom.show.figure import figure
from engineroom.show.panels import panels
from engineroom.show.parts import Rows, Run, Words, each
from engineroom.show.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    STYLES,
    VERMILION,
    drawing_of,
    is_narrow,
    plain,
    plain_log_ticks,
)
from engineroom.validation.experiments import crowds
from engineroom.validation.experiments.real import errors

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


def _rows_of_own_machine_crowds(run: Run) -> Rows:
    """One row a study, lock, number of threads and series: turns of all threads per microsecond, the median."""
    by = ["study", "lock", "threads", "series"]
    middle = run.table.groupby(by, sort=False)["ns_per_turn"].median().reset_index()
    return middle.assign(turns_per_us=1000 / middle["ns_per_turn"]).sort_values(by, ignore_index=True)


def _picture_of_own_machine_crowds(table: Rows, ax: Axes) -> None:
    """Dots are published, lines simulated; the sixth place is the legend's."""
    from matplotlib.lines import Line2D

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


@figure("own-machine-crowds", rows=_rows_of_own_machine_crowds, picture=_picture_of_own_machine_crowds)
def own_machine_crowds(table: Rows) -> Words:
    """The simulated machine against what others measured on many cores: a panel a study, throughput by threads."""
    points = crowds.off(table.assign(repeat=0)).sort_values("off_percent")
    middle, n = points["off_percent"].abs().median(), len(points)
    slow, fast = points.iloc[0], points.iloc[-1]
    return Words(
        alt=f"{len(PANELS)} small log-log charts of turns per microsecond against threads, one a study or several of one kind; dots are "
        f"published, lines simulated. Simulated throughput is {middle:.0f} percent off in the median of {n} points, from "
        f"{slow['off_percent']:+.0f} to {fast['off_percent']:+.0f} percent.",
        caption=f"The simulated machine (lines) is {middle:.0f} % off what others measured (dots), in the median of {n} points.",
    )


# What a thread is in: colour and hatch, so that colour is never the only difference.
STATES = {
    "work": (GREEN, ""),
    "memory": (SKY, ".."),
    "spin": (VERMILION, "//"),
    "runnable": (ORANGE, "\\\\"),
    "parked": (PURPLE, "xx"),
    "io": (BLUE, "--"),
    "sleeping": (INK, ""),
}


def flame_run(seen: Mapping[str, Any], *, method: str = "sim") -> Run:
    """A run of a machine as its figure draws it: the activities of all threads."""
    activities = [(";".join(path), state, ps / 1000, state, 0) for path, state, ps in seen["activities"]]
    table = pd.DataFrame(activities, columns=["path", "state", "ns", "series", "repeat"])
    return Run("own-machine-flame", method, table, provenance=provenance.machine())


def _rows_of_own_machine_flame(run: Run) -> Rows:
    """A row per frame that is wide enough to see; the outermost are what threads do, the innermost what they are in meanwhile."""
    paths = flame.paths(run.table["path"] + ";(" + run.table["state"] + ")")
    return flame.table_of(zip(paths, run.table["ns"], strict=True))


def _style(frame: str) -> tuple[str, str]:
    return STATES.get(frame.strip("()"), (ORANGE, "")) if frame.startswith("(") else ("none", "")


@figure(
    "own-machine-flame",
    rows=_rows_of_own_machine_flame,
    picture=flame.Flame(of="the threads' time", style=_style),
)
def own_machine_flame(table: Rows) -> Words:
    """Our own figure: a flame graph of where the time of a run went, simulated or real."""
    in_state = table[table["frame"].str.startswith("(")]
    share = in_state.groupby(in_state["frame"].str.strip("()"))["share_percent"].sum()
    named = each(share.sort_values(ascending=False), "{:.0f} percent")
    return Words(
        alt=f"Flame graph of the threads' time, what they do below, what they are in meanwhile above it: {named}.",
        caption=f"Where the threads' time went: {named}.",
    )


BOTH = ["commits_per_s_real", "commits_per_s_simulated"]


def _rows_of_own_machine_real(run: Run) -> Rows:
    """Medians of both, and how far apart."""
    return errors(run.table)


def _picture_of_own_machine_real(table: Rows, ax: Axes) -> None:
    """On the line both are equal; the band is 20 % to either side."""
    from matplotlib.ticker import EngFormatter

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


@figure("own-machine-real", rows=_rows_of_own_machine_real, picture=_picture_of_own_machine_real)
def own_machine_real(table: Rows) -> Words:
    """The simulated machine against real threads: commits per second of both, one dot a load, design and number of clients."""
    off = table.loc[table["is_held_out"], "commits_per_s_off_percent"].abs()
    said = f"{off.median():.0f} % off in the median and {off.max():.0f} % at most"
    return Words(
        alt=f"Log-log scatter of simulated against measured commits per second, {len(table)} points. On loads that took no part in the fit: {said}.",
        caption=f"On loads that took no part in the fit, commits per second are {said}. The band: 20 % to either side.",
    )


SHOWN = 4  # numbers of each figure, those that move it most

SIGNS = {0.5: ("half", VERMILION, "o"), 1.5: ("one and a half", BLUE, "s")}


def sensitivity_run(found: pd.DataFrame) -> Run:
    """What `ledger.sensitivity.farthest` found."""
    return Run("own-machine-sensitivity", "sim", found.assign(series=found["figure"]), provenance.machine())


def _rows_of_own_machine_sensitivity(run: Run) -> Rows:
    """One row per figure, varied number and factor, with the factor by which what is asked changes; the most first in each figure."""
    table = run.table.assign(
        times=1 + run.table["moved_percent"] / 100, size=run.table["moved_percent"].abs()
    )
    table["size"] = table.groupby(["figure", "parameter"])["size"].transform("max")
    by, ascending = ["figure", "size", "parameter", "factor"], [True, False, True, True]
    in_order = table.sort_values(by, ascending=ascending, ignore_index=True)
    return in_order[["figure", "parameter", "factor", "claim", "times", "flips", "outcomes_changed", "size"]]


def _moving(table: Rows) -> Rows:
    return table[(table["parameter"] != SEED) & (table["size"] > MOVES_PERCENT)]


def _picture_of_own_machine_sensitivity(table: Rows, ax: Axes) -> None:
    """A row a number and figure, from what half of it does to what one and a half does; a filled sign flips the verdict."""
    from matplotlib.lines import Line2D

    labels: list[str] = []
    seeds = table[table["parameter"] == SEED].groupby("figure")["times"].agg(["min", "max"])
    for moved_figure, mine in _moving(table).groupby("figure", sort=False):
        top, shown = len(labels), list(mine["parameter"].unique())[:SHOWN]
        if moved_figure in seeds.index:
            low, high = min(1, seeds["min"][moved_figure]), max(1, seeds["max"][moved_figure])
            band = [-top - len(shown) + 0.5, -top + 0.5]
            ax.fill_betweenx(band, low, high, color=GREY, alpha=0.25, linewidth=0)
        for parameter in shown:
            y, both = -len(labels), mine[mine["parameter"] == parameter]
            ax.plot([1, *both["times"]], [y] * (1 + len(both)), color=INK, linewidth=1)
            for one in both.itertuples():
                _, colour, marker = SIGNS[one.factor]
                face = colour if one.flips else "white"
                ax.plot(one.times, y, marker, color=colour, markerfacecolor=face, markersize=5)
            labels.append(f"{_short(str(moved_figure))}: {in_words(parameter)}")
        ax.axhline(-len(labels) + 0.5, color=GREY, linewidth=0.5)
    ax.set_yticks([-i for i in range(len(labels))], labels, fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.axvline(1, color=GREY, linewidth=0.8)
    ax.set_xscale("log")
    ax.minorticks_off()
    least, most = ax.get_xlim()
    # A tick or two for each power of ten; on a phone there is room for one only where they are many.
    if is_narrow(ax) and most / least > 50:
        known: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)
    else:
        between = () if most / least > 8 else (0.7, 1.4)
        known = (0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 100.0, *between)
    ticks = [tick for tick in sorted(known) if least <= tick <= most]
    ax.set_xticks(ticks, [plain(tick) for tick in ticks])
    ax.set_xlabel("times" if is_narrow(ax) else "the ratio that moves most, times its usual value")
    handles = [
        Line2D([], [], color=colour, marker=marker, ls="", markerfacecolor="white", markersize=5, label=name)
        for name, colour, marker in SIGNS.values()
    ]
    # To the left of the axes' end is the room over the labels, however narrow the axes are.
    ax.legend(handles=handles, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)


def _short(figure: str) -> str:
    return {"own-machine-crowds": "studies"}.get(figure, figure.removeprefix("fig-"))


def in_words(parameter: str) -> str:
    """A machine's number without its unit."""
    for unit in ("_quantiles_ps", "_permille", "_ps"):
        parameter = parameter.replace(unit, "")
    return parameter.replace("_per_kib", " a KiB").replace("_", " ")


@figure(
    "own-machine-sensitivity",
    rows=_rows_of_own_machine_sensitivity,
    picture=_picture_of_own_machine_sensitivity,
)
def own_machine_sensitivity(table: Rows) -> Words:
    """Our own figure: which estimates of the simulated machine move what the simulated figures are asked, and how far."""
    most, varied = [], table[table["parameter"] != SEED]
    for moved_figure, mine in _moving(table).groupby("figure", sort=False):
        first = mine[mine["parameter"] == mine["parameter"].iloc[0]]["times"].reset_index(drop=True)
        times = first[(first - 1).abs().idxmax()]
        most.append(f"{_short(str(moved_figure))}: {in_words(mine['parameter'].iloc[0])} (times {times:.2f})")
    moved = set(_moving(table)["figure"])
    still = ", ".join(_short(figure) for figure in table["figure"].unique() if figure not in moved)
    said = f" No number moves a ratio of {still} by more than {MOVES_PERCENT:g} %." if still else ""
    return Words(
        alt=f"Horizontal lines around one, a line for each of up to {SHOWN} numbers of the machine that move a figure. Moving most: "
        f"{'; '.join(most) or 'nothing'}.",
        caption=f"How far a figure's ratio moves if one number of its machine is halved or taken one and a half times, where that is more than "
        f"{MOVES_PERCENT:g} %. Grey: other seeds. Filled: the verdict flips, as it does with {varied['flips'].sum()} of {len(varied)} varied machines.{said}",
    )


def _rows_of_own_machine_validation(run: Run) -> Rows:
    """One row a case, in the order of the cases, families together."""
    return run.table


def _picture_of_own_machine_validation(table: Rows, ax: Axes) -> None:
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


@figure(
    "own-machine-validation", rows=_rows_of_own_machine_validation, picture=_picture_of_own_machine_validation
)
def own_machine_validation(table: Rows) -> Words:
    """Our own figure: how far the simulated machine is from formulas that it does not know."""
    worst = table.sort_values("off_percent", key=abs).iloc[-1]
    widest, held = table["half_width_percent"].max(), int(table["holds"].sum())
    return Words(
        alt=f"Dots with intervals around zero, one for each of {len(table)} cases in {table['series'].nunique()} families. The mean "
        f"furthest from its formula is {worst['case']}, off by {worst['off_percent']:+.2f} percent; the widest half-width is {widest:.2f} "
        "percent.",
        caption=f"{held} of {len(table)} cases hold: the formula's value lies inside the 99 % interval of twenty runs, and the interval is at "
        "most 2 % of the mean to each side.",
    )
