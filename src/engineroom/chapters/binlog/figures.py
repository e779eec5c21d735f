"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom.runs.side_by_side import OURS
from engineroom.show.curves import End, label_ends
from engineroom.show.figure import figure
from engineroom.show.parts import (
    Curves,
    Dots,
    Maker,
    Rows,
    Words,
    all_rows,
    as_found,
    at,
    each,
    ours,
    over,
    ratios,
    rows_by,
    rows_over,
    theirs,
    values,
)
from engineroom.show.style import STYLES, is_narrow, label_axes, note, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run


def rows_of(base: str) -> Maker:
    """All rows, with the size over that of the setting `base`."""
    return rows_over("size_over_base", f"setting == '{base}'")


def picture_of_bytes_of_log(rows: dict[str, str], base: str) -> Dots:
    """A row per setting."""
    return Dots(rows=rows, label=f"bytes of binary log over those of {base}", form="{:.2f}", line_at=1.0)


def words_of_bytes_of_log(table: Rows, *, setting: str, how: str, base: str) -> Words:
    """Our ratio and the published one; `how` says what was done, `base` over which log's size."""
    of, published = (each(table)["binlog_size", setting] for each in (ours, theirs))
    return Words(
        alt=f"Dots of the size of the binary log over {base}. {how} it is {of:.2f}, published {published:.2f}.",
        caption=f"{how}, TPC-C's binary log keeps {of:.2f} of its bytes (published: {published:.2f}).",
    )


def picture_of_throughput(labels: dict[str, str], narrow: dict[str, str]) -> Curves:
    """A line with the smaller log and one without."""
    return Curves(labels=labels, narrow=narrow, x_label="clients", y_label="transactions per minute")


def words_of_throughput(table: Rows, *, over: str, under: str, ratio: str, caption: str) -> Words:
    """The two at each x, ours and the source's; the `caption` begins with what was done and ends before the range."""
    ours, published = ratios(table, over, under)
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. {ratio}: {at(ours)}. Published: {at(published)}.",
        caption=f"{caption.format(f'{ours.min():.2f} to {ours.max():.2f}')}; the source's cluster had {published.min():.2f} to "
        f"{published.max():.2f}.",
    )


# Figure 7-26: throughput against clients without and with compression, by the stages of the commit alone.
fig_7_26 = figure(
    "fig-7-26",
    rows=all_rows,
    picture=picture_of_throughput(
        {"uncompressed": "uncompressed", "compressed": "zstd, level 3"},
        narrow={"uncompressed": "plain", "compressed": "zstd 3"},
    ),
)(
    partial(
        words_of_throughput,
        over="compressed",
        under="uncompressed",
        ratio="Compressed over uncompressed",
        caption="If each session compresses before it queues, throughput is {} times the uncompressed",
    )
)


# Figure 7-27: bytes of binary log of TPC-C's transactions, without and with compression.
fig_7_27 = figure(
    "fig-7-27",
    rows=rows_of("uncompressed"),
    picture=picture_of_bytes_of_log(
        {"uncompressed": "uncompressed", "compressed": "zstd, level 3"}, "uncompressed"
    ),
)(
    partial(
        words_of_bytes_of_log,
        setting="compressed",
        how="Compressed transaction by transaction at level 3",
        base="the uncompressed one",
    )
)


# Figure 7-28: throughput against clients with full and with minimal row images, by the stages of the commit alone.
fig_7_28 = figure(
    "fig-7-28",
    rows=all_rows,
    picture=picture_of_throughput(
        {"full": "full images", "minimal": "minimal images"}, narrow={"full": "full", "minimal": "minimal"}
    ),
)(
    partial(
        words_of_throughput,
        over="minimal",
        under="full",
        ratio="Minimal over full images",
        caption="With minimal images throughput is {} times the one with full images",
    )
)


