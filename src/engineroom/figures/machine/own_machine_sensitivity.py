"""Our own figure: which estimates of the simulated machine move what the simulated figures are asked, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.lines import Line2D

from engineroom import provenance
from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import BLUE, GREY, INK, VERMILION, is_narrow, plain
from engineroom.simulating.variations import MOVES_PERCENT, SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 4  # numbers of each figure, those that move it most
SIGNS = {0.5: ("half", VERMILION, "o"), 1.5: ("one and a half", BLUE, "s")}


def as_run(found: pd.DataFrame) -> Run:
    """What `ledger.sensitivity.farthest` found."""
    return Run("own-machine-sensitivity", "sim", found.assign(series=found["figure"]), provenance.machine())


def rows(run: Run) -> Rows:
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


def picture(table: Rows, ax: Axes) -> None:
    """A row a number and figure, from what half of it does to what one and a half does; a filled sign flips the verdict."""
    labels: list[str] = []
    seeds = table[table["parameter"] == SEED].groupby("figure")["times"].agg(["min", "max"])
    for figure, mine in _moving(table).groupby("figure", sort=False):
        top, shown = len(labels), list(mine["parameter"].unique())[:SHOWN]
        if figure in seeds.index:
            low, high = min(1, seeds["min"][figure]), max(1, seeds["max"][figure])
            band = [-top - len(shown) + 0.5, -top + 0.5]
            ax.fill_betweenx(band, low, high, color=GREY, alpha=0.25, linewidth=0)
        for parameter in shown:
            y, both = -len(labels), mine[mine["parameter"] == parameter]
            ax.plot([1, *both["times"]], [y] * (1 + len(both)), color=INK, linewidth=1)
            for each in both.itertuples():
                _, colour, marker = SIGNS[each.factor]
                face = colour if each.flips else "white"
                ax.plot(each.times, y, marker, color=colour, markerfacecolor=face, markersize=5)
            labels.append(f"{_short(str(figure))}: {in_words(parameter)}")
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


def words(table: Rows) -> Words:
    """What moves most in each figure, and in which nothing moves."""
    most, varied = [], table[table["parameter"] != SEED]
    for figure, mine in _moving(table).groupby("figure", sort=False):
        first = mine[mine["parameter"] == mine["parameter"].iloc[0]]["times"].reset_index(drop=True)
        times = first[(first - 1).abs().idxmax()]
        most.append(f"{_short(str(figure))}: {in_words(mine['parameter'].iloc[0])} (times {times:.2f})")
    moved = set(_moving(table)["figure"])
    still = ", ".join(_short(figure) for figure in table["figure"].unique() if figure not in moved)
    said = f" No number moves what {still} are asked by more than {MOVES_PERCENT:g} %." if still else ""
    return Words(
        alt=f"Horizontal lines around one, a line for each of up to {SHOWN} numbers of the machine that move a figure. Moving most: "
        f"{'; '.join(most) or 'nothing'}.",
        caption=f"What a figure's claims ask for, with a number of its machine at half and at one and a half, where that moves it by more than "
        f"{MOVES_PERCENT:g} %; grey: other seeds; filled: the verdict flips, with {varied['flips'].sum()} of {len(varied)} varied machines.{said}",
    )
