"""Our own figure: CPU time a probe row of each join kernel, as both inputs grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "spilling", "words"]

LABELS = {
    "nested_loop": "nested loop",
    "block_nested_loop": "block nested loop",
    "index_nested_loop": "index nested loop",
    "hybrid_256_kib": "hash join, 256 KiB",
    "hybrid_in_memory": "hash join in memory",
    "fast": "our fast one",
}


def rows(run: Run) -> pd.DataFrame:
    """All repeats as measured."""
    return run.table


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Both axes logarithmic: a flat line is a join whose cost a row does not depend on the size."""
    ends = lines(table, ax, x="rows", y="cpu_ns_per_probe_row", labels=LABELS, summary="min")
    sizes = sorted(set(table["rows"]))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(sizes[0] / 1.3, sizes[-1] * (60 if is_narrow(ax) else 9))
    shown = sizes[::2] if is_narrow(ax) else sizes
    ax.set_xticks(shown, [_rows(n) for n in shown])
    plain_log_ticks(ax.yaxis)
    ax.minorticks_off()
    ax.set_xlabel("rows on each side, log scale")
    ax.set_ylabel("CPU ns a probe row, log scale")
    label_ends(ax, ends)


def spilling(table: pd.DataFrame) -> pd.Series[float]:
    """By rows, how many times the join in memory costs the one that spills, where it does spill."""
    best = table.groupby(["series", "rows"])["cpu_ns_per_probe_row"].min()
    spilled = table[(table["series"] == "hybrid_256_kib") & (table["bytes_written"] > 0)]["rows"].unique()
    costs: pd.Series[float] = best["hybrid_256_kib"] / best["hybrid_in_memory"]
    return costs.loc[sorted(spilled)]


def words(table: pd.DataFrame) -> Words:
    """Name the smallest and the largest size of each kernel."""
    best = table.groupby(["series", "rows"])["cpu_ns_per_probe_row"].min()

    def ends(series: str) -> str:
        line = best[series]
        return f"{LABELS[series]} {line.iloc[0]:.0f} ns at {_rows(line.index[0])}, {line.iloc[-1]:.0f} ns at {_rows(line.index[-1])}"

    present = [series for series in LABELS if series in set(table["series"])]
    most = table["rows"].max()
    memory, fast = (best[series, most] for series in ("hybrid_in_memory", "fast"))
    spill = spilling(table)
    costs = " and ".join(
        f"{spill[n]:.2g} times at {_rows(n)} rows" for n in (spill.index[0], spill.index[-1])
    )
    return Words(
        alt=f"Log-log line chart of CPU time a probe row against rows on each side. {'; '.join(map(ends, present))}.",
        caption=(
            f"A hash join that spills costs {costs} what it costs in memory; our fast kernel takes 1/{memory / fast:.0f} of that at "
            f"{_rows(most)} rows."
        ),
    )


def _rows(n: int) -> str:
    return f"{n // 1_000_000} M" if n >= 1_000_000 else f"{n // 1000}k"