# Figure 7-29: bytes of binary log of TPC-C's transactions, with full and with minimal row images.
fig_7_29 = figure(
    "fig-7-29",
    rows=rows_of("full"),
    picture=picture_of_bytes_of_log({"full": "full images", "minimal": "minimal images"}, "full images"),
)(
    partial(
        words_of_bytes_of_log,
        setting="minimal",
        how="With minimal row images",
        base="the one with full images",
    )
)


LABELS_NUM_CH7_2 = {"minimal": "minimal images", "compressed": "zstd, level 3", "minimal_compressed": "both"}


@figure(
    "num-ch7-2", rows=rows_of("minimal"), picture=picture_of_bytes_of_log(LABELS_NUM_CH7_2, "minimal images")
)
def num_ch7_2(table: Rows) -> Words:
    """The source's advice to use both: minimal images and compression, each alone and together, over minimal images alone."""
    alone, both = ours(table)["binlog_size"][["compressed", "minimal_compressed"]]
    return Words(
        alt=f"Dots of the size of the binary log over the one with minimal images: compressed {alone:.2f}, both {both:.2f}.",
        caption=f"Minimal images and compression together leave {both:.2f} of the bytes of minimal images alone; compression alone "
        f"leaves {alone:.2f}.",
    )


BASE_CPU, LABEL = "full, uncompressed", "microseconds of server CPU per transaction"

short = as_found("setting", ("uncompressed", "no zstd"))


@figure(
    "own-binlog-cpu",
    rows=rows_by("setting", y="server_cpu_us", keep=["bytes_per_txn"]),
    picture=Dots(by="setting", rows=as_found("setting"), narrow=short, label=LABEL, form="{:,.0f}"),
)
def own_binlog_cpu(table: Rows) -> Words:
    """Our own figure: CPU time of the whole server per transaction, by row image and level of compression."""
    of = ours(table).droplevel("series")
    added = "; ".join(f"{name} {of[name] / of[BASE_CPU] - 1:+.0%}" for name in of.index if name != BASE_CPU)
    return Words(
        alt=f"Dots of CPU time of the server per TPC-C transaction: {BASE_CPU} {of[BASE_CPU]:,.0f} microseconds; beside it {added}.",
        caption=f"Server CPU per transaction of one client, against {of[BASE_CPU]:,.0f} microseconds for {BASE_CPU}: {added}.",
    )


KINDS_LEVELS = {"orders": "TPC-C's orders", "documents": "JSON documents", "digests": "digests"}


