"""Our own figure: throughput of seven policies on five loads, FIFO being 1."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, rows_by, rows_over

LOADS = {
    "pareto": "SysBench,\nPareto",
    "special": "SysBench,\nspecial",
    "uniform": "SysBench,\nuniform",
    "tpcc_1": "TPC-C,\n1 warehouse",
    "tpcc_32": "TPC-C,\n32 warehouses",
}
FIFO = {"fifo": "FIFO", "fcfs_5_7": "FIFO of 5.7"}
SERIES = FIFO | {"cats": "CATS", "vats": "VATS", "ldsf": "LDSF", "bldsf": "bLDSF", "random": "random"}
_tps = rows_by("workload", y="tps", keep=())
rows = rows_over("throughput_over_fifo", "series == 'fifo'", "workload", of=_tps)
picture = Dots(rows=LOADS, series=SERIES, label="throughput over FIFO's", line_at=1.0)


def words(table: Rows) -> Words:
    """The best and the worst policy on each load, beside how far FIFO's own repeats are apart."""
    others = picture.values(table).unstack("series").drop(columns="fifo")[list(SERIES)[1:]]
    best = "; ".join(
        f"{name.replace(chr(10), ' ')} {SERIES[str(others.loc[load].idxmax())]}, {others.loc[load].max():.2f}"
        for load, name in LOADS.items()
    )
    fifo = table.loc[table["series"] == "fifo", "throughput_over_fifo"]
    return Words(
        alt=f"Dots of throughput, FIFO being 1. {picture.said(table)}.",
        caption=f"The best policy besides FIFO on each load: {best}. FIFO's own repeats lie between {fifo.min():.2f} and {fifo.max():.2f} "
        "times its median.",
    )
