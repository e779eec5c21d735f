"""Our own figure: CPU time per probe row of each join kernel, as both inputs grow."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "spilling", "words"]

LABELS = {
    "nested_loop": "nested loop",
    "block_nested_loop": "block nested loop",
    "index_nested_loop": "index nested loop",
    "hybrid_256_kib": "hash join, 256 KiB",
    "hybrid_in_memory": "hash join in memory",
    "fast": "our fast one",
}


def _rows(n: float) -> str:
    return f"{n / 1e6:g} M" if n >= 1e6 else f"{n / 1000:g}k"


rows = partial(side_by_side.rows, by=("rows", "series"), y="cpu_ns_per_probe_row")
# A flat line is a join whose cost per row does not depend on the size.
picture = Curves(labels=LABELS, x_label="rows on each side", y_label="CPU ns per probe row", tick=_rows)


def spilling(table: pd.DataFrame) -> pd.Series[float]:
    """By rows, how many times the join in memory costs the one that spills, where it does spill."""
    spilled = table[(table["series"] == "hybrid_256_kib") & (table["bytes_written"] > 0)]["rows"].unique()
    costs: pd.Series[float] = ours(table)["hybrid_256_kib"] / ours(table)["hybrid_in_memory"]
    return costs.loc[sorted(spilled)]


def words(table: pd.DataFrame) -> Words:
    """Name the smallest and the largest size of each kernel."""
    of, spill = ours(table), spilling(table)
    most = table["rows"].max()
    said = "; ".join(
        f"{label} " + ", ".join(f"{of[series][n]:.0f} ns at {_rows(n)}" for n in of[series].index[[0, -1]])
        for series, label in LABELS.items()
        if series in of
    )
    costs = " and ".join(f"{spill[n]:.2g} times at {_rows(n)} rows" for n in spill.index[[0, -1]])
    return Words(
        alt=f"Log-log line chart of CPU time per probe row against rows on each side. {said}.",
        caption=f"A hash join that spills costs {costs} what it costs in memory; our fast kernel takes "
        f"1/{of['hybrid_in_memory', most] / of['fast', most]:.0f} of that at {_rows(most)} rows.",
    )
