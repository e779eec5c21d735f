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
    """Both lines, and the ratio at the most sessions."""
    of = ours(table)
    most = table["sessions"].max()
    said = "; ".join(f"{name}: {at(of[series], '{:.0f}')}" for series, name in LABELS.items())
    ratio = [
        of[f"kept, {share} % writes"][most] / of[f"removed_at_once, {share} % writes"][most]
        for share in (5, 20)
    ]
    return Words(
        alt=f"Log-log line chart of the mean response time in microseconds against sessions. {said}.",
        caption=f"Each session asks for a statement every {table['away_ms'].iloc[0]:.0f} ms. With {most:,} sessions keeping closed views "
        f"makes the response {ratio[0]:.1f} times as long where 5 % of the statements write, and {ratio[1]:.1f} times where 20 % do.",
    )
