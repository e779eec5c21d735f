"""Line charts of this book: every repeat a faint dot, the summary as the line, a label at its end instead of a legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engineroom.figures.drawing import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["STYLES", "LineStyle", "is_narrow", "lines"]


@dataclass(frozen=True)
class LineStyle:
    """Colour, marker and dash of a series: colour is never the only difference."""

    colour: str
    marker: str
    dash: str = "-"


STYLES = (
    LineStyle(VERMILION, "o", "-"),
    LineStyle(BLUE, "s", "--"),
    LineStyle(GREEN, "D", "-."),
    LineStyle(PURPLE, "^", ":"),
    LineStyle(ORANGE, "v", "-"),
    LineStyle(SKY, "P", "--"),
)


def is_narrow(ax: Axes) -> bool:
    """Whether this is the drawing for a phone."""
    return bool(ax.get_figure(root=True).get_figwidth() < 5)  # type: ignore[union-attr]


def lines(
    table: pd.DataFrame, ax: Axes, *, x: str, y: str, labels: Mapping[str, str], summary: str = "median"
) -> None:
    """One line a series, in the order of `labels` (series to label); series that the rows lack are left out."""
    for style, (series, label) in zip(STYLES, labels.items(), strict=False):
        mine = table[table["series"] == series].sort_values(x)
        if mine.empty:
            continue
        ax.plot(mine[x], mine[y], style.marker, color=style.colour, alpha=0.3, markersize=4)
        line = mine.groupby(x)[y].agg(summary)
        ax.plot(
            line.index, line, style.dash, marker=style.marker, color=style.colour, markersize=5, linewidth=1.6
        )
        ax.annotate(
            label,
            (line.index[-1], line.iloc[-1]),
            (6, 0),
            textcoords="offset points",
            va="center",
            color=style.colour,
            fontsize=9,
        )
    ax.grid(axis="y", alpha=0.25)
