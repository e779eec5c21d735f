"""Our own figure: throughput of seven policies on five loads, FIFO being 1."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

LOADS = {
    "pareto": "SysBench,\nPareto",
    "special": "SysBench,\nspecial",
    "uniform": "SysBench,\nuniform",
    "tpcc_1": "TPC-C,\n1 warehouse",
    "tpcc_32": "TPC-C,\n32 warehouses",
}
SERIES = {
    "fifo": "FIFO",
    "fcfs_5_7": "FIFO of 5.7",
    "cats": "CATS",
    "vats": "VATS",
    "ldsf": "LDSF",
    "bldsf": "bLDSF",
    "random": "random",
}


def rows(run: Run) -> pd.DataFrame:
    """Each over FIFO's on the same load."""
    table = side_by_side.rows(run, by=("workload", "series"), y="tps", keep=())
    return side_by_side.over(table, "throughput_over_fifo", "series == 'fifo'", "workload")


picture = Dots(rows=LOADS, series=SERIES, label="throughput over FIFO's", line_at=1.0)


def words(table: pd.DataFrame) -> Words:
    """The best and the worst policy on each load, beside how far FIFO's own repeats are apart."""
    of = ours(table)
    said = "; ".join(
        f"{name.replace(chr(10), ' ')}: " + each({SERIES[key]: float(of[key][load]) for key in SERIES})
        for load, name in LOADS.items()
    )
    apart = table[table["series"] == "fifo"].groupby("workload")["throughput_over_fifo"].agg(["min", "max"])
    best = []
    for load, name in LOADS.items():
        others = {key: float(of[key][load]) for key in SERIES if key != "fifo"}
        key = max(others, key=lambda key: others[key])
        best.append(f"{name.replace(chr(10), ' ')} {SERIES[key]}, {others[key]:.2f}")
    return Words(
        alt=f"Dots of throughput, FIFO being 1. {said}.",
        caption=f"The best policy besides FIFO on each load: {'; '.join(best)}. FIFO's own repeats lie between {apart['min'].min():.2f} and "
        f"{apart['max'].max():.2f} times its median.",
    )
