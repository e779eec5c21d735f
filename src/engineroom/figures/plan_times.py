"""What figures 7-22 and 7-23 share: one row a server and plan, a dot a repeat, the published time beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, GREEN, INK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["best", "picture", "rows"]

PLANS = {
    "index_nested_loop": ("district first, order lines by index", "o", VERMILION),
    "reversed_order_without_hash": ("order lines first, no hash join", "s", BLUE),
    "hash_join": ("order lines first, hash join", "D", GREEN),
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
    """Best of our repeats by server and series."""
    ours = table[table["source"] == "ours"]
    return ours.groupby(["server", "series"])["server_cpu_s"].min()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a server and plan; faint dots are repeats, the filled one the best, hollow ones the published seconds."""
    ours, theirs = (table[table["source"] == source] for source in ("ours", "published"))
    narrow = ax.get_figure(root=True).get_figwidth() < 5  # type: ignore[union-attr]
    places: list[tuple[str, str]] = [
        (server, series)
        for series in PLANS
        for server in sorted(set(ours.loc[ours["series"] == series, "server"]))
    ]
    labels = []
    for y, (server, series) in enumerate(places):
        text, marker, colour = PLANS[series]
        mine = ours[(ours["server"] == server) & (ours["series"] == series)]["server_cpu_s"]
        ax.plot(mine, [y] * len(mine), marker, color=colour, alpha=0.35, markersize=5)
        ax.plot([mine.min()], [y], marker, color=colour, markersize=8)
        ax.annotate(
            f"{mine.min():.2f} s",
            (mine.min(), y),
            (0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
        name = "kernel" if server == "kernel" else f"MySQL {server}"
        labels.append(f"{name}\n{text}" if not narrow else f"{server}\n{_short(series)}")
    for server, series, seconds in theirs[["server", "series", "server_cpu_s"]].itertuples(index=False):
        near = [y for y, (_, s) in enumerate(places) if s == series]
        if near:
            middle = sum(near) / len(near)
            ax.plot([seconds], [middle], PLANS[series][1], color=INK, markersize=8, fillstyle="none")
            ax.annotate(
                f"published, {server}: {seconds} s",
                (seconds, middle),
                (0, -14),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
    ax.set_yticks(range(len(labels)), labels, fontsize=9)
    ax.invert_yaxis()
    ax.margins(x=0.15, y=0.12)
    ax.set_xscale("log")
    _plain_ticks(ax)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(
        "seconds, log scale (ours: CPU time; published: client's clock)"
        if not narrow
        else "CPU seconds, log scale"
    )


def _short(series: str) -> str:
    return {
        "index_nested_loop": "index loop",
        "reversed_order_without_hash": "reversed",
        "hash_join": "hash join",
    }[series]


def _plain_ticks(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
