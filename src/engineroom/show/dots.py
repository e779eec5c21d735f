"""Dots: a row per thing, on it a mark per series, every repeat faint, the value large, the published value hollow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engineroom.runs.side_by_side import OURS, PUBLISHED, cell
from engineroom.runs.summary import values
from engineroom.show.style import (
    GREY,
    INK,
    STYLES,
    Names,
    Style,
    is_narrow,
    label_axes,
    legend_above,
    names_of,
    note,
    plain_log_ticks,
    plain_ticks,
)
from engineroom.show.wording import each

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Dots"]

# Of the height of the picture: between two series on a row, and between a row and what was measured or published of it.
_STEP, _LIFT = 0.02, 0.03


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Rows are the values of `by`, named and ordered by `rows`; marks are those of `series`, in its order.

    `by` is a column of the place, the only one beside the series where it is not given. With one series, `form` writes its values beside
    the dots. `line_at` draws a line that values are compared with, `limits` fixes the axis, `narrow` has shorter names for a phone. Values
    below `floor` would press all others together: they are written at the axis' end, behind an arrow.
    """

    rows: Names
    label: str
    series: Names = field(default_factory=dict)
    by: str = ""
    narrow: Names = field(default_factory=dict)
    log: bool = False
    limits: tuple[float, float] | None = None
    floor: float | None = None
    line_at: float | Callable[[pd.DataFrame], float] | None = None
    form: str = ""
    where: str = ""

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows."""
        drawn, by, y = self._drawn(table)
        named = names_of(self.rows, self.narrow, drawn, ax)
        rows = {key: name for key, name in named.items() if key in set(drawn[by])}
        at = {key: row for row, key in enumerate(rows)}
        several = self._several(drawn)
        has_published = PUBLISHED in set(drawn["source"])
        # Marks of the same value stand one above another instead of hiding each other.
        step = min(_STEP * len(rows), 0.6 / len(several))
        for i, (style, (series, label)) in enumerate(zip(STYLES, several.items(), strict=False)):
            mine = drawn[(drawn["series"] == series) & drawn[by].isin(list(rows))]
            for source, part in mine.groupby("source"):
                lift = 0.0 if not has_published else _LIFT if source == OURS else -_LIFT
                shift = (i - (len(several) - 1) / 2) * step + lift * min(len(rows), 6)
                places = {key: row + shift for key, row in at.items()}
                is_before = part[y] < (-np.inf if self.floor is None else self.floor)
                _written(part[is_before], ax, by=by, y=y, at=at, label=label)
                _marks(part[~is_before], ax, by=by, y=y, at=places, style=style, label=label)
                if len(several) == 1 and self.form:
                    self._said(values(part, by, y=y), ax, at=places, is_ours=source == OURS)
        if self.line_at is not None:
            at_x = self.line_at(drawn) if callable(self.line_at) else self.line_at
            ax.axvline(at_x, linewidth=0.8, color=GREY)
        self._axes(ax, list(rows.values()))
        if len(several) > 1 or (has_published and not self.form):
            legend_above(ax, more={"o": PUBLISHED} if has_published else None)

    def values(self, table: pd.DataFrame) -> pd.Series[Any]:
        """Our values that are drawn, by series and row: `values(table)["cats", "pareto"]`."""
        drawn, by, y = self._drawn(table)
        return values(drawn[drawn["source"] == OURS], "series", by, y=y)

    def said(self, table: pd.DataFrame, form: str = "{:.2f}") -> str:
        """Our values in words, row by row: "TPC-C: FIFO 1.00, CATS 1.31"."""
        of = self.values(table)
        rows = self.rows(table) if callable(self.rows) else self.rows
        several = self._several(table)
        named = {
            row.replace("\n", " "): {
                label: of[series, key] for series, label in several.items() if (series, key) in of
            }
            for key, row in rows.items()
        }
        return "; ".join(f"{row}: {each(of_row, form)}" for row, of_row in named.items() if of_row)

    def _several(self, table: pd.DataFrame) -> Mapping[str, str]:
        """What the marks are called, in their order."""
        named = self.series(table) if callable(self.series) else self.series
        return named or {str(name): str(name) for name in table["series"].unique()}

    def _drawn(self, table: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
        """The rows, and which columns are that of the rows and the value."""
        drawn = table.query(self.where) if self.where else table
        place, y = cell(drawn)
        return drawn, self.by or next(name for name in place if name != "series"), y

    def _said(self, of: pd.Series[Any], ax: Axes, *, at: Mapping[str, float], is_ours: bool) -> None:
        for key, value in of.items():
            text = self.form.format(value) + ("" if is_ours else f" {PUBLISHED}")
            side = "center" if value > 0.1 * ax.get_xlim()[1] else "left"
            note(ax, text, (value, at[str(key)]), (0, -16 if is_ours else 8), ha=side)

    def _axes(self, ax: Axes, names: list[str]) -> None:
        ax.set_yticks(range(len(names)), names, fontsize=9)
        ax.set_ylim(len(names) - 0.4, -0.6)
        if self.log:
            ax.set_xscale("log")
            plain_log_ticks(ax.xaxis)
            if self.floor is not None:
                # What is written there needs more of a phone's width.
                ax.set_xlim(left=self.floor * (0.6 if is_narrow(ax) else 1))
        else:
            ax.set_xlim(*(self.limits or (0, ax.get_xlim()[1] * 1.08)))
            plain_ticks(ax.xaxis)
            if is_narrow(ax):
                ax.locator_params(axis="x", nbins=4)
        ax.grid(axis="x", alpha=0.25)
        label_axes(ax, x=self.label, x_log=self.log)


def _written(table: pd.DataFrame, ax: Axes, *, by: str, y: str, at: Mapping[str, float], label: str) -> None:
    """The values of one series that lie before the axis begins."""
    if table.empty:
        return
    for key, value in values(table, by, y=y).items():
        text = f"\N{LEFTWARDS ARROW} {label}: {value:.2g}"
        ax.annotate(text, (0, at[str(key)]), (4, -4), ax.get_yaxis_transform(), "offset points", fontsize=9)


def _marks(
    table: pd.DataFrame, ax: Axes, *, by: str, y: str, at: Mapping[str, float], style: Style, label: str
) -> None:
    """The repeats of one series and source, and the value of each row."""
    if table.empty:
        return
    is_ours = table["source"].iloc[0] == OURS
    value = values(table, by, y=y)
    places = [at[str(key)] for key in value.index]
    if is_ours:
        ax.plot(
            table[y],
            [at[str(key)] for key in table[by]],
            style.marker,
            color=style.colour,
            alpha=0.3,
            markersize=4,
        )
        ax.plot(value, places, style.marker, color=style.colour, markersize=7, label=label)
    else:
        ax.plot(value, places, style.marker, color=INK, fillstyle="none", markersize=8)
