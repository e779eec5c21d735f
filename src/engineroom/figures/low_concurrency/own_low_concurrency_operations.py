"""Our own figure: CPU time of ten operations of one client in four generations, each over the oldest."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.runs import Run
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["picture", "relative", "rows", "words"]

SHORT = {
    "parse values": "parse",
    "insert rows": "insert",
    "point select": "point",
    "range scan": "range",
    "full scan": "scan",
    "join by index": "join, index",
    "join by primary key": "join, PK",
    "join without index": "join, none",
    "update an indexed column": "upd. indexed",
    "update another column": "upd. other",
}


def _servers(table: pd.DataFrame) -> dict[str, str]:
    return {server: server for server in sorted(set(table["series"]), key=release)}


def rows(run: Run) -> pd.DataFrame:
    """CPU time over the oldest server's, for each repeat."""
    table = side_by_side.rows(run, by=("operation", "series"), y="server_cpu_us")
    oldest = next(iter(_servers(table)))
    return side_by_side.over(table, "times_oldest", f"series == '{oldest}'", "operation")


picture = Dots(
    rows=lambda table: {name: name for name in dict.fromkeys(table["operation"])},
    narrow=SHORT,
    series=_servers,
    label="CPU time over that of the oldest",
    log=True,
    line_at=1,
)


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """What counts over the oldest server's, by operation and server."""
    return ours(table).unstack("series").loc[list(dict.fromkeys(table["operation"])), list(_servers(table))]


def words(table: pd.DataFrame) -> Words:
    """How many operations got dearer, and the two ends."""
    of = relative(table)
    oldest, newest = of.columns[[0, -1]]
    times = of[newest]
    said = "; ".join(f"{name}: {each(line)}" for name, line in of.iterrows())
    return Words(
        alt=f"Dot plot of server CPU time by operation over that of {oldest}. {said}.",
        caption=f"On {newest} {(times > 1).sum()} of {len(of)} operations of one client cost more CPU time than on {oldest}; the middle one "
        f"costs {times.median():.2f} times as much, '{times.idxmax()}' {times.max():.2f} times and '{times.idxmin()}' "
        f"{times.min():.2f} times.",
    )
