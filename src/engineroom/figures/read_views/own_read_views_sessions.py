"""Our own figure: response time against sessions that ask for much, by the share of writes, kept and removed at once."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

LABELS = {
    "kept, 5 % writes": "kept, 5 % writes",
    "removed_at_once, 5 % writes": "removed, 5 %",
    "kept, 20 % writes": "kept, 20 %",
    "removed_at_once, 20 % writes": "removed, 20 %",
}
picture = Curves(
    labels=LABELS,
    narrow={"kept, 5 % writes": "kept, 5 %"},
    x_label="sessions",
    y_label="mean response, us",
)


def rows(run: Run) -> pd.DataFrame:
    """The sessions that ask for most; a series is what becomes of views, and the share of writes."""
    busiest = run.table[run.table["away_ms"] == run.table["away_ms"].min()]
    named = busiest["series"] + ", " + busiest["write_percent"].astype(str) + " % writes"
    return side_by_side.rows(
        run.with_table(busiest.assign(series=named)), by=("sessions", "series"), y="mean_response_us"
    )


def words(table: pd.DataFrame) -> Words:
    """All lines, and the spread at the most sessions."""
    of = ours(table)
    most = table["sessions"].max()
    said = "; ".join(f"{name}: {at(of[series], '{:.0f}')}" for series, name in LABELS.items())
    few, more = (
        " against ".join(
            _span(table, f"{views}, {share} % writes", most) for views in ("kept", "removed_at_once")
        )
        for share in (5, 20)
    )
    return Words(
        alt=f"Log-log line chart of the mean response time in microseconds against sessions. {said}.",
        caption=f"Each session asks for a statement every {table['away_ms'].iloc[0]:.0f} ms. With {most:,} sessions the response takes {few} us "
        f"with views kept and removed, where 5 % of the statements write, and {more} us where 20 % do: the least and the most of the runs, whose "
        "windows are too short to settle.",
    )


def _span(table: pd.DataFrame, series: str, sessions: int) -> str:
    """The least and the most of the repeats: "164 to 211"."""
    runs = table[(table["series"] == series) & (table["sessions"] == sessions)]["mean_response_us"]
    return f"{runs.min():.0f} to {runs.max():.0f}"
