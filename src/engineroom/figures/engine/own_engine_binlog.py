"""Our own figure: throughput of a whole engine with each design of the binary log's commit, over that of the engine without one."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, rows_by, rows_over

DESIGNS = {
    "off": "none",
    "5.5": "5.5",
    "5.6": "5.6",
    "5.7.6": "5.7.6",
    "5.7.6, no order": "5.7.6,\nno order",
    "5.7.6, not synced": "5.7.6,\nnot synced",
}
WHAT = "throughput over that without a binary log"
_tps = rows_by("concurrency", y="tps", keep=())
_over = rows_over("throughput_over_off", "series == 'off'", "concurrency", of=_tps)
picture = Dots(rows=DESIGNS, by="design", label=WHAT, log=True, line_at=1.0)


def rows(run: Run) -> Rows:
    """Each over the engine without a binary log and with the same number of clients, which is the series here."""
    named = _over(run).rename(columns={"series": "design"})
    clients = named.pop("concurrency")
    named.insert(0, "series", [f"{n:,} client{'' if n == 1 else 's'}" for n in clients])
    return named


def words(table: Rows) -> Words:
    """Each design, and the three with the most clients."""
    of = picture.values(table)
    most = table["series"].iloc[-1]
    return Words(
        alt=f"Dots of throughput, the engine without a binary log being 1, by the design of the commit. {picture.said(table)}.",
        caption=f"With {most}, the binary log of 5.5 leaves {of[most, '5.5']:.2f} of the throughput, that of 5.6 {of[most, '5.6']:.2f}, "
        f"and that of 5.7.6 {of[most, '5.7.6']:.2f}; if 5.7.6 syncs nothing, {of[most, '5.7.6, not synced']:.2f}.",
    )
