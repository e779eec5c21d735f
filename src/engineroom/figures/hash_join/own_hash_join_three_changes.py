"""Our own figure: what the sources changed at once, one change at a time, from the run of figure 7-22."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.experiments.hash_join import three_changes
from engineroom.figures.drawing import BLUE, GREEN, ORANGE, VERMILION, Words
from engineroom.figures.lines import plain_log_ticks
from engineroom.servers.catalogue import release, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """One row a change from the oldest server to the newest: state and seconds before and after, and their ratio."""
    servers = sorted(set(run.table["server"]), key=release)
    steps = three_changes(run.table, old=servers[0], new=servers[-1])
    old, new = series_of(servers[0]), series_of(servers[-1])
    states = [
        f"{old}, index loop",
        f"{new}, index loop",
        f"{new}, reversed, no hash",
        f"{new}, reversed, hash join",
    ]
    return steps.assign(before=states[:-1], after=states[1:])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Four states from left to right, the change written on the line between two of them."""
    states, seconds = _states(table)
    styles = ((BLUE, "-", "center", 0), (VERMILION, "--", "right", -6), (GREEN, "-.", "left", 6))
    for i, (colour, dash, side, dx) in enumerate(styles):
        ax.plot([i, i + 1], seconds[i : i + 2], dash, color=colour, linewidth=2)
        ratio = table["before_per_after"].iloc[i]
        said = f"{ratio:.1f}x faster" if ratio >= 1 else f"{1 / ratio:.0f}x slower"
        middle = (seconds[i] * seconds[i + 1]) ** 0.5
        ax.annotate(
            f"{table['change'].iloc[i]}\n{said}",
            (i + 0.5, middle),
            (dx, 6),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=9,
            color=colour,
        )
    ax.plot(range(4), seconds, "o", color=ORANGE, markersize=7)
    for i, value in enumerate(seconds):
        ax.annotate(
            f"{value:.2f} s",
            (i, value),
            (0, 7 if value == max(seconds) else -14),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.set_xticks(range(4), [state.replace(", ", ",\n") for state in states], fontsize=9)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis, at=(1.0, 3.0))
    ax.margins(x=0.12, y=0.2)
    ax.set_ylabel("server CPU s, log scale")


def words(table: pd.DataFrame) -> Words:
    """Say each step's factor."""
    version, order, algorithm = table["before_per_after"]
    said = ", ".join(f"{state} {value:.2f} s" for state, value in zip(*_states(table), strict=True))
    return Words(
        alt=f"Step chart of server CPU seconds over four states: {said}.",
        caption=(
            f"One change at a time: the version divides the time by {version:.2f}, changing the "
            f"{table['change'].iloc[1]} multiplies it by {1 / order:.1f}, the hash join divides that by {algorithm:.1f}."
        ),
    )


def _states(table: pd.DataFrame) -> tuple[list[str], list[float]]:
    return [table["before"].iloc[0], *table["after"]], [table["before_cpu_s"].iloc[0], *table["after_cpu_s"]]
