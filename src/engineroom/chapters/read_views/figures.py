"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

import pandas as pd

from engineroom.runs import published
from engineroom.runs.side_by_side import PUBLISHED
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


LABELS_WALK = {10_000: "ten thousand sessions", 4_000: "four thousand"}

_picture_of_own_read_views_walk = Curves(
    labels={label: label for label in LABELS_WALK.values()},
    narrow={LABELS_WALK[10_000]: "10 thousand", LABELS_WALK[4_000]: "4 thousand"},
    x_label="to pass a closed view, ns",
    y_label="response, kept over removed",
    x_log=False,
)


def _rows_of_own_read_views_walk(run: Run) -> Rows:
    """By the cost of passing a view how many times as long a statement takes where views are kept; of the article, at each cost, its ratio."""
    by = ["walk_ns", "sessions", "repeat"]
    kept, removed = (
        run.table[run.table["series"] == series].set_index(by)["mean_response_us"]
        for series in ("kept", "removed_at_once")
    )
    longer = (kept / removed).rename("times_as_long").reset_index()
    rows = rows_by("walk_ns", y="times_as_long")(
        run.with_table(longer.assign(series=longer["sessions"].map(LABELS_WALK)))
    )
    told = published.in_our_columns("num-rv-2").set_index("build")["mean_response_us"]
    article = rows[(rows["series"] == LABELS_WALK[10_000]) & (rows["repeat"] == 0)][
        ["walk_ns", "repeat", "series"]
    ]
    return pd.concat(
        [
            rows,
            article.assign(times_as_long=told["kept"] / told["removed_at_once"], source=PUBLISHED, method=""),
        ],
        ignore_index=True,
    )


@figure(
    "own-read-views-walk",
    rows=_rows_of_own_read_views_walk,
    picture=_picture_of_own_read_views_walk,
)
def own_read_views_walk(table: Rows) -> Words:
    """Our own figure: what keeping closed views costs a statement, by what purge takes to pass one of them."""
    of = _picture_of_own_read_views_walk.values(table)
    most = of[LABELS_WALK[10_000]]
    told = table[table["source"] == PUBLISHED]["times_as_long"].iloc[0]
    return Words(
        alt=_picture_of_own_read_views_walk.alt(
            table, "{:.1f}", more=f"Dotted: {told:.0f}, the article's, at a cost that it does not tell."
        ),
        caption=f"Simulated, ten thousand sessions: where views are kept, a statement takes {most.iloc[0]:.2f} times as long if purge passes a "
        f"closed view in no time, and {most.iloc[-1]:.0f} times if that takes {most.index[-1]:.0f} ns. Dotted: the article's factor, for which "
        "no such time is told.",
    )
