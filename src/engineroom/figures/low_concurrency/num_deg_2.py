"""The degradation article's statement on joins: the hot function's calls a second, and what the optimized build gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.dots import dots
from engineroom.figures.drawing import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LEAST = 5_000_000


def rows(run: Run) -> pd.DataFrame:
    """Calls a second of the stock build, ours and as published."""
    mine = run.table[run.table["series"] == "hot_calls_per_second"]
    server = mine.get("server", "kernel")
    ours = mine[["build", "series", "repeat", "value"]].assign(
        server=server, source="ours", method=run.method
    )
    theirs = published.rows("num-deg-2")
    theirs = theirs[theirs["series"] == "hot_calls_per_second"][["build", "series", "value"]]
    table = pd.concat([ours, theirs.assign(repeat=0, server="published", source="published", method="")])
    return table.assign(million_calls=table["value"] / 1e6).reset_index(drop=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Two rows."""
    order = {str(name): str(name) for name in dict.fromkeys(table["server"])}
    dots(
        table,
        ax,
        y="million_calls",
        by="server",
        order=order,
        x_label="million calls a CPU second",
        summary="median",
        form="{:.1f}",
    )
    ax.axvline(LEAST / 1e6, linewidth=0.8, color="#777777", linestyle="--")
    ax.margins(x=0.2)


def words(table: pd.DataFrame) -> Words:
    """The rate, and whether it passes the claim's five million."""
    ours = table[table["source"] == "ours"]
    rate = ours["value"].median()
    name = ours["server"].iloc[0]
    return Words(
        alt=f"Dot plot of million calls a second of the conversion of a field. {name}: {rate / 1e6:.1f}. Published: tens of millions. Dashed: the claim's 5.",
        caption=(
            f"During a join by index {name} converts {rate / 1e6:.1f} million fields a CPU second, "
            f"{'more' if rate > LEAST else 'fewer'} than the five million that the statement needs."
        ),
    )
