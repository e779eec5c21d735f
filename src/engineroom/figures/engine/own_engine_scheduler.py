"""Our own figure: throughput of the engines of figure 7-1 where the system counts virtual run time, over that where it does not."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, as_found, rows_by, rows_over

# Of the second, a thread that wakes displaces nobody.
WAYS = {
    "virtual run time": "virtual run time",
    "nobody displaced": "nobody displaced",
}
WHAT = "throughput over that with first come, first served"
_tps = rows_by("concurrency", "scheduler", y="tps", keep=())
_over = rows_over("throughput_over_first_come", "scheduler == 'first come'", "series", "concurrency", of=_tps)
picture = Dots(rows=as_found("engine"), by="engine", series=WAYS, label=WHAT, log=True, line_at=1.0)


def rows(run: Run) -> Rows:
    """Each over first come, first served, in the same engine with as many clients; the ways of sharing are the series here."""
    over = _over(run)
    over = over[over["scheduler"] != "first come"]
    names = [f"{log}, {clients:,}" for log, clients in zip(over["series"], over["concurrency"], strict=True)]
    ways = over.pop("scheduler")
    return over.drop(columns=["series", "concurrency"]).assign(series=ways, engine=names)


def words(table: Rows) -> Words:
    """Each engine and crowd; the farthest from 1, and what is left of it when nobody is displaced."""
    of = picture.values(table)
    counted = of["virtual run time"]
    farthest = str(counted.idxmin())
    return Words(
        alt=f"Dots of throughput where the system counts virtual run time, first come, first served being 1, by log and clients. {picture.said(table)}.",
        caption=f"Virtual run time leaves least of the throughput at “{farthest}”, the log and the clients: {counted[farthest]:.2g}. If who wakes displaces "
        f"nobody, {of['nobody displaced', farthest]:.2f} is left there.",
    )
