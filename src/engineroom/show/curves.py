"""Curves against x: every repeat a faint dot, its value on the line, the published points beside ours hollow and dotted.

One of our points is hollow, too, where one of its simulated runs had not settled when its window ended.

Each line has its label at its end instead of a legend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engineroom.runs.side_by_side import OURS, PUBLISHED, cell
from engineroom.runs.summary import values
from engineroom.show.style import (
    INK,
    STYLES,
    Names,
    drawing_of,
    label_axes,
    names_of,
    note,
    plain,
    plain_log_ticks,
    plain_ticks,
)
from engineroom.show.wording import at, each_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SETTLED", "Curves", "End", "label_ends", "lines", "ticks_that_fit", "unsettled"]

SETTLED = (
    "is_settled"  # of a simulated run: 0 where its window's cap came before its throughput was known to 2 %
)

_LETTER_PX, _APART_PX = 7.5, 15


@dataclass(frozen=True)
class End:
    """Where a line ends, in data coordinates, and what is written there."""

    x: float
    y: float
    label: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class Curves:
    """One line per series of `labels`, in that order; both axes are logarithmic unless said otherwise.

    `x` is a column of the place, the only one beside the series where it is not given; the value is the rows'. `narrow` has shorter
    labels for a phone, `where` picks what is drawn of the rows, `tick` writes a number of the x axis.
    """

    labels: Names
    x_label: str
    y_label: str
    x: str = ""
    narrow: Names = field(default_factory=dict)
    x_log: bool = True
    y_log: bool = True
    where: str = ""
    tick: Callable[[float], str] = plain

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows."""
        drawn, x, y = self._drawn(table)
        labels = names_of(self.labels, self.narrow, drawn, ax)
        ends = lines(drawn[drawn["source"] == OURS], ax, x=x, y=y, labels=labels)
        ends += _published(drawn[drawn["source"] == PUBLISHED], ax, x=x, y=y, labels=labels)
        places = sorted(set(drawn[x]))
        if self.x_log:
            ax.set_xscale("log")
            ax.set_xlim(places[0] / 1.2, places[-1] * 1.2)
        if self.y_log:
            ax.set_yscale("log")
            plain_log_ticks(ax.yaxis)
        else:
            ax.set_ylim(bottom=0)
            plain_ticks(ax.yaxis)
        shown = ticks_that_fit(ax, places, self.tick, beside=max((len(end.label) for end in ends), default=0))
        ax.set_xticks(shown, [self.tick(value) for value in shown])
        ax.minorticks_off()
        label_axes(ax, x=self.x_label, x_log=self.x_log, y=self.y_label, y_log=self.y_log)
        label_ends(ax, ends)

    def values(self, table: pd.DataFrame) -> pd.Series[Any]:
        """Our values that are drawn, by series and x: `values(table)["before", 64]`, the lines of `values(table)["before"]`."""
        drawn, x, y = self._drawn(table)
        return values(drawn[drawn["source"] == OURS], "series", x, y=y)

    def alt(
        self,
        table: pd.DataFrame,
        form: str = "{:.2f}",
        *,
        told: Callable[[pd.Series[Any], str], str] = at,
        more: str = "",
    ) -> str:
        """What is seen, in words: the axes, the measured values along each line, and `more`."""
        kind = "Line" if not self.y_log else "Log-log line" if self.x_log else "Log line"
        labels = self.labels(table) if callable(self.labels) else self.labels
        said = each_line(self.values(table), labels, form, told=told)
        return f"{kind} chart of {self.y_label} against {self.x_label}. {said}. {more}".strip()

    def _drawn(self, table: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
        """The rows, and which columns are x and the value."""
        drawn = table.query(self.where) if self.where else table
        place, y = cell(drawn)
        return drawn, self.x or next(name for name in place if name != "series"), y


def lines(table: pd.DataFrame, ax: Axes, *, x: str, y: str, labels: Mapping[str, str]) -> list[End]:
    """One line per series, in the order of `labels` (series to label); series that the rows lack are left out.

    Returns the lines' ends for `label_ends`, to be called when scales and limits are set.
    """
    ends = []
    for style, (series, label) in zip(STYLES, labels.items(), strict=False):
        mine = table[table["series"] == series].sort_values(x)
        if mine.empty:
            continue
        ax.plot(mine[x], mine[y], style.marker, color=style.colour, alpha=0.3, markersize=4)
        line = values(mine, x, y=y)
        is_hollow = line.index.isin(mine[x][unsettled(mine)])
        of: dict[str, Any] = {"marker": style.marker, "color": style.colour, "markersize": 5}
        filled = [int(at) for at in (~is_hollow).nonzero()[0]]
        ax.plot(line.index, line, style.dash, linewidth=1.6, markevery=filled, **of)
        if is_hollow.any():
            hollow = line[is_hollow]
            # Larger than the repeats' dots, which lie inside and would fill it.
            ax.plot(hollow.index, hollow, linestyle="None", fillstyle="none", **of | {"markersize": 7})
        ends.append(End(float(line.index[-1]), float(line.iloc[-1]), label, style.colour))
    ax.grid(axis="y", alpha=0.25)
    return ends


def unsettled(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are of a run that had not settled; none where the rows do not say."""
    if SETTLED not in table:
        return table["source"].ne(table["source"])
    return table[SETTLED].astype(float) == 0


def _published(table: pd.DataFrame, ax: Axes, *, x: str, y: str, labels: Mapping[str, str]) -> list[End]:
    ends = []
    for style, (series, label) in zip(STYLES, labels.items(), strict=False):
        mine = table[table["series"] == series].sort_values(x)
        if mine.empty:
            continue
        ax.plot(
            mine[x], mine[y], ":", marker=style.marker, color=INK, fillstyle="none", markersize=6, linewidth=1
        )
        text = f"{label.split(',')[0]}, published"
        ends.append(End(float(mine[x].iloc[-1]), float(mine[y].iloc[-1]), text, INK))
    return ends


def ticks_that_fit(
    ax: Axes, at: Sequence[float], tick: Callable[[float], str], *, beside: int = 0
) -> list[float]:
    """As many of the measured x as have room for their numbers, beside labels of so many letters at the lines' ends."""
    drawing = drawing_of(ax)
    room_px = drawing.get_figwidth() * drawing.dpi - 70 - beside * _LETTER_PX
    place = ax.transScale.transform([(value, 1.0) for value in at])[:, 0]
    low, high = ax.transScale.transform([(value, 1.0) for value in ax.get_xlim()])[:, 0]
    shown: list[float] = []
    free_px = float("-inf")
    for value, where in zip(at, place, strict=True):
        middle = (where - low) / (high - low) * room_px
        half = (len(tick(value)) + 1) * _LETTER_PX / 2
        if middle - half >= free_px:
            shown.append(value)
            free_px = middle + half
    return shown


def label_ends(ax: Axes, ends: Sequence[End], *, apart_px: float = _APART_PX) -> None:
    """Write each label at its line's end, moved up or down as little as keeps two labels `apart_px` pixels apart.

    Labels stand beside the axes where a line ends there; the layout gives them room.
    """
    ax.apply_aspect()
    at = {end: float(ax.transData.transform((end.x, end.y))[1]) for end in ends}
    placed: list[tuple[End, float]] = []
    for end in sorted(ends, key=at.__getitem__):
        below = placed[-1][1] + apart_px if placed else float("-inf")
        placed.append((end, max(at[end], below)))
    shift = sum(at[end] - y for end, y in placed) / max(1, len(placed))
    points_per_pixel = 72 / drawing_of(ax).dpi
    for end, y in placed:
        crowded = any(abs(at[end] - at[other]) < apart_px for other in ends if other is not end)
        up = (y + (shift if crowded else 0) - at[end]) * points_per_pixel
        note(ax, end.label, (end.x, end.y), (7, up), ha="left", va="center", color=end.colour)
