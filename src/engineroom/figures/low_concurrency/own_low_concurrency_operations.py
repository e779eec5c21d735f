"""Our own figure: CPU time of ten operations of one client in four generations, each over the oldest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.dots import dots
from engineroom.figures.drawing import Words
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

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


def rows(run: Run) -> pd.DataFrame:
    """CPU time over the best of the oldest server, for each repeat."""
    table = run.table.copy()
    oldest = min(set(table["series"]), key=release)
    base = table[table["series"] == oldest].groupby("operation")["server_cpu_us"].min()
    return table.assign(times_oldest=table["server_cpu_us"] / table["operation"].map(base))


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """Best of the repeats over the oldest server's, by operation and server."""
    best = table.groupby(["operation", "series"], sort=False)["times_oldest"].min().unstack()
    servers = sorted(set(table["series"]), key=release)
    return best[servers]


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row an operation, a marker a server."""
    order = {str(name): str(name) for name in dict.fromkeys(table["operation"])}
    servers = sorted(set(table["series"]), key=release)
    dots(
        table,
        ax,
        y="times_oldest",
        by="operation",
        order=order,
        series={server: server for server in servers},
        x_label=f"CPU time over that of {servers[0]}, log scale",
        log=True,
        narrow_names=[SHORT[name] for name in order],
    )
    ax.axvline(1, linewidth=0.8, color="#777777")


def words(table: pd.DataFrame) -> Words:
    """How many operations got dearer, and the two ends."""
    best = relative(table)
    newest = best[best.columns[-1]]
    dearer = int((newest > 1).sum())
    said = "; ".join(
        f"{name}: " + ", ".join(f"{server} {value:.2f}" for server, value in line.items())
        for name, line in best.iterrows()
    )
    return Words(
        alt=f"Dot plot of server CPU time by operation over that of {best.columns[0]}. {said}.",
        caption=(
            f"On {best.columns[-1]} {dearer} of {len(best)} operations of one client cost more CPU time than on {best.columns[0]}; the middle one costs "
            f"{newest.median():.2f} times as much, '{newest.idxmax()}' {newest.max():.2f} times and '{newest.idxmin()}' {newest.min():.2f} times."
        ),
    )
