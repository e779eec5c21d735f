"""Line charts of this book: every repeat a faint dot, the summary as the line, a label at its end instead of a legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engineroom.figures.drawing import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["STYLES", "End", "LineStyle", "is_narrow", "label_ends", "lines", "plain", "plain_log_ticks"]


@dataclass(frozen=True)
class LineStyle:
    """Colour, marker and dash of a series: colour is never the only difference."""

    colour: str
    marker: str
    dash: str = "-"


@dataclass(frozen=True)
class End:
    """Where a line ends, in data coordinates, and what is written there."""

    x: float
    y: float
    label: str
    colour: str


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


def plain(value: float) -> str:
    """A number without an exponent: 100,000 and 100 billion."""
    for unit, name in ((1e9, " billion"), (1e6, " million")):
        if value >= unit:
            return f"{value / unit:,.10g}{name}"
    return f"{value:,.10g}"


def plain_log_ticks(axis: Axis, *, at: Sequence[float] = (1.0,)) -> None:
    """Ticks at these multiples of the powers of ten, as plain numbers: an exponent would be too small to read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=at))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def lines(
    table: pd.DataFrame, ax: Axes, *, x: str, y: str, labels: Mapping[str, str], summary: str = "median"
) -> list[End]:
    """One line a series, in the order of `labels` (series to label); series that the rows lack are left out.

    Returns the lines' ends for `label_ends`, to be called when scales and limits are set.
    """
    ends = []
    for style, (series, label) in zip(STYLES, labels.items(), strict=False):
        mine = table[table["series"] == series].sort_values(x)
        if mine.empty:
            continue
        ax.plot(mine[x], mine[y], style.marker, color=style.colour, alpha=0.3, markersize=4)
        line = mine.groupby(x)[y].agg(summary)
        ax.plot(
            line.index, line, style.dash, marker=style.marker, color=style.colour, markersize=5, linewidth=1.6
        )
        ends.append(End(float(line.index[-1]), float(line.iloc[-1]), label, style.colour))
    ax.grid(axis="y", alpha=0.25)
    return ends


def label_ends(ax: Axes, ends: Sequence[End], *, apart_px: float = 15) -> None:
    """Write each label at its line's end, moved up or down as little as keeps two labels `apart_px` pixels apart."""
    ax.apply_aspect()
    at = {end: float(ax.transData.transform((end.x, end.y))[1]) for end in ends}
    placed: list[tuple[End, float]] = []
    for end in sorted(ends, key=at.__getitem__):
        below = placed[-1][1] + apart_px if placed else float("-inf")
        placed.append((end, max(at[end], below)))
    shift = sum(at[end] - y for end, y in placed) / max(1, len(placed))
    points_per_pixel = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    for end, y in placed:
        crowded = any(abs(at[end] - at[other]) < apart_px for other in ends if other is not end)
        up = (y + (shift if crowded else 0) - at[end]) * points_per_pixel
        ax.annotate(
            end.label,
            (end.x, end.y),
            (7, up),
            textcoords="offset points",
            va="center",
            color=end.colour,
            fontsize=9,
        )
