"""The facts of `book/binlog.md`: bytes per transaction under each setting, and what compressing costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from engineroom.chapters.binlog import figures as drawn
from engineroom.chapters.binlog.figures import own_binlog_levels
from engineroom.facts import Facts, Range, fact, listed, span
from engineroom.runs import Run, newest, published
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["BinlogFacts", "facts"]

FULL, MINIMAL = "full, uncompressed", "minimal, uncompressed"
PACKED, BOTH = "full, zstd 3", "minimal, zstd 3"


@dataclass(frozen=True, kw_only=True)
class Sizes(Facts):
    """Bytes per TPC-C transaction in a server's log, and what each setting leaves of them (own-binlog-transactions, live)."""

    transactions: int = fact("{:,}")
    mix_bytes: float = fact("{:,.0f}")
    new_order_bytes: float = fact("{:,.0f}")
    payment_bytes: float = fact("{:,.0f}")
    minimal_percent: float = fact("{:.0f} %")
    packed_percent: float = fact("{:.0f} %")
    both_percent: float = fact("{:.0f} %")
    new_order_minimal_percent: float = fact("{:.0f} %")
    new_order_packed_percent: float = fact("{:.0f} %")
    payment_minimal_percent: float = fact("{:.0f} %")
    payment_packed_percent: float = fact("{:.0f} %")

    @classmethod
    def of(cls, run: Run) -> Sizes:
        size = run.values("series", "kind", y="bytes_per_txn")

        def percent(series: str, kind: str = "mix") -> float:
            return 100 * float(size[series, kind]) / float(size[FULL, kind])

        counted = run.table.query(f"kind == 'mix' and series == '{FULL}'")["transactions"]
        return cls(
            transactions=int(counted.sum()),
            mix_bytes=size[FULL, "mix"],
            new_order_bytes=size[FULL, "new_order"],
            payment_bytes=size[FULL, "payment"],
            minimal_percent=percent(MINIMAL),
            packed_percent=percent(PACKED),
            both_percent=percent(BOTH),
            new_order_minimal_percent=percent(MINIMAL, "new_order"),
            new_order_packed_percent=percent(PACKED, "new_order"),
            payment_minimal_percent=percent(MINIMAL, "payment"),
            payment_packed_percent=percent(PACKED, "payment"),
        )


@dataclass(frozen=True, kw_only=True)
class Kernel(Facts):
    """How far the kernel's bytes of the same transactions are from the server's, over all kinds and repeats."""

    uncompressed_differ_bytes: float = fact("{:,.0f}")
    packed_differ_percent: float = fact("{:.1f} %")

    @classmethod
    def of(cls, kernel: Run, live: Run) -> Kernel:
        ours, theirs = (
            run.table.set_index(["series", "kind", "repeat"])["bytes_per_txn"] for run in (kernel, live)
        )
        apart = (ours - theirs).abs()
        packed = [PACKED, BOTH]
        return cls(
            uncompressed_differ_bytes=float(apart.loc[[FULL, MINIMAL]].max()),
            packed_differ_percent=float((100 * apart / theirs).loc[packed].max()),
        )


