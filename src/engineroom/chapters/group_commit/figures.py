"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.runs.side_by_side import OURS
from engineroom.servers.catalogue import called, release
from engineroom.show.figure import figure
from engineroom.show.parts import Curves, Rows, all_rows, at, ratios, rows_by
from engineroom.show.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, drawing_of
from engineroom.show.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run


LABELS_DURABLE = {"serialised": "5.5", "original": "5.6", "modified": "5.7.6"}

_picture_of_own_gc_durable = Curves(
    labels=LABELS_DURABLE, x_label="clients", y_label="fsyncs of both logs per transaction"
)


@figure(
    "own-gc-durable", rows=rows_by("threads", y="fsyncs_per_transaction"), picture=_picture_of_own_gc_durable
)
def own_gc_durable(table: Rows) -> Words:
    """Our own figure: fsyncs of both logs per transaction where each commit is durable, by design and clients, simulated."""
    last = table["threads"].max()
    serialised, original, modified = (
        _picture_of_own_gc_durable.values(table)[series, last] for series in LABELS_DURABLE
    )
    return Words(
        alt=_picture_of_own_gc_durable.alt(table),
        caption=f"With {last:g} clients a durable commit takes {serialised:.2f} fsyncs in 5.5, {original:.2f} in the stages of 5.6 "
        f"and {modified:.2f} in 5.7.6, where a group shares one redo flush.",
    )


Y_GROUPS = "binlog_fsyncs_per_commit"


def _servers(table: Rows) -> dict[str, str]:
    """Each server by its release, MySQL's first, the oldest first."""
    releases = {
        str(series): str(server) for series, server in zip(table["series"], table["server"], strict=True)
    }
    return {
        name: called(releases[name]) for name in sorted(releases, key=lambda name: release(releases[name]))
    }


_picture_of_own_gc_groups = Curves(
    x="clients", labels=_servers, x_label="clients", y_label="binlog fsyncs per commit"
)


@figure(
    "own-gc-groups",
    rows=partial(
        all_rows, by=("clients", "series", "setting"), y=Y_GROUPS, keep=("server",), where="setting == '1/1'"
    ),
    picture=_picture_of_own_gc_groups,
)
def own_gc_groups(table: Rows) -> Words:
    """Our own figure: fsyncs of the binlog per commit on live servers, by clients, with and without a delay."""
    first, last = min(table["clients"]), max(table["clients"])
    at_last = _picture_of_own_gc_groups.values(table)[:, last]
    return Words(
        alt=_picture_of_own_gc_groups.alt(table, more="Both logs are durable."),
        caption=f"From {first} to {last} clients, binlog fsyncs fall from one per commit to between {at_last.min():.2f} and "
        f"{at_last.max():.2f}: a group shares one.",
    )


# From one step to the next: what lies between, its colour and its hatching.
_BETWEEN = {
    "prepare in the redo buffer": ("executes, prepares", SKY, ""),
    "redo flushed": ("FLUSH: redo fsync", BLUE, "//"),
    "binlog written": ("FLUSH: writes events", ORANGE, ""),
    "binlog synced": ("SYNC: binlog fsync", VERMILION, "\\\\"),
    "committed in the engine": ("COMMIT", GREEN, ""),
    "acknowledged": ("is told", PURPLE, ".."),
}


def _rows_of_own_gc_stages(run: Run) -> pd.DataFrame:
    """What happened in the first repeat, in order; a transaction begins with its first change."""
    table = run.table[run.table["repeat"] == 0]
    return table[["xid", "happening", "what", "ns"]].assign(source=OURS, method=run.method)


def _picture_of_own_gc_stages(table: pd.DataFrame, ax: Axes) -> None:
    """Draw the rows."""
    steps, leads = _steps_us(table), table[table["happening"] == "leads"]
    for xid, of in steps.T.items():
        before = of["begun"]
        for name, (_, colour, hatch) in _BETWEEN.items():
            if pd.isna(of.get(name)):
                break
            ax.barh(int(str(xid)), of[name] - before, left=before, height=0.7, **_filled(colour, hatch))
            before = of[name]
    ax.plot(leads["ns"] / 1000, leads["xid"], "o", color=INK, markersize=3.5)
    handles = [ax.barh(0, 0, label=label, **_filled(*how)) for label, *how in _BETWEEN.values()]
    legend = drawing_of(ax).legend
    legend(handles=handles, fontsize=9, loc="outside lower center", ncols=2, columnspacing=1)
    ax.set_xlabel("virtual time, us")
    ax.set_ylabel("transaction")
    ax.set_ylim(max(steps.index, default=1) + 0.6, 0.4)


def _filled(colour: str, hatch: str) -> dict[str, Any]:
    return {"color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.3}


def _steps_us(table: pd.DataFrame) -> pd.DataFrame:
    """When each transaction reached each step, a column per step; of its changes the first counts."""
    reached = table[table["happening"] == "reached"]
    return reached.pivot_table(index="xid", columns="what", values="ns", aggfunc="min") / 1000


@figure("own-gc-stages", rows=_rows_of_own_gc_stages, picture=_picture_of_own_gc_stages)
def own_gc_stages(table: pd.DataFrame) -> Words:
    """Our own figure: one run, a line per transaction, what it does or waits for from left to right, and who leads."""
    told_us = _steps_us(table)["acknowledged"]
    leads = table[table["happening"] == "leads"]["what"].value_counts()
    return Words(
        alt=f"A line per transaction over time, {len(told_us)} of them in {told_us.max():.0f} us: executing, then FLUSH, SYNC and COMMIT. "
        f"A dot is a leader: {leads['FLUSH']} in FLUSH, {leads['SYNC']} in SYNC, {leads['COMMIT']} in COMMIT. While one group is in SYNC, "
        "the next is in FLUSH.",
        caption=f"{told_us.count()} transactions commit in {leads['FLUSH']} groups, with {leads['FLUSH']} redo and {leads['SYNC']} binlog "
        "fsyncs. A dot is a leader at work; the others wait.",
    )


LABELS_TAB_GC_1 = {"original": "a redo flush per transaction", "modified": "one per group"}

SHORT = {"original": "per transaction", "modified": "per group"}

Y_TAB_GC_1 = "transactions per second"


@figure(
    "tab-gc-1",
    rows=all_rows,
    picture=Curves(labels=LABELS_TAB_GC_1, narrow=SHORT, x_label="clients", y_label=Y_TAB_GC_1, y_log=False),
)
def tab_gc_1(table: Rows) -> Words:
    """The source's table: throughput with one redo flush per transaction and per group, against clients."""
    gain, source = ratios(table, "modified", "original")
    (low, high), (least, most) = ((100 * (of.min() - 1), 100 * (of.max() - 1)) for of in (gain, source))
    return Words(
        alt=f"Line chart of {Y_TAB_GC_1} against clients. One redo flush per group over one per transaction: {at(gain, '{:.3f}')}. "
        f"Published: {at(source, '{:.3f}')}.",
        caption=f"Where no commit waits for an fsync, one redo flush per group changes throughput by {low:+.1f} to {high:+.1f} %; "
        f"published were {least:+.1f} to {most:+.1f} %.",
    )
