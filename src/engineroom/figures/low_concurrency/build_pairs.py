"""What the degradation article's figures share: two builds, ours and the published, each against its own older or stock one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.dots import dots
from engineroom.figures.drawing import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["LABELS", "both", "picture_of", "ratio", "words_of"]

LABELS = {
    "older": "older",
    "newer": "newer",
    "newer_optimized": "newer, optimized",
    "stock": "stock",
    "optimized": "optimized",
}


def both(run: Run, *, series: str, y: str) -> pd.DataFrame:
    """Our repeats and the published bars, each over its own first build (`relative`): machines differ, ratios may agree."""
    entry = published.entry(run.figure)["columns"]
    x = entry["x"]
    mine = run.table[run.table["series"] == series]
    server = mine["server"] if "server" in mine else pd.Series("", index=mine.index)
    ours = mine[[x, "series", "repeat", y]].assign(
        server=server, source="ours", method=run.method, summary=run.summary
    )
    theirs = published.rows(run.figure)
    theirs = theirs[theirs["series"] == series].rename(columns={theirs.columns[2]: y})
    theirs = theirs[[x, "series", y]].assign(
        repeat=0,
        server=theirs.get("version", ""),
        source="published",
        method="",
        summary=run.summary,
    )
    table = pd.concat([ours, theirs], ignore_index=True)
    first = next(name for name in LABELS if name in set(table[x]))
    base = table[table[x] == first].groupby("source")[y].agg(run.summary)
    return table.assign(relative=table[y] / table["source"].map(base))


def ratio(table: pd.DataFrame, over: str, under: str, *, source: str = "ours") -> float:
    """The value of one build over that of another, as the claim takes it."""
    mine = table[table["source"] == source]
    values = mine.groupby("build")["relative"].agg(str(table["summary"].iloc[0]))
    return float(values[over] / values[under])


def picture_of(table: pd.DataFrame, ax: Axes, *, x_label: str) -> None:
    """A row a build; the published value is hollow."""
    known = {name: label for name, label in LABELS.items() if name in set(table["build"])}
    more = {str(name): str(name) for name in dict.fromkeys(table["build"]) if name not in known}
    dots(
        table,
        ax,
        y="relative",
        by="build",
        order={**more, **known},
        x_label=x_label,
        summary=str(table["summary"].iloc[0]),
        form="{:.2f}",
    )
    ax.axvline(1, linewidth=0.8, color="#777777")
    ax.margins(x=0.2)


def words_of(table: pd.DataFrame, *, what: str, over: str, under: str) -> Words:
    """The claim's ratio, ours and published; `what` names the value and the two builds."""
    ours, theirs = (ratio(table, over, under, source=source) for source in ("ours", "published"))
    who = table[(table["source"] == "ours") & (table["server"] != "")]
    servers = dict(zip(who["build"], who["server"], strict=True))
    named = (
        f"{servers[over]} against {servers[under]}" if servers else "the isolated causes alone, in kernels"
    )
    return Words(
        alt=f"Dot plot of the {what}. Ours ({named}): {ours:.3f}. Published: {theirs:.3f}.",
        caption=f"The {what}: {ours:.2f} ({named}); the source measured {theirs:.2f}.",
    )
