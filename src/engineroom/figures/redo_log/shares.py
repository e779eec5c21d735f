"""What the redo log's dot plots share: one row a thing and series, a dot a repeat, the published value hollow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, INK, VERMILION
from engineroom.figures.lines import is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["dots", "middle", "rows_of"]

MARKS = ((VERMILION, "o"), (BLUE, "s"))


def rows_of(run: Run, *, x: str, y: str) -> pd.DataFrame:
    """Our repeats, then the published values."""
    ours = run.table[[x, "series", "repeat", y]].assign(source="ours", method=run.method)
    theirs = published.rows(run.figure)[[x, "series", y]].assign(repeat=0, source="published", method="")
    return pd.concat([ours, theirs], ignore_index=True)


def middle(table: pd.DataFrame, *, x: str, y: str) -> dict[str, pd.Series[float]]:
    """Our median of each x by series."""
    ours = table[table["source"] == "ours"]
    return {str(series): mine.groupby(x)[y].median() for series, mine in ours.groupby("series")}


def dots(
    table: pd.DataFrame,
    ax: Axes,
    *,
    x: str,
    y: str,
    x_label: str,
    series: Mapping[str, str] | None = None,
) -> None:
    """Groups of rows under a heading that says whose they are, ours first; in each from the largest down.

    `series` names the groups where one source has several. A heading is a row of its own, so that it stays on a phone.
    """
    labels: list[str] = []
    headings: list[int] = []
    for source in ("ours", "published"):
        for (colour, marker), (each, mine) in zip(
            MARKS, table[table["source"] == source].groupby("series", sort=False), strict=False
        ):
            headings.append(len(labels))
            labels.append(f"{source}, {series[str(each)]}" if series else source)
            order = mine.groupby(x)[y].median().sort_values(ascending=False)
            for name, value in order.items():
                repeats = mine.loc[mine[x] == name, y]
                at = [len(labels)] * len(repeats)
                if source == "ours":
                    ax.plot(repeats, at, marker, color=colour, alpha=0.35, markersize=5)
                    ax.plot([value], at[:1], marker, color=colour, markersize=8)
                else:
                    ax.plot([value], at[:1], marker, color=INK, markersize=7, fillstyle="none")
                ax.annotate(
                    f"{value:.3g}",
                    (value, at[0]),
                    (9, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=9,
                )
                labels.append(str(name).replace("_", " "))
    ax.set_yticks(range(len(labels)), labels, fontsize=9)
    for heading in headings:
        ax.get_yticklabels()[heading].set_fontweight("bold")
        ax.yaxis.get_major_ticks()[heading].tick1line.set_visible(False)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(0, table[y].max() * (1.35 if is_narrow(ax) else 1.15))
    if is_narrow(ax):
        ax.locator_params(axis="x", nbins=4)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(x_label)
