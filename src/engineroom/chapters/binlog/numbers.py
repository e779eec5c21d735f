"""What `book/binlog.md` tells: bytes per transaction under each setting, and what compressing costs."""

from __future__ import annotations

import pandas as pd

from engineroom.chapters.binlog import figures
from engineroom.runs import Run, newest, published
from engineroom.runs.summary import several
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

_FULL, _MINIMAL = "full, uncompressed", "minimal, uncompressed"
_PACKED = ["full, zstd 3", "minimal, zstd 3"]

# TPC-C's transactions in a server's log, by setting and kind of transaction, and as the kernel writes the same ones.
_live, _kernel = (newest("own-binlog-transactions", method) for method in ("live", "kernel"))
late, new = sorted(set(_live.table["server"]), key=release)
by_server = _live.values("server", "series", "kind", y="bytes_per_txn")
txn_bytes = by_server[late]
left_percent = 100 * txn_bytes.div(txn_bytes[_FULL], level="kind")
transactions = _live.table.query(f"kind == 'mix' and series == '{_FULL}' and server == '{late}'")[
    "transactions"
].sum()
_where = ["series", "kind", "repeat"]
_theirs = _live.table.set_index(["server", *_where])["bytes_per_txn"]
_apart = _theirs.unstack("server").sub(_kernel.table.set_index(_where)["bytes_per_txn"], axis="index").abs()
uncompressed_differ_bytes = _apart.loc[[_FULL, _MINIMAL]].max().max()
packed_differ_percent = (100 * _apart / _theirs.unstack("server")).loc[_PACKED].max()  # by server

_levels = newest("own-binlog-levels", "kernel")
_level_rows = figures.own_binlog_levels.rows(_levels)
points = {kind: figures.points(_level_rows, kind) for kind in figures.KINDS_LEVELS}
last_level = int(points["orders"].index.max())
order_bytes = _levels.values("series", y="unit_bytes")["orders"]
order_us = points["orders"]["cpu_ns_per_byte"] * order_bytes / 1000  # of compressing a transaction, by level
never_worth = figures.never_worth(_level_rows)

_cpu = newest("own-binlog-cpu", "live")
cpu_us = _cpu.values("setting", y="server_cpu_us")  # of the whole server, per transaction
_repeats_us = _cpu.table.groupby("setting")["server_cpu_us"]
cpu_spread_ratio = (_repeats_us.max() / _repeats_us.min()).max()


def over(run: Run, base: str) -> pd.Series[float]:
    """Throughput of each series over that of one, with as many clients."""
    tpm = run.values("series", "concurrency", y="tpmC")
    ratio: pd.Series[float] = tpm.div(tpm[base], level="concurrency")
    return ratio


_compression, _places = newest("fig-7-26", "sim"), newest("own-binlog-places", "sim")
compressed_ratio = over(_compression, "uncompressed")["compressed"]
images_ratio = over(newest("fig-7-28", "sim"), "full")["minimal"]
crowd = int(_places.table["concurrency"].max())
place_ratio = over(_places, "uncompressed").xs(crowd, level="concurrency")
_load = _compression.provenance["load"]
compress_us, computing_us = (
    _load["compressed_compress_ns"] / 1000,
    _load["statements"] * _load["statement_ns"] / 1000,
)

_published_tpm = published.rows("fig-7-26").pivot(index="concurrency", columns="series", values="tpmC")
published_ratio = _published_tpm["compressed"] / _published_tpm["uncompressed"]
published_gb = pd.concat([published.rows(figure) for figure in ("fig-7-27", "fig-7-29")]).set_index(
    "setting"
)["binlog_gb"]


def surely_never_worth(run: Run = _levels) -> list[int]:
    """The levels that pay for no kind of rows, whichever repeat is left out: CPU times of a busy machine are not exact."""
    left = [run.with_table(run.table[run.table["repeat"] != repeat]) for repeat in set(run.table["repeat"])]
    never = [set(figures.never_worth(figures.own_binlog_levels.rows(each))) for each in left]
    return sorted(set.intersection(*never))


def levels_table() -> Table:
    """What the levels that pay leave, and what they cost."""
    shown = [
        {
            "rows": figures.KINDS_LEVELS[kind],
            "level": str(level),
            "bytes left": f"{100 * of['ratio'][level]:.0f} %",
            "CPU, us per kB": f"{of['cpu_ns_per_byte'][level]:.0f}",
        }
        for kind, of in points.items()
        for level in figures.worth(of)
        if level > 0
    ]
    caption = "The levels that are the cheapest at some prices of disk and CPU."
    return Table(pd.DataFrame(shown), caption, origin_of(_levels))


group = newest("own-binlog-group-replication", "live")
_of_group = group.table.assign(cpu_us=group.table["primary_cpu_us"] + group.table["replica_cpu_us"])
in_group = several(
    _of_group,
    *("series", "clients"),
    ys=[
        "sent_bytes",
        "binlog_bytes",
        "replica_binlog_bytes",
        "primary_cpu_us",
        "replica_cpu_us",
        "cpu_us",
        "tps",
    ],
    how="median",
)
group_clients = sorted(set(group.table["clients"]))
_repeats_per_second = group.table.groupby(["series", "clients"])["tps"]
group_spread = (_repeats_per_second.max() / _repeats_per_second.min()).max()
over_plain = in_group.div(in_group.loc["none"], level="clients")  # by what is compressed, and clients


def group_came_out() -> list[bool]:
    """Which expectations the run has, in the order in which they were written down; one that was not quiet enough decides none."""
    from engineroom.chapters.binlog.experiments.group_replication import CLAIMS

    return [bool(is_so(group)) for is_so in CLAIMS.values()] if not group.why_busy else []


def group_table() -> Table:
    """A row per number of clients and what is compressed: per transaction, and per second."""
    rows = [
        {
            "clients": str(clients),
            "compressed": series,
            "bytes sent": f"{of['sent_bytes']:,.0f}",
            "primary's log": f"{of['binlog_bytes']:,.0f}",
            "each other's log": f"{of['replica_binlog_bytes']:,.0f}",
            "CPU, primary": f"{of['primary_cpu_us']:,.0f} us",
            "CPU, the two others": f"{of['replica_cpu_us']:,.0f} us",
            "per second": f"{of['tps']:,.0f}",
        }
        for clients in group_clients
        for series in dict.fromkeys(group.table["series"])
        for of in [in_group.loc[series, clients]]
    ]
    caption = "A group of three servers: bytes and CPU time per transaction of TPC-C, and transactions per second, medians of the repeats."
    return Table(pd.DataFrame(rows), caption, origin_of(group))
