"""The read-view article's cost and gain: throughput by load, in the design of 5.6, of 5.7, and of 5.7 remedied."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

LOADS = {
    "read_only": "reads only",
    "mixed": "one write\nin five",
    "read_write": "read and write\nin one transaction",
}
SERIES = {"before_5_7": "5.6", "kept": "5.7", "removed_at_once": "5.7, remedied"}


def rows(run: Run) -> pd.DataFrame:
    """Ours and the published ones, each over 5.7's at the same load: the published numbers have no unit of their own."""
    return side_by_side.over(side_by_side.rows(run), "throughput_over_5_7", "series == 'kept'", "load")


picture = Dots(
    rows=LOADS,
    series=SERIES,
    label="throughput over 5.7's",
    limits=(0, 1.8),
    line_at=1.0,
    narrow={"read_write": "read and\nwrite"},
)


def words(table: pd.DataFrame) -> Words:
    """What the remedy costs and brings."""
    of = ours(table)
    fixed, old = of["removed_at_once"], of["before_5_7"]
    published = theirs(table)["removed_at_once"]["read_only"]
    return Words(
        alt="Dots of throughput, 5.7 being 1. "
        + "; ".join(
            f"{name.replace(chr(10), ' ')}: 5.6 {old[load]:.2f}, 5.7 remedied {fixed[load]:.2f}"
            for load, name in LOADS.items()
        )
        + ".",
        caption=f"Where nobody writes, removing views at once leaves {100 * fixed['read_only']:.0f} % of the throughput (published: at least "
        f"{100 * published:.0f} %). With one write in five it leaves {100 * fixed['mixed']:.0f} %, in transactions that read and write {100 * fixed['read_write']:.0f} %.",
    )
