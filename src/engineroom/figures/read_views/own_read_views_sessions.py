"""Our own figure: response time against sessions that ask for much, by the share of writes, kept and removed at once."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Run, Words, rows_by

LABELS = {
    "kept, 5 % writes": "kept, 5 % writes",
    "removed_at_once, 5 % writes": "removed, 5 %",
    "kept, 20 % writes": "kept, 20 %",
    "removed_at_once, 20 % writes": "removed, 20 %",
}
SHORT, Y = {"kept, 5 % writes": "kept, 5 %"}, "mean response, us"
picture = Curves(labels=LABELS, narrow=SHORT, x_label="sessions", y_label=Y)
_rows = rows_by("sessions", y="mean_response_us")


def rows(run: Run) -> Rows:
    """The sessions that ask for most; a series is what becomes of views, and the share of writes."""
    busiest = run.table[run.table["away_ms"] == run.table["away_ms"].min()]
    named = busiest["series"] + ", " + busiest["write_percent"].astype(str) + " % writes"
    return _rows(run.with_table(busiest.assign(series=named)))


def words(table: Rows) -> Words:
    """All lines, and the spread at the most sessions."""
    most = table["sessions"].max()
    spread = table[table["sessions"] == most].groupby("series")["mean_response_us"].agg(["min", "max"])
    span = {series: f"{least:.0f} to {largest:.0f}" for series, least, largest in spread.itertuples()}
    few, more = (
        " against ".join(span[f"{views}, {share} % writes"] for views in ("kept", "removed_at_once"))
        for share in (5, 20)
    )
    return Words(
        alt=picture.alt(table, "{:.0f}"),
        caption=f"Each session asks for a statement every {table['away_ms'].iloc[0]:.0f} ms. With {most:,} sessions the response takes {few} us "
        f"with views kept and removed, where 5 % of the statements write, and {more} us where 20 % do: the least and the most of the runs, whose "
        "windows are too short to settle.",
    )
