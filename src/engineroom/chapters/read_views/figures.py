"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from engineroom.show.figure import figure
from engineroom.show.parts import (
    Curves,
    Dots,
    Rows,
    Run,
    Words,
    all_rows,
    by_release,
    each,
    ours,
    rows_by,
    rows_over,
    theirs,
)

LABELS_NUM_RV_1 = {"kept": "kept", "closed": "closed among them", "removed_at_once": "removed at once"}

SHORT_NUM_RV_1 = {"closed": "closed"}

_picture_of_num_rv_1 = Curves(
    labels=LABELS_NUM_RV_1,
    narrow=SHORT_NUM_RV_1,
    x_label="sessions",
    y_label="views in the list",
    y_log=False,
)


@figure("num-rv-1", rows=all_rows, picture=_picture_of_num_rv_1)
def num_rv_1(table: Rows) -> Words:
    """The read-view article's list: views in it against sessions, with closed ones kept and removed at once."""
    of = _picture_of_num_rv_1.values(table)
    most = of["kept"].index.max()
    kept, closed, removed = (of[series, most] for series in LABELS_NUM_RV_1)
    return Words(
        alt=_picture_of_num_rv_1.alt(table, "{:,.0f}"),
        caption=f"With {most:,} sessions the list of 5.7 holds {kept:,.0f} views, {100 * closed / kept:.0f} % of them closed. If views "
        f"are removed at once, {removed:,.0f} are left.",
    )


LABELS_NUM_RV_2, RESPONSE = (
    {"kept": "kept", "removed_at_once": "removed at once"},
    {"response": "mean response"},
)

UNIT = "microseconds per statement"


@figure(
    "num-rv-2",
    rows=all_rows,
    picture=Dots(rows=LABELS_NUM_RV_2, series=RESPONSE, label=UNIT, log=True, form="{:,.0f}"),
)
def num_rv_2(table: Rows) -> Words:
    """The read-view article's response time, with closed views kept and removed at once."""
    mine, published = (of(table)["response"][list(LABELS_NUM_RV_2)] for of in (ours, theirs))
    ratio, told = (of["kept"] / of["removed_at_once"] for of in (mine, published))
    return Words(
        alt=f"Dots of {UNIT}, on a log axis. Simulated, with closed views {each(mine, '{:.0f}')}. Published: {each(published, '{:,.0f}')}.",
        caption=f"In the article, keeping closed views makes a statement take {told:.0f} times as long; on the simulated machine {ratio:.2f} times.",
    )


LOADS = {
    "read_only": "reads only",
    "mixed": "one write\nin five",
    "read_write": "read and write\nin one transaction",
}

SERIES = {"before_5_7": "5.6", "kept": "5.7", "removed_at_once": "5.7, remedied"}

_picture_of_num_rv_3 = Dots(
    rows=LOADS,
    series=SERIES,
    label="throughput over 5.7's",
    limits=(0, 1.8),
    line_at=1.0,
    narrow={"read_write": "read and\nwrite"},
)


# The published numbers have no unit of their own.
@figure(
    "num-rv-3",
    rows=rows_over("throughput_over_5_7", "series == 'kept'", "load"),
    picture=_picture_of_num_rv_3,
)
def num_rv_3(table: Rows) -> Words:
    """The read-view article's cost and gain: throughput by load, in the design of 5.6, of 5.7, and of 5.7 remedied."""
    left = 100 * ours(table)["removed_at_once"]
    published = 100 * theirs(table)["removed_at_once"]["read_only"]
    return Words(
        alt=f"Dots of throughput, 5.7 being 1. {_picture_of_num_rv_3.said(table)}.",
        caption=f"With reads only, removing views at once leaves {left['read_only']:.0f} % of the throughput (published: at least "
        f"{published:.0f} %). With one write in five it leaves {left['mixed']:.0f} %, with transactions that read and write "
        f"{left['read_write']:.0f} %.",
    )


X, Y_IDLE = "idle sessions", "purge, us per batch"

_picture_of_own_read_views_idle = Curves(
    labels=by_release, x_label=X, y_label=Y_IDLE, x_log=False, y_log=False
)


@figure(
    "own-read-views-idle",
    rows=rows_by("idle_sessions", y="purge_us_per_batch"),
    picture=_picture_of_own_read_views_idle,
)
def own_read_views_idle(table: Rows) -> Words:
    """Our own figure: purge's processor time per batch on live servers against idle sessions, each with a closed view."""
    of, most = _picture_of_own_read_views_idle.values(table), table["idle_sessions"].max()
    more = ", ".join(f"{of[name, most] / of[name, 0]:.1f} times in {name}" for name in by_release(table))
    return Words(
        alt=_picture_of_own_read_views_idle.alt(table, "{:.0f}"),
        caption=f"With {most:,} idle sessions that have read once, purge takes more processor time per batch than with none: {more}.",
    )


LABELS_SESSIONS = {
    "kept, 5 % writes": "kept, 5 % writes",
    "removed_at_once, 5 % writes": "removed, 5 %",
    "kept, 20 % writes": "kept, 20 %",
    "removed_at_once, 20 % writes": "removed, 20 %",
}

SHORT_SESSIONS, Y_SESSIONS = (
    {"kept, 5 % writes": "kept, 5 %"},
    "mean response, us",
)

_picture_of_own_read_views_sessions = Curves(
    labels=LABELS_SESSIONS,
    narrow=SHORT_SESSIONS,
    x_label="sessions",
    y_label=Y_SESSIONS,
)

_rows = rows_by("sessions", y="mean_response_us")


def _rows_of_own_read_views_sessions(run: Run) -> Rows:
    """The sessions that ask for most; a series is what becomes of views, and the share of writes."""
    busiest = run.table[run.table["away_ms"] == run.table["away_ms"].min()]
    named = busiest["series"] + ", " + busiest["write_percent"].astype(str) + " % writes"
    return _rows(run.with_table(busiest.assign(series=named)))


@figure(
    "own-read-views-sessions",
    rows=_rows_of_own_read_views_sessions,
    picture=_picture_of_own_read_views_sessions,
)
def own_read_views_sessions(table: Rows) -> Words:
    """Our own figure: response time against sessions that ask for much, by the share of writes, kept and removed at once."""
    most = table["sessions"].max()
    spread = table[table["sessions"] == most].groupby("series")["mean_response_us"].agg(["min", "max"])
    span = {series: f"{least:.0f} to {largest:.0f}" for series, least, largest in spread.itertuples()}
    few, more = (
        " against ".join(span[f"{views}, {share} % writes"] for views in ("kept", "removed_at_once"))
        for share in (5, 20)
    )
    return Words(
        alt=_picture_of_own_read_views_sessions.alt(table, "{:.0f}"),
        caption=f"Each session asks for a statement every {table['away_ms'].iloc[0]:.0f} ms. With {most:,} sessions the response takes {few} us "
        f"with views kept and removed, where 5 % of the statements write, and {more} us where 20 % do: the least and the most of the runs, whose "
        "windows are too short to settle.",
    )
