"""Our own figure: what the sources changed at once, one change at a time, from the run of figure 7-22."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.experiments.hash_join import three_changes
from engineroom.figures.drawing import BLUE, GREEN, ORANGE, VERMILION, Words
from engineroom.figures.lines import is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

STATES = ("5.7, index loop", "9.7, index loop", "9.7, reversed, no hash", "9.7, reversed, hash join")


def rows(run: Run) -> pd.DataFrame:
    """One row a change: seconds before and after, and their ratio."""
    servers = sorted(set(run.table["server"]))
    return three_changes(run.table, old=servers[0], new=servers[-1])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Four states from left to right, the change written on the line between two of them."""
    seconds = [table["before_cpu_s"].iloc[0], *table["after_cpu_s"]]
    for i, (colour, dash) in enumerate(((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."))):
        ax.plot([i, i + 1], seconds[i : i + 2], dash, color=colour, linewidth=2)
        ratio = table["before_per_after"].iloc[i]
        said = f"{ratio:.1f}x faster" if ratio >= 1 else f"{1 / ratio:.0f}x slower"
        middle = (seconds[i] * seconds[i + 1]) ** 0.5
        ax.annotate(
            f"{table['change'].iloc[i]}\n{said}",
            (i + 0.5, middle),
            (-6 if i == 1 else 6, 6),
            textcoords="offset points",
            ha="right" if i == 1 else "left",
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
    labels = [state.replace(", ", ",\n") for state in STATES]
    ax.set_xticks(range(4), labels, fontsize=8 if is_narrow(ax) else 9)
    ax.set_yscale("log")
    ax.margins(x=0.12, y=0.2)
    ax.set_ylabel("server CPU s, log scale")


def words(table: pd.DataFrame) -> Words:
    """Say each step's factor."""
    ratio = table.set_index("change")["before_per_after"]
    return Words(
        alt=(
            "Step chart of server CPU seconds over four states: "
            + ", ".join(
                f"{state} {value:.2f} s"
                for state, value in zip(
                    STATES, [table["before_cpu_s"].iloc[0], *table["after_cpu_s"]], strict=True
                )
            )
            + "."
        ),
        caption=(
            f"One change at a time: the version divides the time by {ratio['version']:.2f}, the order multiplies it by "
            f"{1 / ratio['order']:.1f}, the hash join divides that by {ratio['algorithm']:.1f}."
        ),
    )
