"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from engineroom.show.figure import figure
from engineroom.show.parts import (
    Curves,
    Dots,
    Rows,
    Run,
    Words,
    compared,
    ends,
    ours,
    rows_by,
    values,
    with_width,
)

LABELS_FIG_7_07 = {"before": "one mutex", "after": "shards"}


@figure(
    "fig-7-07",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_07, x_label="clients", y_label="New-Orders per minute"),
)
def fig_7_07(table: Rows) -> Words:
    """Figure 7-7: throughput of TPC-C with one mutex over all row locks and with shards."""
    return compared(
        table, LABELS_FIG_7_07, "New-Orders per minute", over="after", under="before", in_one_unit=True
    )


SETTING = "innodb_print_all_deadlocks"

ON = "on"

_rows = rows_by("server", y="lines", keep=["bytes", "deadlocks"])


def _rows_of_fig_7_16(run: Run) -> Rows:
    """All repeats; the series is the setting, the place the server's release. No number of lines is published."""
    return _rows(run.with_table(run.table.drop(columns="series").rename(columns={SETTING: "series"})))


def _bytes(table: Rows) -> dict[str, float]:
    """Bytes per deadlock with the setting on, by server."""
    on = table[table["series"] == ON]
    return {str(server): float(each) for server, each in values(on, "server", y="bytes").items()}


def _named(table: Rows) -> dict[str, str]:
    return {server: f"MySQL {server}\n{each:,.0f} bytes" for server, each in _bytes(table).items()}


SERIES, LABEL = {ON: f"{SETTING} = ON", "off": "OFF"}, "lines of error log per deadlock"


@figure(
    "fig-7-16", rows=_rows_of_fig_7_16, picture=Dots(by="server", rows=_named, series=SERIES, label=LABEL)
)
def fig_7_16(table: Rows) -> Words:
    """What one deadlock adds to the error log, with innodb_print_all_deadlocks on and off: lines, and beside each server's name bytes."""
    on, size, quiet = ours(table)[ON], _bytes(table), f"{ours(table)['off'].max():,.3g}"
    said = ", ".join(
        f"{server} {on[server]:,.0f} lines and {each:,.0f} bytes" for server, each in size.items()
    )
    return Words(
        alt=f"Dots of lines that one deadlock adds to the error log of a MySQL server. On: {said}. Off: at most {quiet} lines.",
        caption=f"A deadlock of two sessions over two rows adds {on.min():,.0f} to {on.max():,.0f} lines, {min(size.values()):,.0f} to "
        f"{max(size.values()):,.0f} bytes, to the error log when {SETTING} is on, and {quiet} when it is off.",
    )


LABELS_LATCHES = {
    "sharded": "512 shards, 9.7",
    "sharded_one_part": "global latch in one part",
    "sharded_one_shard": "one shard",
    "one_mutex": "one mutex, 5.7",
}

SHORT = {"sharded": "512 shards", "sharded_one_part": "one part", "one_mutex": "one mutex"}

_picture_of_own_lock_latches = Curves(
    labels=LABELS_LATCHES, narrow=SHORT, x_label="clients", y_label="row locks per second"
)


@figure(
    "own-lock-latches",
    rows=rows_by("clients", y="row_locks_per_second"),
    picture=_picture_of_own_lock_latches,
)
def own_lock_latches(table: Rows) -> Words:
    """Our own figure: row locks per second of clients that share no row, by what guards the queues, simulated."""
    last = table["clients"].max()
    at_last = _picture_of_own_lock_latches.values(table)[:, last]
    over = at_last["sharded"] / at_last
    return Words(
        alt=_picture_of_own_lock_latches.alt(table, "{:,.0f}", told=ends, more="The clients share no row."),
        caption=f"In our model, with {last} clients on rows of their own, 512 shards let {over['one_mutex']:.1f} times as many locks through as one mutex, "
        f"{over['sharded_one_shard']:.1f} times as many as one shard, and {over['sharded_one_part']:.1f} times as many as with the global latch "
        "in one part.",
    )
