"""What the redo log's line charts share: our repeats and lines, the published line beside them, hollow and dotted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import INK
from engineroom.figures.lines import End, is_narrow, label_ends, lines, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["curves", "middle", "with_published"]


def with_published(run: Run, *, x: str, y: str) -> pd.DataFrame:
    """Our repeats, then the published points, told apart by `source`."""
    ours = run.table[[x, "series", "repeat", y]].assign(source="ours", method=run.method)
    theirs = published.rows(run.figure)
    if theirs.empty:
        return ours
    return pd.concat(
        [ours, theirs[[x, "series", y]].assign(repeat=0, source="published", method="")], ignore_index=True
    )


def middle(table: pd.DataFrame, *, x: str, y: str, summary: str = "median") -> dict[str, pd.Series[float]]:
    """One value an x of each of our series."""
    ours = table[table["source"] == "ours"]
    return {str(series): mine.groupby(x)[y].agg(summary) for series, mine in ours.groupby("series")}


def curves(
    table: pd.DataFrame,
    ax: Axes,
    *,
    x: str,
    y: str,
    labels: Mapping[str, str],
    short: Mapping[str, str],
    x_label: str,
    y_label: str,
    summary: str = "median",
) -> None:
    """Both axes logarithmic."""
    narrow = is_narrow(ax)
    shown = short if narrow else labels
    ours, theirs = (table[table["source"] == source] for source in ("ours", "published"))
    ends = lines(ours, ax, x=x, y=y, labels=shown, summary=summary)
    for (series, marker), mine in zip(
        ((s, m) for s, m in zip(labels, "osDv^", strict=False) if s in set(theirs["series"])),
        (theirs[theirs["series"] == s].sort_values(x) for s in labels if s in set(theirs["series"])),
        strict=True,
    ):
        ax.plot(mine[x], mine[y], ":", marker=marker, color=INK, fillstyle="none", markersize=6, linewidth=1)
        text = f"{shown[series].split(',')[0]}, published"
        ends.append(End(float(mine[x].iloc[-1]), float(mine[y].iloc[-1]), text, INK))
    ax.set_xscale("log")
    ax.set_yscale("log")
    at = sorted(set(table[x]))
    ax.set_xlim(at[0] / 1.2, at[-1] * ((at[-1] / at[0]) ** (0.9 if narrow else 0.45)))
    ticks = at[::2] if narrow and len(at) > 4 else at
    ax.set_xticks(ticks, [f"{value:g}" for value in ticks])
    ax.minorticks_off()
    # The powers of ten alone may be a single tick.
    low, high = ax.get_ylim()
    plain_log_ticks(ax.yaxis, at=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,))
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    label_ends(ax, ends)
