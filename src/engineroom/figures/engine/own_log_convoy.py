"""Our own figure: throughput over the redo log of 5.7 with new latches before it, if what happens at its mutex were otherwise."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

WAYS = {
    "as in 5.7": "as in 5.7",
    "waking costs 1.5 times": "waking costs\n1.5 times",
    "waking costs half": "waking costs\nhalf",
    "waking is free": "waking is free",
    "spins four times as long": "spins four\ntimes as long",
}


def rows(run: Run) -> pd.DataFrame:
    """Throughput; the numbers of clients are the series here."""
    table = side_by_side.rows(run, by=("concurrency", "series"), y="tps", keep=())
    named = table.rename(columns={"series": "way"})
    named.insert(0, "series", [f"{clients:,} clients" for clients in named["concurrency"]])
    return named.drop(columns="concurrency")


picture = Dots(rows=WAYS, by="way", label="transactions per second", log=True)


def words(table: pd.DataFrame) -> Words:
    """Each way with each number of clients."""
    of = ours(table)
    clients = list(dict.fromkeys(table["series"]))
    said = "; ".join(
        f"{name.replace(chr(10), ' ')}: " + each({n: float(of[n][key]) for n in clients})
        for key, name in WAYS.items()
    )
    most = clients[-1]
    return Words(
        alt=f"Dots of transactions per second by what is otherwise at the mutex of the log of 5.7. {said}.",
        caption=f"With {most} there are {float(of[most]['as in 5.7']):,.0f} transactions per second as in 5.7, "
        f"{float(of[most]['spins four times as long']):,.0f} if threads spin four times as long before they sleep, and "
        f"{float(of[most]['waking is free']):,.0f} if waking them costs nothing.",
    )
