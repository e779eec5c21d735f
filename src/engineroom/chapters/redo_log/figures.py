"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom.runs.side_by_side import OURS
from engineroom.runs.summary import how_of, paired_ratio
from engineroom.show.figure import figure
from engineroom.show.panels import panels
from engineroom.show.parts import (
    Curves,
    Ranked,
    Rows,
    Run,
    Words,
    all_rows,
    at,
    compared,
    each,
    known_ratios,
    ours,
    rows_by,
    rows_over,
    theirs,
    valued,
    with_width,
)
from engineroom.show.style import drawing_of, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LABELS_FIG_7_01 = {
    "before": "log of 5.7",
    "after": "log of 8.0",
    "new_latches": "log of 8.0, later latches",
}

SHORT_FIG_7_01 = {"before": "5.7", "after": "8.0", "new_latches": "later latches"}

Y = "New-Orders per minute"


@figure(
    "fig-7-01",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_01, narrow=SHORT_FIG_7_01, x_label="clients", y_label=Y),
)
def fig_7_01(table: Rows) -> Words:
    """Figure 7-1: throughput of a whole engine against clients, over the log of 5.7 and of 8.0."""
    return compared(table, LABELS_FIG_7_01, Y, over="after", under="before", in_one_unit=True)


# Our load is a small part of the published one: each build's time as a multiple of the quicker one's.
@figure(
    "fig-7-02",
    rows=rows_over("times_the_quicker", "build == 'after'"),
    picture=Ranked(label="load time over that with the log of 8.0"),
)
def fig_7_02(table: Rows) -> Words:
    """Figure 7-2: the time to load in large transactions over the log of 5.7 and of 8.0."""
    ratio, published = (of["load_time", "before"] for of in (ours(table), theirs(table)))
    seconds = 60 * ours(valued(table, "minutes", table["load_time_minutes"]))["load_time"]
    return Words(
        alt=f"Dot plot of load time by build. Before over after: {ratio:.2f}, published {published:.2f}. "
        f"Ours in seconds of virtual time: {seconds['before']:.2f} and {seconds['after']:.2f}.",
        caption=f"Simulated, the same load takes {ratio:.2f} times as long over the log of 5.7 as over the log of 8.0; published {published:.2f}.",
    )


LOGS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}


# Components below a thousandth stay out; statement is all SQL work together.
@figure(
    "fig-7-04",
    rows=partial(all_rows, where="share_percent >= 0.1 or component == 'log_reservation'"),
    picture=Ranked(series=LOGS, label="share of CPU time, %"),
)
def fig_7_04(table: Rows) -> Words:
    """Figure 7-4: where 250 clients spend their time on the CPU, over the log of 5.7 and of 8.0."""
    how = "sampled stacks of real threads" if "host" in set(table["method"]) else "simulated"
    lines = (ours(table)["old_redo"], ours(table)["new_redo"], theirs(table)["old_redo"])
    old, new, told = (each(line.sort_values(ascending=False), "{:.1f} %") for line in lines)
    old_share, new_share, told_share = (f"{line['log_reservation']:.0f} %" for line in lines)
    return Words(
        alt=f"Dot plot of shares of CPU time, {how}. Log of 5.7: {old}. Log of 8.0: {new}. Published for the log of 5.7: {told}.",
        caption=f"Of the CPU time of 250 clients ({how}) {old_share} goes to reserving log with the mutex of 5.7 and {new_share} with the log "
        f"of 8.0; published {told_share} for 5.7.",
    )


def _what(table: Rows) -> str:
    return "waits for" if "host" in set(table["method"]) else "time in"


@figure(
    "fig-7-05", rows=all_rows, picture=Ranked(label=lambda table: f"share of {_what(table)} reservation, %")
)
def fig_7_05(table: Rows) -> Words:
    """Figure 7-5: which callers 250 clients come from when they wait for the reservation of the log of 5.7."""
    of, published = (
        source(table)["log_reservation_wait"].sort_values(ascending=False) for source in (ours, theirs)
    )
    return Words(
        alt=f"Dot plot of the callers of log reservation by share of {_what(table)} it: {each(of, '{:.1f} %')}. "
        f"Published, of one stack: {each(published, '{:.0f} %')}.",
        caption=f"Committing mini-transactions accounts for {of['mtr_commit']:.1f} % of {_what(table)} the log's reservation.",
    )


LABELS_FIG_7_06 = {
    "flushes": "8.0",
    "8.0.15": "8.0.15",
    "old_redo": "5.7",
    "writer_threads_off": "8.0, writer threads off",
    "no_cpu_gate": "8.0, no CPU gate",
    "5.6": "5.6",
    "9.7_writer_threads_on": "9.7, writer threads on",
    "9.7_writer_threads_off": "9.7, writer threads off",
}

SHORT_FIG_7_06 = {"writer_threads_off": "8.0 off", "no_cpu_gate": "8.0 no gate"} | {
    f"9.7_writer_threads_{how}": f"9.7 {how}" for how in ("on", "off")
}


