"""How this book draws: colours, marks, plain numbers on axes, and what differs on a phone."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "PURPLE",
    "SKY",
    "STYLES",
    "VERMILION",
    "Names",
    "Style",
    "drawing_of",
    "is_narrow",
    "label_axes",
    "legend_above",
    "legible",
    "luminance",
    "names_of",
    "note",
    "plain",
    "plain_log_ticks",
    "plain_ticks",
]

# Okabe and Ito's colours without black and yellow: black is the page's ink, yellow is illegible on white.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
INK = "#000000"  # becomes the page's text colour
GREY = "#777777"
_NARROW_LETTERS = 30
_LETTERS = 0.15  # the luminance of letters: between what the white page and the dark one ask for

# What a picture draws, in its order, and how each is called: fixed, or taken from the rows.
Names = Mapping[str, str] | Callable[[pd.DataFrame], Mapping[str, str]]


@dataclass(frozen=True)
class Style:
    """Colour, marker and dash of a series: colour is never the only difference."""

    colour: str
    marker: str
    dash: str = "-"


STYLES = (
    Style(VERMILION, "o", "-"),
    Style(BLUE, "s", "--"),
    Style(GREEN, "D", "-."),
    Style(PURPLE, "^", ":"),
    Style(ORANGE, "v", "-"),
    Style(SKY, "P", "--"),
    Style(GREY, "X", "-."),
)


def drawing_of(ax: Axes) -> Figure:
    """The drawing that the axes are part of."""
    drawing = ax.get_figure(root=True)
    assert drawing is not None
    return drawing


def note(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    offset: tuple[float, float],
    *,
    ha: str = "center",
    **how: Any,
) -> None:
    """Write beside a point, so many points of a printer from it; in a series' colour as dark as letters must be."""
    if how.get("color", INK) != INK:
        how["color"] = legible(how["color"])
    ax.annotate(text, at, offset, textcoords="offset points", ha=ha, fontsize=9, **how)


def legible(colour: str) -> str:
    """The colour for letters: of such a luminance that its contrast is 4.5:1 on the light page and, brightened, on the dark one."""
    linear = [_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5)]
    scale = _LETTERS / luminance(colour)
    return "#" + "".join(f"{round(255 * _encoded(min(1.0, scale * each))):02x}" for each in linear)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG, from 0 for black to 1 for white."""
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _encoded(value: float) -> float:
    return value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def is_narrow(ax: Axes) -> bool:
    """Whether this is the drawing for a phone."""
    return drawing_of(ax).get_figwidth() < 5


def names_of(names: Names, narrow: Names, table: pd.DataFrame, ax: Axes) -> dict[str, str]:
    """The names to write: on a phone, those of `narrow` are shorter."""
    known, shorter = (dict(each(table) if callable(each) else each) for each in (names, narrow))
    return known | {key: name for key, name in shorter.items() if key in known} if is_narrow(ax) else known


def plain(value: float) -> str:
    """A number without an exponent: 100,000 and 100 billion."""
    for unit, name in ((1e9, " billion"), (1e6, " million")):
        if value >= unit:
            return f"{value / unit:,.10g}{name}"
    return f"{value:,.10g}"


def plain_ticks(axis: Axis) -> None:
    """Plain numbers at the axis' own places."""
    axis.set_major_formatter(lambda value, _: plain(value))


def plain_log_ticks(axis: Axis, *, at: Sequence[float] = ()) -> None:
    """Ticks at these multiples of the powers of ten, as plain numbers: an exponent would be too small to read.

    Without `at` as few as name at least three places: the powers of ten alone may be a single tick.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    subs = at or ((1.0, 2.0, 5.0) if high < 100 * low else (1.0,))
    # Side by side on a phone only a few numbers have room.
    few = axis is axis.axes.xaxis and is_narrow(axis.axes)
    axis.set_major_locator(LogLocator(subs=subs, numticks=4 if few else None))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def label_axes(ax: Axes, *, x: str = "", x_log: bool = False, y: str = "", y_log: bool = False) -> None:
    """Say what the axes are, and that a scale is logarithmic; on a phone the lower one in lines that it has room for."""
    said = x + (", log scale" if x_log else "")
    ax.set_xlabel(textwrap.fill(said, _NARROW_LETTERS) if is_narrow(ax) else said)
    if y:
        ax.set_ylabel(y + (", log scale" if y_log else ""))


def legend_above(ax: Axes, *, more: Mapping[str, str] | None = None) -> None:
    """Name the marks above the picture, where they cover nothing; `more` adds hollow ones, by marker."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    for marker, label in (more or {}).items():
        handles.append(Line2D([], [], marker=marker, color=INK, fillstyle="none", linestyle="", markersize=7))
        labels.append(label)
    # Matplotlib fills columns first.
    columns = 2 if is_narrow(ax) else min(len(labels), 3 if max(map(len, labels)) > 12 else 4)
    drawing_of(ax).legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=9)
