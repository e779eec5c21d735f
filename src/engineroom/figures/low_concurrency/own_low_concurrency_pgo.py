"""Our own figure: what a profile-guided build gains on the workload of its profile, and on another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.dots import dots
from engineroom.figures.drawing import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["gains", "picture", "rows", "words"]

# The variants of 8.0 and 9.7: what a stock server has.
STOCK = {
    ("insert_values", "deque_9_7"): "value lists",
    ("record_offsets", "v80"): "record offsets",
    ("field_store", "inline_stream"): "fatal path",
    ("mtr_commit", "mtr_8_0"): "mini-transaction",
}


def rows(run: Run) -> pd.DataFrame:
    """Time of the trained builds over the plain build's best, for each repeat."""
    table = run.table.copy()
    keys = list(zip(table["kernel"], table["variant"], strict=True))
    table["what"] = [STOCK.get(key, "") for key in keys]
    table = table[table["what"] != ""]
    plain = table[table["series"] == "plain"].groupby(["workload", "what"])["cpu_ns"].min()
    table["times_plain"] = [
        value / plain[workload, what]
        for value, workload, what in zip(table["cpu_ns"], table["workload"], table["what"], strict=True)
    ]
    table["trained"] = [
        "plain" if build == "plain" else "same" if build.endswith(workload) else "other"
        for build, workload in zip(table["series"], table["workload"], strict=True)
    ]
    table["cell"] = table["what"] + ", " + table["workload"]
    return table.rename(columns={"series": "build"}).rename(columns={"trained": "series"})


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """Best time over the plain build's, by what was measured and where the profile came from."""
    return table.groupby(["cell", "series"], sort=False)["times_plain"].min().unstack()[["same", "other"]]


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row a kernel and workload."""
    cells = [f"{what}, {workload}" for what in STOCK.values() for workload in ("narrow", "wide")]
    dots(
        table[table["series"] != "plain"],
        ax,
        y="times_plain",
        by="cell",
        order={cell: cell for cell in cells},
        series={"same": "trained on it", "other": "on the other"},
        x_label="CPU time over that of the plain build",
        narrow_names=[
            cell.replace("value ", "").replace("record ", "").replace("mini-transaction", "mtr")
            for cell in cells
        ],
    )
    ax.axvline(1, linewidth=0.8, color="#777777")


def words(table: pd.DataFrame) -> Words:
    """The middle gain of both, and how often the foreign profile loses."""
    found = gains(table)
    said = "; ".join(f"{cell}: {row['same']:.2f} and {row['other']:.2f}" for cell, row in found.iterrows())
    loses = int((found["other"] > 1).sum())
    return Words(
        alt=f"Dot plot of CPU time over the plain build's, trained on the same workload and on the other. {said}.",
        caption=(
            f"Trained on the workload that is measured, the middle kernel takes {found['same'].median():.2f} of the plain build's time; trained on the "
            f"other, {found['other'].median():.2f}, and {loses} of {len(found)} cells get slower than plain."
        ),
    )