@dataclass(frozen=True, kw_only=True)
class Levels(Facts):
    """What levels of zstd leave of three kinds of rows, and what they cost (own-binlog-levels)."""

    never: str = fact()
    never_without_one: str = fact()  # whichever of the repeats is left out
    orders_unit_bytes: float = fact("{:,.0f}")
    orders_first_percent: float = fact("{:.0f} %")
    orders_third_percent: float = fact("{:.0f} %")
    orders_last_percent: float = fact("{:.0f} %")
    orders_last_over_first_ratio: float = fact("{:.0f}")
    documents_first_percent: float = fact("{:.0f} %")
    digests_first_percent: float = fact("{:.0f} %")
    third_us_per_txn: float = fact("{:.0f} us")
    nineteenth_us_per_txn: float = fact("{:,.0f} us")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Levels:
        rows = own_binlog_levels.rows(run)
        of = {kind: drawn.points(rows, kind) for kind in drawn.KINDS_OWN_BINLOG_LEVELS}
        orders = of["orders"]
        first, last = 1, int(orders.index.max())
        unit_bytes = float(run.values("series", y="unit_bytes")["orders"])
        shown = [
            {
                "rows": drawn.KINDS_OWN_BINLOG_LEVELS[kind],
                "level": str(level),
                "bytes left": f"{100 * points['ratio'][level]:.0f} %",
                "CPU, us per kB": f"{points['cpu_ns_per_byte'][level]:.0f}",
            }
            for kind, points in of.items()
            for level in drawn.worth(points)
            if level > 0
        ]
        return cls(
            never=_said(drawn.never_worth(rows)),
            never_without_one=_said(_never_without_one(run)),
            orders_unit_bytes=unit_bytes,
            orders_first_percent=100 * orders["ratio"][first],
            orders_third_percent=100 * orders["ratio"][3],
            orders_last_percent=100 * orders["ratio"][last],
            orders_last_over_first_ratio=orders["cpu_ns_per_byte"][last] / orders["cpu_ns_per_byte"][first],
            documents_first_percent=100 * of["documents"]["ratio"][first],
            digests_first_percent=100 * of["digests"]["ratio"][first],
            third_us_per_txn=orders["cpu_ns_per_byte"][3] * unit_bytes / 1000,
            nineteenth_us_per_txn=orders["cpu_ns_per_byte"][19] * unit_bytes / 1000,
            table=Table(
                pd.DataFrame(shown),
                "The levels that are the cheapest at some prices of disk and CPU.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Cpu(Facts):
    """CPU time of the whole server per transaction beside no compression and full images (own-binlog-cpu)."""

    plain_us: float = fact("{:,.0f} us")
    packed_more_percent: float = fact("{:+.0f} %")
    nineteenth_more_us: float = fact("{:,.0f} us")
    minimal_more_percent: float = fact("{:+.0f} %")
    spread_ratio: float = fact("{:.1f}")

    @classmethod
    def of(cls, run: Run) -> Cpu:
        us = run.values("setting", y="server_cpu_us")
        of_setting = run.table.groupby("setting")["server_cpu_us"]
        return cls(
            plain_us=us[FULL],
            packed_more_percent=100 * (us[PACKED] / us[FULL] - 1),
            nineteenth_more_us=us["full, zstd 19"] - us[FULL],
            minimal_more_percent=100 * (us[MINIMAL] / us[FULL] - 1),
            spread_ratio=float((of_setting.max() / of_setting.min()).max()),
        )


@dataclass(frozen=True, kw_only=True)
class Throughput(Facts):
    """Throughput with compression and with minimal images over the plain one (fig-7-26, fig-7-28, own-binlog-places; sim)."""

    packed_ratio: Mapping[int, float] = fact("{:.3f}", keys=(50, 2000))
    images_ratio: Range = fact(span("{:.3f}", ""))
    session_ratio: float = fact("{:.2f}")
    leader_ratio: float = fact("{:.2f}")
    free_ratio: float = fact("{:.2f}")
    clients: int = fact()  # of the last three
    compress_us: float = fact("{:.0f} us")
    computing_us: float = fact("{:,.0f} us")

    @classmethod
    def of(cls, compression: Run, images: Run, places: Run) -> Throughput:
        packed = _over(compression, "compressed", "uncompressed")
        minimal = _over(images, "minimal", "full")
        load = compression.provenance["load"]
        crowd = int(places.table["concurrency"].max())
        by_place = {
            place: float(_over(places, place, "uncompressed")[crowd])
            for place in ("session", "leader", "nowhere")
        }
        return cls(
            packed_ratio={n: float(packed[n]) for n in (50, 2000)},
            images_ratio=Range(float(minimal.min()), float(minimal.max())),
            session_ratio=by_place["session"],
            leader_ratio=by_place["leader"],
            free_ratio=by_place["nowhere"],
            clients=crowd,
            compress_us=load["compressed_compress_ns"] / 1000,
            computing_us=load["statements"] * load["statement_ns"] / 1000,
        )


def _over(run: Run, series: str, base: str) -> pd.Series[float]:
    """Throughput of one series over another's, by clients."""
    of = run.values("series", "concurrency", y="tpmC")
    found: pd.Series[float] = of[series] / of[base]
    return found


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """What the source measured: throughput with compression over without (7-26), and bytes (7-27, 7-29)."""

    worst_throughput_ratio: float = fact("{:.2f}")
    packed_percent: float = fact("{:.0f} %")
    minimal_percent: float = fact("{:.0f} %")

    @classmethod
    def of(cls, throughput: pd.DataFrame, packed: pd.DataFrame, minimal: pd.DataFrame) -> Published:
        by_series = throughput.pivot_table(index="concurrency", columns="series", values="tpmC")
        sizes = pd.concat([packed, minimal]).set_index("setting")["binlog_gb"]
        return cls(
            worst_throughput_ratio=float((by_series["compressed"] / by_series["uncompressed"]).min()),
            packed_percent=100 * sizes["compressed"] / sizes["uncompressed"],
            minimal_percent=100 * sizes["minimal"] / sizes["full"],
        )


@dataclass(frozen=True, kw_only=True)
class BinlogFacts(Facts):
    """All numbers of the page, a group for each recording."""

    sizes: Sizes
    kernel: Kernel
    levels: Levels
    cpu: Cpu
    throughput: Throughput
    published: Published


def facts() -> BinlogFacts:
    """From the newest recordings."""
    live = newest("own-binlog-transactions", "live")
    return BinlogFacts(
        sizes=Sizes.of(live),
        kernel=Kernel.of(newest("own-binlog-transactions", "kernel"), live),
        levels=Levels.of(newest("own-binlog-levels", "kernel")),
        cpu=Cpu.of(newest("own-binlog-cpu", "live")),
        throughput=Throughput.of(
            newest("fig-7-26", "sim"), newest("fig-7-28", "sim"), newest("own-binlog-places", "sim")
        ),
        published=Published.of(*(published.rows(figure) for figure in ("fig-7-26", "fig-7-27", "fig-7-29"))),
    )


def _never_without_one(run: Run) -> list[int]:
    """The levels that pay for no kind of rows, whichever repeat is left out: CPU times of a busy machine are not exact."""
    left = [
        replace(run, table=run.table[run.table["repeat"] != repeat]) for repeat in set(run.table["repeat"])
    ]
    never = [set(drawn.never_worth(own_binlog_levels.rows(each))) for each in left]
    return sorted(set.intersection(*never))


def _said(levels: list[int]) -> str:
    """Levels in words: "2, 7 to 9, and 12"."""
    runs: list[list[int]] = []
    for level in levels:
        if runs and runs[-1][-1] == level - 1:
            runs[-1].append(level)
        else:
            runs.append([level])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return listed(parts) or "none"