def points(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """CPU time and bytes of each level of one kind of rows, by level; 0 is no compression."""
    mine = table[(table["source"] == OURS) & (table["series"] == kind)]
    cpu, ratio = (
        values(mine, "level", y=y, how=how) for y, how in (("cpu_ns_per_byte", None), ("ratio", "min"))
    )
    none = pd.DataFrame({"cpu_ns_per_byte": [0.0], "ratio": [1.0]}, index=[0])
    return (
        pd.concat([none, pd.DataFrame({"cpu_ns_per_byte": cpu, "ratio": ratio})])
        .rename_axis("level")
        .sort_index()
    )


def worth(of: pd.DataFrame) -> list[int]:
    """The levels of the hull, no compression (0) first."""
    hull: list[tuple[float, float, int]] = []
    for level, cpu, ratio in sorted(of.itertuples(), key=lambda point: (point[1], point[2])):
        if hull and ratio >= hull[-1][1]:
            continue
        # The last point goes while it is not below the straight line from the one before it to this one.
        while len(hull) > 1:
            (x0, y0, _), (x1, y1, _) = hull[-2:]
            if (y1 - y0) * (cpu - x0) < (ratio - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((cpu, ratio, level))
    return [level for _, _, level in hull]


def never_worth(table: pd.DataFrame) -> list[int]:
    """The levels that pay for none of the kinds of rows."""
    pays = {level for kind in table["series"].unique() for level in worth(points(table, kind))}
    return sorted(set(table["level"]) - pays)


def _picture_of_own_binlog_levels(table: pd.DataFrame, ax: Axes) -> None:
    """Bytes against CPU time, a line per kind of rows; what pays is filled and has its number."""
    ends = []
    for style, (kind, label) in zip(STYLES, KINDS_LEVELS.items(), strict=False):
        of, colour = points(table, kind), style.colour
        paying = of.loc[[level for level in worth(of) if level > 0]]
        of = of.drop(index=0)
        ax.plot(*of.to_numpy().T, style.dash, color=colour, linewidth=1.0, alpha=0.5)
        ax.plot(*of.to_numpy().T, style.marker, color=colour, fillstyle="none", markersize=5, linestyle="")
        ax.plot(*paying.to_numpy().T, style.marker, color=colour, markersize=6, linestyle="")
        for level, cpu, ratio in paying.itertuples():
            note(ax, str(level), (cpu, ratio), (0, -14), color=colour)
        x, y = map(float, of.iloc[-1])
        ends.append(End(x, y, kind if is_narrow(ax) else label, colour))
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.25)
    label_axes(ax, x="ns of CPU per uncompressed byte", x_log=True, y="bytes left, of 1")
    label_ends(ax, ends)


def _listed(levels: Iterable[int]) -> str:
    return ", ".join(map(str, levels)) or "none"


@figure(
    "own-binlog-levels",
    rows=rows_by("level", y="cpu_ns_per_byte", keep=["ratio", "unit_bytes"]),
    picture=_picture_of_own_binlog_levels,
)
def own_binlog_levels(table: pd.DataFrame) -> Words:
    """Our own figure: what each level of zstd saves of three kinds of rows and what it costs, and the levels that never pay.

    A level pays if, for some price of a byte kept and some price of CPU time, it is the cheapest: it lies on the lower left hull of the
    points (CPU time, bytes), of which no compression is one. All others cost more than a mixture of two that pay, at any prices.
    """
    of = {label: points(table, kind) for kind, label in KINDS_LEVELS.items()}
    pays = "; ".join(f"{label}: {_listed(level for level in worth(of[label]) if level)}" for label in of)
    left = "; ".join(
        f"{label} {each['ratio'][1]:.2f} at level 1, {each['ratio'].iloc[-1]:.2f} at {each.index[-1]}"
        for label, each in of.items()
    )
    return Words(
        alt=f"Lines of bytes left against CPU time per byte, a point per level of zstd. {left}.",
        caption=f"Only the filled levels are the cheapest at some price of disk and CPU. {pays}. Worth it for none, by these times: "
        f"{_listed(never_worth(table))}.",
    )


BASE_PLACES = "uncompressed"

LABELS_PLACES = {"nowhere": "free", "session": "by the session", "leader": "by the leader"}

SHORT = {"session": "session", "leader": "leader"}

WHAT = "throughput over the uncompressed"

plain = rows_by("concurrency", y="tpmC")

_picture_of_own_binlog_places = Curves(
    labels=LABELS_PLACES, narrow=SHORT, x_label="clients", y_label=WHAT, y_log=False
)


@figure(
    "own-binlog-places",
    rows=rows_over("throughput_ratio", f"series == '{BASE_PLACES}'", "concurrency", of=plain),
    picture=_picture_of_own_binlog_places,
)
def own_binlog_places(table: Rows) -> Words:
    """Our own figure: throughput over the uncompressed one, by where the CPU time of compressing is spent; nowhere is the ablation."""
    last = max(table["concurrency"])
    nowhere, session, leader = (
        _picture_of_own_binlog_places.values(table)[place, last] for place in LABELS_PLACES
    )
    return Words(
        alt=_picture_of_own_binlog_places.alt(
            table, more="A line says where the time of compressing is spent."
        ),
        caption=f"With {last:g} clients throughput is {session:.2f} times the uncompressed if each session compresses, {leader:.2f} times "
        f"if the leader does it under LOCK_log, and {nowhere:.2f} times if it costs nothing.",
    )


KINDS_TRANSACTIONS = {
    "new_order": "New-Order",
    "payment": "Payment",
    "delivery": "Delivery",
    "mix": "the mix",
}

SETTINGS = {
    "full, uncompressed": "full",
    "minimal, uncompressed": "minimal",
    "full, zstd 3": "full, zstd 3",
    "minimal, zstd 3": "minimal, zstd 3",
}


@figure(
    "own-binlog-transactions",
    rows=lambda run: rows_by("kind", y="bytes_per_txn")(
        run.with_table(run.table[run.table["server"].isin(["8.0.31", "kernel"])])
    ),
    picture=Dots(
        by="kind",
        rows=KINDS_TRANSACTIONS,
        series=SETTINGS,
        label="bytes per transaction",
        log=True,
    ),
)
def own_binlog_transactions(table: Rows) -> Words:
    """Our own figure: bytes per transaction in the binary log, by kind of transaction and setting."""
    of = ours(table).unstack("series")[list(SETTINGS)].rename(columns=SETTINGS).loc[list(KINDS_TRANSACTIONS)]
    left = (100 * of.div(of["full"], axis=0)).drop(columns="full")
    order, payment = (each(left.T[kind], "{:.0f} %") for kind in ("new_order", "payment"))
    full = of["full"].rename(index=KINDS_TRANSACTIONS)
    return Words(
        alt=f"Dots of bytes per transaction, by kind and setting. With full images {each(full, '{:,.0f}')}.",
        caption=f"What is left of a New-Order's {full['New-Order']:,.0f} bytes: {order}; of a Payment's {full['Payment']:,.0f}: {payment}.",
    )


QUANTITIES_OF_GROUP = {
    "sent_bytes": "bytes sent",
    "binlog_bytes": "binary log",
    "cpu_us": "CPU time",
    "tps": "throughput",
}
COMPRESSED_IN_GROUP = {"messages": "messages", "transactions": "transactions", "both": "both"}

_OF_GROUP = Dots(
    by="quantity",
    rows={name: name for name in QUANTITIES_OF_GROUP.values()},
    series=COMPRESSED_IN_GROUP,
    label="over the group without compression",
    line_at=1.0,
)


def _rows_of_own_binlog_group_replication(run: Run) -> Rows:
    """A row per quantity and what is compressed, with the most clients, over the group that compresses nothing."""
    crowd = run.table[run.table["clients"] == run.table["clients"].max()]
    added = run.with_table(crowd.assign(cpu_us=crowd["primary_cpu_us"] + crowd["replica_cpu_us"]))
    parts = []
    for column, quantity in QUANTITIES_OF_GROUP.items():
        part = rows_by("clients", y=column, keep=())(added).rename(columns={column: "value"})
        part.insert(1, "quantity", quantity)
        parts.append(part)
    table = over(pd.concat(parts, ignore_index=True), "over_none", "series == 'none'", "quantity")
    return table.query("series != 'none'").reset_index(drop=True)


@figure("own-binlog-group-replication", rows=_rows_of_own_binlog_group_replication, picture=_OF_GROUP)
def own_binlog_group_replication(table: Rows) -> Words:
    """Our own figure: bytes, CPU time and throughput of a group of three live servers, by what it compresses, over the same without."""
    of = _OF_GROUP.values(table)
    said = "; ".join(
        f"{quantity} {each(of.xs(quantity, level='quantity')[list(COMPRESSED_IN_GROUP)])}"
        for quantity in QUANTITIES_OF_GROUP.values()
    )
    return Words(
        alt=f"Dots per transaction over the group that compresses nothing, by what is compressed. {said}.",
        caption=f"A group of three servers and {int(table['clients'].iloc[0])} clients, over the same without compression: {said}.",
    )