def _labels_of_fig_7_06(table: Rows) -> dict[str, str]:
    """Servers and the simulation have other series."""
    there = set(table["series"])
    return {series: label for series, label in LABELS_FIG_7_06.items() if series in there}


_picture_of_fig_7_06 = Curves(
    labels=_labels_of_fig_7_06, narrow=SHORT_FIG_7_06, x_label="clients", y_label="flushes per transaction"
)


# The published line counts flushes without saying which; ours are redo fsyncs over commits.
@figure("fig-7-06", rows=all_rows, picture=_picture_of_fig_7_06)
def fig_7_06(table: Rows) -> Words:
    """Figure 7-6: fsyncs per transaction against clients, with the CPU gate of the log threads on and off."""
    of = _picture_of_fig_7_06.values(table)
    peak, where = of["flushes"].max(), of["flushes"].idxmax()
    more = ""
    if "no_cpu_gate" in of:
        more = f" Without the CPU gate: {of['no_cpu_gate'].max():.1f} at {of['no_cpu_gate'].idxmax():g}."
    if "9.7_writer_threads_on" in of:
        on, off = (of[f"9.7_writer_threads_{how}", 1] for how in ("on", "off"))
        more = f" 9.7 with one client: {on:.2f} with its log threads on, {off:.2f} with them off."
    return Words(
        alt=_picture_of_fig_7_06.alt(
            table, more=f"Published for 8.0: {at(theirs(table)['flushes'], '{:g}')}."
        ),
        caption=f"8.0{' (8.0.31)' if '8.0.15' in of else ''} flushes most with {where:g} {'client' if where == 1 else 'clients'}, {peak:.1f} times per transaction, "
        f"5.7 at most {of['old_redo'].max():.2f} times.{more}",
    )


LABELS_NUM_CH7_1 = {
    "old_redo": "log of 5.7",
    "new_redo": "log of 8.0",
    "threads_off": "log of 8.0, its threads off",
}

SHORT_NUM_CH7_1 = {"old_redo": "5.7", "new_redo": "8.0", "threads_off": "8.0 off"}


@figure(
    "num-ch7-1",
    rows=all_rows,
    picture=Curves(
        labels=LABELS_NUM_CH7_1, narrow=SHORT_NUM_CH7_1, x_label="clients", y_label="transactions per second"
    ),
)
def num_ch7_1(table: Rows) -> Words:
    """The chapter's statement on fewer than 50 connections: throughput over the log of 5.7 and of 8.0."""
    ratio = ours(table)["new_redo"] / ours(table)["old_redo"]
    slower = ", ".join(f"{n:g}" for n in ratio.index[ratio < 1])
    where = f"slower at {slower} clients" if slower else "slower nowhere"
    return Words(
        alt=f"Log-log line chart of transactions per second against clients. Log of 8.0 over log of 5.7: {at(ratio, '{:.3f}')}.",
        caption=f"Simulated with fewer than 50 clients, the log of 8.0 is {where}; the largest loss is {100 * (1 - ratio.min()):.1f} %."
        f" Without its threads it is {at(ours(table)['threads_off'] / ours(table)['old_redo'], '{:.2f}')}.",
    )


LABELS_NUM_DEG_3 = {
    "mtr_5_7": "5.7",
    "mtr_8_0": "8.0",
    "mtr_8_0_writer_threads_off": "8.0, writer threads off",
}

SHORT_NUM_DEG_3 = {"mtr_8_0_writer_threads_off": "8.0 off"}

_picture_of_num_deg_3 = Curves(
    labels=LABELS_NUM_DEG_3, narrow=SHORT_NUM_DEG_3, x_label="threads", y_label="ns per commit"
)


def alone(table: Rows, series: str, *, threads: int = 1) -> str:
    """What a commit of so many threads costs over the design of 5.7, turn by turn: "1.05 times (0.87 to 1.17: equal within noise)"."""
    one = table[(table["source"] == OURS) & (table["threads"] == threads)]
    repeats = one.pivot(index="repeat", columns="series", values="nanoseconds")
    return paired_ratio(repeats[series], repeats["mtr_5_7"]).times()


@figure("num-deg-3", rows=all_rows, picture=_picture_of_num_deg_3)
def num_deg_3(table: Rows) -> Words:
    """The degradation article's statement on committing a mini-transaction: nanoseconds in the instructions of 5.7 and 8.0."""
    most = ours(table)["mtr_8_0"].index[-1]
    old, new, off = (f"{ours(table)[series, most]:.0f}" for series in LABELS_NUM_DEG_3)
    at_best = "at best " if how_of(table) == "min" else ""
    return Words(
        alt=_picture_of_num_deg_3.alt(table, "{:.0f}"),
        caption=f"Alone, a commit in the design of 8.0 costs {alone(table, 'mtr_8_0_writer_threads_off')} what it costs in the design of 5.7 "
        f"with the log threads off, and {alone(table, 'mtr_8_0')} with them on. With {most:g} threads a commit takes {at_best}{old} ns "
        f"in 5.7, {off} in 8.0 with them off and {new} with them on.",
    )


