"""Our own figure: throughput with each combination of old and new parts, over that of the engine whose parts are all old."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

# Which parts are new.
PARTS = {
    "none": "none",
    "trx": "transactions",
    "locks": "locks",
    "locks and trx": "locks,\ntransactions",
    "redo": "redo log",
    "redo and trx": "redo log,\ntransactions",
    "redo and locks": "redo log,\nlocks",
    "redo and locks and trx": "all three",
}


def rows(run: Run) -> pd.DataFrame:
    """Each over the engine of old parts with the same number of clients, which is the series here."""
    table = side_by_side.rows(run, by=("concurrency", "series"), y="tps", keep=())
    over = side_by_side.over(table, "throughput_over_old", "series == 'none'", "concurrency")
    named = over.rename(columns={"series": "new_parts"})
    named.insert(0, "series", [f"{clients:,} clients" for clients in named["concurrency"]])
    return named.drop(columns="concurrency")


picture = Dots(rows=PARTS, by="new_parts", label="throughput over that with old parts", log=True, line_at=1.0)


def words(table: pd.DataFrame) -> Words:
    """Each combination; with the most clients the redo log alone and all three; and the lowest of those over an old redo log."""
    of = ours(table)
    clients = list(dict.fromkeys(table["series"]))
    said = "; ".join(
        f"{name.replace(chr(10), ' ')}: " + each({n: float(of[n][key]) for n in clients})
        for key, name in PARTS.items()
    )
    lowest = {n: min(float(of[n][key]) for key in PARTS if "redo" not in key) for n in clients}
    where = min(lowest, key=lowest.__getitem__)
    most = of[clients[-1]]
    return Words(
        alt=f"Dots of throughput, the engine of old parts being 1, by which parts are new. {said}.",
        caption=f"With {clients[-1]}, a new redo log alone makes {float(most['redo']):.2f} of the throughput with old parts, all three new parts "
        f"{float(most['redo and locks and trx']):.2f}. The lowest point over an old redo log is {lowest[where]:.2g}, with {where}.",
    )
