"""Our own figure: CPU time per probe row of each join kernel, as both inputs grow."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.parts import Curves, Rows, Words, ends, ours, rows_by

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


rows = rows_by("rows", y="cpu_ns_per_probe_row")
# A flat line is a join whose cost per row does not depend on the size.
picture = Curves(labels=LABELS, x_label="rows on each side", y_label="CPU ns per probe row", tick=_rows)


def spilling(table: Rows) -> pd.Series[float]:
    """By rows, how many times the join in memory costs the one that spills, where it does spill."""
    spilled = table[(table["series"] == "hybrid_256_kib") & (table["bytes_written"] > 0)]["rows"].unique()
    costs: pd.Series[float] = ours(table)["hybrid_256_kib"] / ours(table)["hybrid_in_memory"]
    return costs.loc[sorted(spilled)]


def words(table: Rows) -> Words:
    """Name the smallest and the largest size of each kernel."""
    of, spill = ours(table), spilling(table).rename(_rows)
    most = table["rows"].max()
    costs = " and ".join(f"{spill[n]:.2g} times at {n} rows" for n in spill.index[[0, -1]])
    return Words(
        alt=picture.alt(table, "{:.0f} ns", told=lambda line, form: ends(line.rename(_rows), form)),
        caption=f"A hash join that spills costs {costs} what it costs in memory; our fast kernel takes "
        f"1/{of['hybrid_in_memory', most] / of['fast', most]:.0f} of that at {_rows(most)} rows.",
    )
