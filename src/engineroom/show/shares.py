"""Shares of a whole: ranked rows under the heading of whose they are, or bars with the published share beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.runs.side_by_side import OURS, PUBLISHED, cell
from engineroom.runs.summary import values
from engineroom.show.style import BLUE, INK, STYLES, is_narrow, label_axes, note, plain_log_ticks
from engineroom.show.wording import each

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Bar", "Bars", "Ranked"]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A row per value under a heading per source and series, ours first; in each group the largest first, or by `order`.

    `series` names the groups where one source has several, on a phone by `narrow`. A heading is a row of its own, so that it stays there.
    """

    label: str | Callable[[pd.DataFrame], str]
    series: Mapping[str, str] = field(default_factory=dict)
    narrow: Mapping[str, str] = field(default_factory=dict)
    order: Callable[[str], Any] | None = None
    form: str = "{:.3g}"
    log: bool = False

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows."""
        place, y = cell(table)
        (by,) = (name for name in place if name != "series")
        known = list(self.series) or list(dict.fromkeys(table["series"]))
        labels: list[str] = []
        headings: list[int] = []
        for source in (OURS, PUBLISHED):
            for style, series in zip(STYLES, known, strict=False):
                mine = table[(table["source"] == source) & (table["series"] == series)]
                if mine.empty:
                    continue
                headings.append(len(labels))
                name = (self.narrow if is_narrow(ax) else {}).get(series, self.series.get(series, ""))
                labels.append(f"{source}, {name}" if name else source)
                for key, value in self._ranked(values(mine, by, y=y)):
                    repeats = mine.loc[mine[by] == key, y]
                    if source == OURS:
                        ax.plot(
                            repeats,
                            [len(labels)] * len(repeats),
                            style.marker,
                            color=style.colour,
                            alpha=0.35,
                            markersize=5,
                        )
                        ax.plot([value], [len(labels)], style.marker, color=style.colour, markersize=8)
                    else:
                        ax.plot(
                            [value], [len(labels)], style.marker, color=INK, markersize=7, fillstyle="none"
                        )
                    end = (max(value, repeats.max()), len(labels))
                    note(ax, self.form.format(value), end, (9, 0), ha="left", va="center")
                    labels.append(key.replace("_", " "))
        ax.set_yticks(range(len(labels)), labels, fontsize=9)
        for heading in headings:
            ax.get_yticklabels()[heading].set_fontweight("bold")
            ax.yaxis.get_major_ticks()[heading].tick1line.set_visible(False)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        if self.log:
            ax.set_xscale("log")
            ax.set_xlim(table[y].min() / 1.5, table[y].max() * 1.3)
            plain_log_ticks(ax.xaxis, at=(1.0, 3.0))
        else:
            ax.set_xlim(0, table[y].max() * 1.08)
            if is_narrow(ax):
                ax.locator_params(axis="x", nbins=4)
        ax.grid(axis="x", alpha=0.25)
        label_axes(ax, x=self.label(table) if callable(self.label) else self.label, x_log=self.log)

    def _ranked(self, of: pd.Series[float]) -> list[tuple[str, float]]:
        cells = [(str(key), float(value)) for key, value in of.items()]
        if self.order is None:
            return sorted(cells, key=lambda item: -item[1])
        order = self.order
        return sorted(cells, key=lambda item: order(item[0]))


@dataclass(frozen=True)
class Bar:
    """One bar: its name, colour and hatch, for colour is never the only difference."""

    name: str
    colour: str = BLUE
    hatch: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """A bar per row of `bars`, its percent under its name; a dot is a repeat, a hollow diamond the published share."""

    bars: Mapping[str, Bar]
    label: str

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows."""
        place, y = cell(table)
        (by,) = (name for name in place if name != "series")
        of, published = (table[table["source"] == source].groupby(by)[y] for source in (OURS, PUBLISHED))
        value = values(table[table["source"] == OURS], by, y=y)
        for row, (key, bar) in enumerate(self.bars.items()):
            ax.barh(
                row, value[key], height=0.6, color=bar.colour, hatch=bar.hatch, edgecolor="white", alpha=0.6
            )
            repeats = of.get_group(key)
            if len(repeats) > 1:
                ax.plot(repeats, [row] * len(repeats), "o", color=bar.colour, markersize=4)
            if key in published.groups:
                theirs = published.get_group(key)
                ax.plot(theirs, [row] * len(theirs), "D", color=INK, fillstyle="none", markersize=8)
        names = [f"{bar.name}\n{value[key]:.0f} %" for key, bar in self.bars.items()]
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set_xlim(0, 105)
        label_axes(ax, x=f"{self.label}, percent" + (" (diamond: published)" if published.groups else ""))

    def said(self, of: pd.Series[float], form: str = "{:.0f} %") -> str:
        """Each bar and its value."""
        return each({bar.name: of[key] for key, bar in self.bars.items()}, form)
