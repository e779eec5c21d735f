"""Our own figure: what a profile-guided build gains on the workload of its profile, and on another."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["gains", "picture", "rows", "words"]

# The variants of 8.0 and 9.7: what a stock server has. The second name is a phone's.
STOCK = {
    ("insert_values", "deque_9_7"): ("value lists", "lists"),
    ("record_offsets", "v80"): ("record offsets", "offsets"),
    ("field_store", "inline_stream"): ("fatal path", "fatal path"),
    ("mtr_commit", "mtr_8_0"): ("mini-transaction", "mtr"),
}
WORKLOADS = ("narrow", "wide")
CELLS = {
    f"{what}, {workload}": f"{short}, {workload}" for what, short in STOCK.values() for workload in WORKLOADS
}


def rows(run: Run) -> pd.DataFrame:
    """Time of the trained builds over the plain build's, for each repeat."""
    table = run.table.rename(columns={"series": "build"})
    stock = [STOCK.get(key, ("", ""))[0] for key in zip(table["kernel"], table["variant"], strict=True)]
    table = table.assign(
        cell=[f"{what}, {workload}" for what, workload in zip(stock, table["workload"], strict=True)],
        series=[
            "plain" if build == "plain" else "same" if build.endswith(workload) else "other"
            for build, workload in zip(table["build"], table["workload"], strict=True)
        ],
    )[[what != "" for what in stock]]
    made = side_by_side.rows(run.with_table(table), by=("cell", "series"), y="cpu_ns")
    return side_by_side.over(made, "times_plain", "series == 'plain'", "cell")


picture = Dots(
    rows={cell: cell for cell in CELLS},
    narrow=CELLS,
    series={"same": "trained on it", "other": "on the other"},
    label="CPU time over that of the plain build",
    line_at=1,
)


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """Time over the plain build's, by what was measured and where the profile came from."""
    return ours(table).unstack("series").loc[list(dict.fromkeys(table["cell"])), ["same", "other"]]


def words(table: pd.DataFrame) -> Words:
    """The middle gain of both, and how often the foreign profile loses."""
    found = gains(table)
    said = "; ".join(f"{cell}: {row['same']:.2f} and {row['other']:.2f}" for cell, row in found.iterrows())
    return Words(
        alt=f"Dot plot of CPU time over the plain build's, trained on the same workload and on the other. {said}.",
        caption=f"Trained on the workload that is measured, the middle kernel takes {found['same'].median():.2f} of the plain build's "
        f"time; trained on the other, {found['other'].median():.2f}, and {(found['other'] > 1).sum()} of {len(found)} cells get slower "
        "than plain.",
    )
