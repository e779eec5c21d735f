"""Degradation article, figure 4: time of a join, stock over optimized."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.build_pairs import both, picture_of, ratio
from engineroom.figures.drawing import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """Repeats and published bars, each over its own stock build."""
    return both(run, series="join_time", y="seconds")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row a build."""
    picture_of(table, ax, x_label="time over that of the stock build")


def words(table: pd.DataFrame) -> Words:
    """The claim's ratio, ours and published."""
    ours = ratio(table, "stock", "optimized")
    theirs = ratio(table, "stock", "optimized", source="published")
    who = table[(table["source"] == "ours") & (table["server"] != "")]
    servers = dict(zip(who["build"], who["server"], strict=True))
    named = (
        f" ({servers['stock']} against {servers['optimized']})"
        if servers
        else " (the isolated causes alone, in kernels)"
    )
    return Words(
        alt=f"Dot plot of the time of a join, stock over optimized. Ours{named}: {ours:.3f}. Published: {theirs:.3f}.",
        caption=f"The time of a join, stock over optimized: {ours:.2f}{named}; the source measured {theirs:.2f}.",
    )
