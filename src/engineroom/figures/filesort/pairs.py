"""What the filesort article's figures share: like 5.6 beside like 8.0, every repeat a dot, the published value hollow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, INK, VERMILION
from engineroom.figures.lines import is_narrow, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["dots", "summarised", "with_published"]

MARKS = {
    "like_5_6": ("o", VERMILION, "like 5.6"),
    "like_8_0": ("s", BLUE, "like 8.0"),
    "rows_scanned": ("|", INK, "rows scanned"),
}


def with_published(run: Run, *, x: str, y: str) -> pd.DataFrame:
    """Our repeats, then the published values, told apart by `source`; `summary` says how repeats become one value."""
    ours = run.table[[x, "series", "repeat", y]].assign(source="ours", method=run.method, summary=run.summary)
    theirs = published.rows(run.figure)
    # The source's own word for y is kept in its file.
    theirs = theirs.rename(columns={theirs.columns[-1]: y}).assign(
        repeat=0, source="published", method="", summary="median"
    )
    return pd.concat([ours, theirs], ignore_index=True)


def summarised(table: pd.DataFrame, *, x: str, y: str) -> Mapping[tuple[str, str, str], float]:
    """One value for each source, x and series."""
    return {
        (str(source), str(at), str(series)): float(
            mine[y].min() if set(mine["summary"]) == {"min"} else mine[y].median()
        )
        for (source, at, series), mine in table.groupby(["source", x, "series"])
    }


def dots(
    table: pd.DataFrame, ax: Axes, *, x: str, y: str, labels: Mapping[str, str], y_label: str, log: bool
) -> None:
    """A line a value of x, a mark a series; published values are hollow, above ours."""
    values = summarised(table, x=x, y=y)
    shown = [at for at in labels if at in set(table[x])]
    for series, (marker, colour, name) in MARKS.items():
        if series not in set(table["series"]):
            continue
        for source, lift in (("ours", 0.12), ("published", -0.12)):
            mine = table[(table["series"] == series) & (table["source"] == source)]
            if mine.empty:
                continue
            places = [shown.index(str(at)) + lift for at in mine[x]]
            hollow = source == "published"
            if not hollow:
                ax.plot(mine[y], places, marker, color=colour, alpha=0.3, markersize=4, linestyle="")
            at = [(values[source, at, series], shown.index(at) + lift) for at in dict.fromkeys(mine[x])]
            ax.plot(
                [value for value, _ in at],
                [place for _, place in at],
                marker,
                color=colour,
                fillstyle="none" if hollow else "full",
                markersize=9 if hollow else 7,
                linestyle="",
                label=f"{name}{', published' if hollow else ''}",
            )
    ax.set_yticks(range(len(shown)), [labels[at] for at in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    if log:
        ax.set_xscale("log")
        plain_log_ticks(ax.xaxis)
    else:
        ax.set_xlim(0, 100)
    ax.set_xlabel(y_label)
    ax.grid(axis="x", alpha=0.25)
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=1 if is_narrow(ax) else 2, fontsize=9)
