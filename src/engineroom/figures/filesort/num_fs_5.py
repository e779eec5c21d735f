"""Which versions read the long value of every row: off-page values read per scanned row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, INK, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

ORDER = ("5.6", "5.7", "8.0", "8.4", "9.0", "after_8.0")


def rows(run: Run) -> pd.DataFrame:
    """Ours with the exact version, then what the source says: 1 affected, 0 not."""
    ours = run.table[["version", "series", "repeat", "external_reads_per_row", "server"]].assign(
        source="ours"
    )
    theirs = published.rows("num-fs-5")
    theirs = theirs.rename(columns={theirs.columns[-1]: "external_reads_per_row"}).assign(
        series="external_reads_per_row", repeat=0, server="", source="published"
    )
    return pd.concat([ours, theirs[ours.columns]], ignore_index=True)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A line a version: ours filled, the source's statement hollow."""
    of = table[table["source"] == "ours"].set_index("version")["server"]
    shown = [version for version in ORDER if version in set(table["version"])]
    for source, lift in (("ours", 0.1), ("published", -0.1)):
        mine = table[table["source"] == source]
        ax.plot(
            mine["external_reads_per_row"],
            [shown.index(version) + lift for version in mine["version"]],
            "o" if source == "ours" else "D",
            color=BLUE if source == "ours" else INK,
            fillstyle="full" if source == "ours" else "none",
            markersize=8,
            label="ours" if source == "ours" else "the source's statement",
        )
    names = {"after_8.0": "later"}
    ax.set_yticks(
        range(len(shown)),
        [names.get(v, v) + (f"\n({of[v]})" if v in of.index else "") for v in shown],
    )
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(-0.05, 1.1)
    ax.set_xlabel("long values read per scanned row")
    ax.grid(axis="x", alpha=0.25)
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, fontsize=9)


def words(table: pd.DataFrame) -> Words:
    """Name the exact servers."""
    ours = table[table["source"] == "ours"]
    said = ", ".join(
        f"{value:.2g} on {server}"
        for server, value in zip(ours["server"], ours["external_reads_per_row"], strict=True)
    )
    hit = [
        server
        for server, value in zip(ours["server"], ours["external_reads_per_row"], strict=True)
        if value > 0.5
    ]
    return Words(
        alt=f"Dots of long values read per scanned row: {said}. The source: 0 for 5.6 and 5.7, 1 for 8.0, 8.4 and 9.0.",
        caption=f"Of our servers {' and '.join(hit) or 'none'} reads the long value of every row: {said}.",
    )