# Components below a thousandth stay out; statement is all SQL work together.
@figure(
    "own-redo-engine-profile",
    rows=partial(
        all_rows,
        by=("component", "series"),
        y="share_percent",
        where="share_percent >= 0.1 or component == 'log_reservation'",
    ),
    picture=Ranked(series=LOGS, label="share of CPU time, %"),
)
def own_redo_engine_profile(table: Rows) -> Words:
    """Our own figure: where 250 clients of a whole engine spend their time on the CPU, over the log of 5.7 and of 8.0."""
    lines = {name: ours(table)[series] for series, name in LOGS.items()}
    said = "; ".join(
        f"{name}: {each(line.sort_values(ascending=False), '{:.1f} %')}" for name, line in lines.items()
    )
    old, new = (line["log_reservation"] for line in lines.values())
    return Words(
        alt=f"Dot plot of shares of CPU time in a whole engine. {said[0].upper()}{said[1:]}.",
        caption=f"Of the CPU time of 250 clients of a whole engine (simulated) {old:.0f} % goes to reserving log with the mutex of 5.7 and "
        f"{new:.1f} % with the log of 8.0.",
    )


LABELS_THROUGHPUT, SHORT_THROUGHPUT = (
    {"before": "log of 5.7", "after": "log of 8.0"},
    {"before": "5.7", "after": "8.0"},
)


@figure(
    "own-redo-throughput",
    rows=rows_by("concurrency", y="tpmC", keep=["half_width_percent"]),
    picture=Curves(
        labels=LABELS_THROUGHPUT,
        narrow=SHORT_THROUGHPUT,
        x_label="clients",
        y_label="transactions per minute",
    ),
)
def own_redo_throughput(table: Rows) -> Words:
    """Our own figure: throughput against clients over the log of 5.7 and of 8.0, with nothing but the redo log to wait for."""
    ratio = ours(table)["after"] / ours(table)["before"]
    known, beyond = known_ratios(table, ratio)
    first, last = known.index[0], known.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. Log of 8.0 over log of 5.7: {at(ratio)}.",
        caption=f"Simulated with nothing but the redo log to wait for, the log of 8.0 gives {known[first]:.2f} times the throughput of "
        f"5.7's at {first:g} clients and {known[last]:.1f} times at {last:g}.{beyond}",
    )


TPS, MEDIAN, MOST = "transactions per second", "commit, median", "commit, 95 %"

QUANTITIES = {TPS: "transactions_per_second", MEDIAN: "commit_ms_p50", MOST: "commit_ms_p95"}

_THROUGHPUT = Curves(
    labels={"on": "threads on", "off": "threads off"},
    narrow={"on": "on", "off": "off"},
    x="concurrency",
    x_label="clients",
    y_label=TPS,
    where=f"quantity == '{TPS}'",
)

_COMMIT = Curves(
    labels={
        "on, median": "on, 50 %",
        "off, median": "off, 50 %",
        "on, 95 %": "on, 95 %",
        "off, 95 %": "off, 95 %",
    },
    x="concurrency",
    x_label="clients",
    y_label="ms per COMMIT",
    where=f"quantity != '{TPS}'",
)


def _rows_of_own_redo_writer_threads(run: Run) -> Rows:
    """One row per clients, quantity, setting and repeat; the series of a COMMIT says of which quantile it is."""
    by = ("concurrency", "series")
    parts = []
    for quantity, column in QUANTITIES.items():
        part = all_rows(run, by=by, y=column, keep=()).rename(columns={column: "value"})
        part.insert(1, "quantity", quantity)
        _, _, quantile = quantity.partition(", ")
        parts.append(part.assign(series=part["series"] + (f", {quantile}" if quantile else "")))
    return pd.concat(parts, ignore_index=True)


def _picture_of_own_redo_writer_threads(table: Rows, ax: Axes) -> None:
    """Throughput in one panel, the median and the 95th percentile of a COMMIT in the other."""
    if is_narrow(ax):
        drawing_of(ax).set_figheight(6.4)
    left, right = panels(ax, wide=(1, 2), narrow=(2, 1), space=(0.08, 0.08), sharey=False)
    _THROUGHPUT(table, left)
    _COMMIT(table, right)


@figure(
    "own-redo-writer-threads",
    rows=_rows_of_own_redo_writer_threads,
    picture=_picture_of_own_redo_writer_threads,
)
def own_redo_writer_threads(table: Rows) -> Words:
    """Our own figure: throughput and the time of a COMMIT on 9.7 with its log threads on and off, by clients."""
    tps = _THROUGHPUT.values(table)
    commit = _COMMIT.values(table)
    most = max(table["concurrency"])
    one, all_ = (
        f"{commit['on, median', n]:.2f} ms with the log threads on and {commit['off, median', n]:.2f} ms with them off"
        for n in (1, most)
    )
    return Words(
        alt=f"Two panels. {_THROUGHPUT.alt(table, '{:.0f}')} {_COMMIT.alt(table)}",
        caption=f"With one client half of the COMMITs take at most {one}; with {most:g}, {all_}. There the server commits "
        f"{tps['off', most] / tps['on', most]:.2f} times as many transactions with them off.",
    )
