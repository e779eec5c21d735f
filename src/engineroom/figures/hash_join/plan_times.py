"""What figures 7-22 and 7-23 share: one row a server and plan, a dot a repeat, the published time beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, GREEN, INK, PURPLE, VERMILION
from engineroom.figures.lines import is_narrow, plain_log_ticks
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["best", "picture", "rows"]

PLANS = {
    "index_nested_loop": ("index nested loop", "o", VERMILION),
    "reversed_order_without_hash": ("reversed, no hash join", "s", BLUE),
    "hash_join": ("reversed, hash join", "D", GREEN),
    "hash_join_on_district": ("districts hashed", "^", PURPLE),
}

SHORT = {
    "index_nested_loop": "index",
    "reversed_order_without_hash": "reversed",
    "hash_join": "hash",
    "hash_join_on_district": "hash, other side",
}


def rows(run: Run) -> pd.DataFrame:
    """Our repeats, then the published seconds as series rows of `source` "published"."""
    ours = run.table[["server", "series", "repeat", "server_cpu_s"]].assign(source="ours", method=run.method)
    theirs = (
        published.rows(run.figure)
        .rename(columns={"seconds": "server_cpu_s"})
        .assign(repeat=0, source="published")
    )
    return pd.concat([ours, theirs.assign(method="")], ignore_index=True)


def best(table: pd.DataFrame) -> pd.Series[float]:
    """Best of our repeats by server, the oldest first, and series."""
    ours = table[table["source"] == "ours"]
    servers = sorted(set(ours["server"]), key=release)
    return ours.groupby(["server", "series"])["server_cpu_s"].min().reindex(servers, level="server")


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a server and plan: faint dots are repeats, the large one the best, a hollow one the published seconds."""
    narrow = is_narrow(ax)
    labels: list[str] = []
    for series, (text, marker, colour) in PLANS.items():
        groups = table[table["series"] == series].groupby(["server", "source"])["server_cpu_s"]
        for (server, source), mine in sorted(
            groups, key=lambda group: (release(str(group[0][0])), group[0][1])
        ):
            y, best_s = len(labels), mine.min()
            if source == "ours":
                ax.plot(mine, [y] * len(mine), marker, color=colour, alpha=0.35, markersize=5)
                ax.plot([best_s], [y], marker, color=colour, markersize=8)
            else:
                ax.plot([best_s], [y], marker, color=INK, markersize=8, fillstyle="none")
            ax.annotate(
                f"{best_s:.2f} s", (best_s, y), (9, 0), textcoords="offset points", va="center", fontsize=9
            )
            whose = server if source == "ours" else f"{server} published"
            labels.append(f"{text if not narrow else SHORT[series]}, {whose}")
    ax.set_yticks(range(len(labels)), labels, fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    low, high = table["server_cpu_s"].min(), table["server_cpu_s"].max()
    ax.set_xlim(low / 1.5, high * (5 if narrow else 2.2))
    plain_log_ticks(ax.xaxis, at=(1.0, 3.0))
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(
        "CPU s, log scale" if narrow else "seconds, log scale (ours: CPU time; published: the client's clock)"
    )
