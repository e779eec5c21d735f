"""Our own figure: throughput of a whole engine by the size of its buffer pool, over that with a pool that holds all pages."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, rows_by, rows_over

POOLS = {
    "none": "no pool,\nall there",
    "all": "all",
    "half": "half",
    "quarter": "quarter",
    "tenth": "tenth",
    "tenth, one mutex": "tenth,\none mutex",
    "tenth, disk in no time": "tenth, disk\nin no time",
}
WHAT = "throughput over that with all pages in the pool"
_tps = rows_by("concurrency", y="tps", keep=())
_over = rows_over("throughput_over_all", "series == 'all'", "concurrency", of=_tps)
picture = Dots(rows=POOLS, by="pool", label=WHAT, log=True, line_at=1.0)


def rows(run: Run) -> Rows:
    """Each over the pool of all pages with the same number of clients, which is the series here."""
    named = _over(run).rename(columns={"series": "pool"})
    clients = named.pop("concurrency")
    named.insert(0, "series", [f"{n:,} client{'' if n == 1 else 's'}" for n in clients])
    return named


def words(table: Rows) -> Words:
    """Each size, and the smallest with the most clients and with one."""
    of = picture.values(table)
    few, most = table["series"].iloc[0], table["series"].iloc[-1]
    return Words(
        alt=f"Dots of throughput, a pool of all pages being 1, by the share of the pages that the pool holds. {picture.said(table)}.",
        caption=f"With {most}, a pool of half the pages leaves {of[most, 'half']:.2f} of the throughput and one of a tenth {of[most, 'tenth']:.2f}; "
        f"with {few} the latter leaves {of[few, 'tenth']:.2f}. With a disk that takes no time it would leave {of[most, 'tenth, disk in no time']:.2f}.",
    )
