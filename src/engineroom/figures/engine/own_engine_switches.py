"""Our own figure: throughput with each combination of old and new parts, over that of the engine whose parts are all old."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, rows_by, rows_over

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
WHAT = "throughput over that with old parts"
_tps = rows_by("concurrency", y="tps", keep=())
_over = rows_over("throughput_over_old", "series == 'none'", "concurrency", of=_tps)
picture = Dots(rows=PARTS, by="new_parts", label=WHAT, log=True, line_at=1.0)


def rows(run: Run) -> Rows:
    """Each over the engine of old parts with the same number of clients, which is the series here."""
    named = _over(run).rename(columns={"series": "new_parts"})
    named.insert(0, "series", [f"{clients:,} clients" for clients in named.pop("concurrency")])
    return named


def words(table: Rows) -> Words:
    """Each combination; with the most clients the redo log alone and all three; and the lowest of those over an old redo log."""
    of = picture.values(table)
    most = table["series"].iloc[-1]
    old = of.unstack("series").filter(items=[part for part in PARTS if "redo" not in part], axis=0)
    where = str(old.min().idxmin())
    return Words(
        alt=f"Dots of throughput, the engine of old parts being 1, by which parts are new. {picture.said(table)}.",
        caption=f"With {most}, a new redo log alone makes {of[most, 'redo']:.2f} of the throughput with old parts, all three new parts "
        f"{of[most, 'redo and locks and trx']:.2f}. The lowest point over an old redo log is {old.min().min():.2g}, with {where}.",
    )
