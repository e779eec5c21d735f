"""Our own figure: pages read as LIMIT grows, by generation, and where the columns are carried by order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """All repeats at the largest table."""
    table: pd.DataFrame = run.table[run.table["rows"] == run.table["rows"].max()].reset_index(drop=True)
    return table


def _series(table: pd.DataFrame) -> list[str]:
    names = sorted(set(table["series"]), key=lambda name: (release(name.split(",")[0]), name))
    # 5.6 and 5.7 provoked lie on 8.0.15 provoked: one of the three is drawn.
    provoked = [name for name in names if "," in name]
    return [name for name in names if name not in provoked[:-1]]


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A line a server and setting."""
    ends = lines(
        table, ax, x="limit", y="pages_read", labels={name: name for name in _series(table)}, summary="min"
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(0.8, table["limit"].max() * (60 if is_narrow(ax) else 12))
    plain_log_ticks(ax.xaxis)
    ax.set_xticks([tick for tick in (1, 10, 100, 1000, 10_000) if tick <= table["limit"].max()])
    plain_log_ticks(ax.yaxis)
    ax.set_xlabel("rows returned, log scale")
    ax.set_ylabel("pages read, log scale")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """The first and the last point of each line."""
    of = table.groupby(["series", "limit"])["pages_read"].min()
    least, most = table["limit"].min(), table["limit"].max()
    names = _series(table)
    said = "; ".join(
        f"{name} {of[name, least]:,} at {least}, {of[name, most]:,} at {most:,}" for name in names
    )
    newest, oldest = names[-1], names[0]
    return Words(
        alt=f"Log-log line chart of pages read against rows returned. {said}.",
        caption=(
            f"For one row MySQL {newest} reads {of[newest, least] / of[oldest, least]:.0f} times the pages of {oldest}; for all "
            f"{most:,} rows {oldest} reads {of[oldest, most] / of[newest, most]:.1f} times those of {newest}."
        ),
    )
