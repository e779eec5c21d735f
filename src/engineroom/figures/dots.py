"""Dot plots of this book: a row a thing, a faint dot a repeat, a large one the value that counts, a hollow one published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engineroom.figures.drawing import INK
from engineroom.figures.lines import STYLES, is_narrow, plain_log_ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["dots", "pair_rows"]


def pair_rows(table: pd.DataFrame, y: str) -> str:
    """Each build's best or middle value in words."""
    return ", ".join(
        f"{name} {value:.3g}" for name, value in table.groupby("build", sort=False)[y].median().items()
    )


def dots(
    table: pd.DataFrame,
    ax: Axes,
    *,
    y: str,
    by: str,
    order: Mapping[str, str],
    series: Mapping[str, str] | None = None,
    x_label: str,
    summary: str = "min",
    log: bool = False,
    narrow_names: Sequence[str] = (),
    form: str = "{:.3g}",
) -> None:
    """Rows are the values of `by` in the order of `order` (value to name), on each a marker a series.

    Rows of `source` "published" are hollow. With one series its value is written beside the dot.
    """
    narrow = is_narrow(ax)
    known = series or {str(name): str(name) for name in dict.fromkeys(table["series"])}
    names = dict(zip(order, narrow_names, strict=True)) if narrow and narrow_names else dict(order)
    for style, (each, label) in zip(STYLES, known.items(), strict=False):
        mine = table[table["series"] == each]
        first = True
        for row, key in enumerate(order):
            cell = mine[mine[by] == key]
            for source, values in cell.groupby("source") if "source" in cell else [("ours", cell)]:
                if values.empty:
                    continue
                best = values[y].agg(summary)
                if source == "published":
                    ax.plot([best], [row], style.marker, color=INK, fillstyle="none", markersize=8)
                else:
                    ax.plot(
                        values[y],
                        [row] * len(values),
                        style.marker,
                        color=style.colour,
                        alpha=0.25,
                        markersize=4,
                    )
                    ax.plot(
                        [best],
                        [row],
                        style.marker,
                        color=style.colour,
                        markersize=7,
                        label=label if first else None,
                    )
                    first = False
                if len(known) == 1:
                    said = form.format(best) + (" published" if source == "published" else "")
                    ax.annotate(
                        said,
                        (best, row),
                        (0, 8 if source != "published" else -17),
                        textcoords="offset points",
                        ha="center",
                        fontsize=9,
                    )
    ax.set_yticks(range(len(order)), list(names.values()), fontsize=9)
    ax.set_ylim(len(order) - 0.4, -0.7)
    if log:
        ax.set_xscale("log")
        plain_log_ticks(ax.xaxis, at=(1.0,) if narrow else (1.0, 3.0))
    else:
        ax.set_xlim(left=0)
        ax.margins(x=0.12)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        if narrow:
            ax.locator_params(axis="x", nbins=4)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(x_label)
    if len(known) > 1:
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2 if narrow else len(known), fontsize=9
        )
