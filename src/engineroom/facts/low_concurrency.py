"""The facts of `book/low_concurrency.md`. CPU times are the servers', the least of the repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from engineroom import paths
from engineroom.compare import EQUAL_SETTINGS
from engineroom.experiments.low_concurrency import live
from engineroom.facts import Facts, fact
from engineroom.figures.drawing import origin_of
from engineroom.figures.table import Table
from engineroom.runs import Run, newest
from engineroom.summary import summarise

__all__ = ["LowConcurrencyFacts", "facts"]


def _servers(run: Run) -> list[str]:
    return list(dict.fromkeys(run.table["series"]))


def _cpu_us(run: Run) -> pd.DataFrame:
    """By operation and server, both in the order of the recording."""
    cells = summarise(run.table, "operation", "series", y="server_cpu_us", how=run.summary, sort=False)
    wide = cells.pivot_table(index="operation", columns="series", values="server_cpu_us", sort=False)
    return wide[_servers(run)]


@dataclass(frozen=True, kw_only=True)
class Operations(Facts):
    """What operations of one client cost, the newest server over 5.7 (own-low-concurrency-operations)."""

    old_server: str = fact()
    new_server: str = fact()
    measured: int = fact()
    dearer: int = fact()
    insert_ratio: float = fact("{:.2f}")
    point_select_ratio: float = fact("{:.2f}")
    full_scan_ratio: float = fact("{:.2f}")
    old_log_writes_per_row: float = fact("{:.1f}")
    new_log_writes_per_row: float = fact("{:.1f}")
    scan_mcalls_per_s: float = fact("{:.0f}")  # fields that a full scan converts, millions per CPU second
    table: Table

    @classmethod
    def of(cls, run: Run) -> Operations:
        cpu_us, servers = _cpu_us(run), _servers(run)
        old, new = next(server for server in servers if server.startswith("5.7")), servers[-1]
        ratio = cpu_us[new] / cpu_us[old]
        log_writes = run.values(
            "series",
            y="per_operation",
            table="counters",
            where="operation == 'insert rows' and counter == 'Innodb_log_write_requests'",
        )
        scanned = next(operation for operation in live.OPERATIONS if operation.name == "full scan")
        return cls(
            old_server=old,
            new_server=new,
            measured=len(ratio),
            dearer=int((ratio > 1).sum()),
            insert_ratio=ratio["insert rows"],
            point_select_ratio=ratio["point select"],
            full_scan_ratio=ratio["full scan"],
            old_log_writes_per_row=log_writes[old],
            new_log_writes_per_row=log_writes[new],
            scan_mcalls_per_s=scanned.fields / cpu_us[new]["full scan"],
            table=_operations_table(run, cpu_us, ratio.rename(f"{new} over {old}")),
        )


def _operations_table(run: Run, cpu_us: pd.DataFrame, ratio: pd.Series[float]) -> Table:
    units = run.table.groupby("operation", sort=False)["unit"].first().rename("per")
    shown = pd.concat([units, cpu_us.map("{:,.2f}".format), ratio.map("{:.2f}".format)], axis=1)
    return Table(
        shown.rename_axis("operation").reset_index(),
        "Server CPU microseconds of ten operations, by generation.",
        origin_of(run),
    )


@dataclass(frozen=True, kw_only=True)
class Memory(Facts):
    """What a row of an INSERT keeps in memory: a line through several widths, and rows of one value (num-deg-1, live)."""

    old_row_bytes: float = fact("{:.0f}")
    early_row_bytes: float = fact("{:.0f}")  # 8.0.15
    new_row_bytes: float = fact("{:.0f}")
    old_value_bytes: float = fact("{:.0f}")
    new_value_bytes: float = fact("{:.0f}")
    old_narrow_row_bytes: float = fact("{:.0f}")
    new_narrow_row_bytes: float = fact("{:.0f}")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Memory:
        fitted = run.tables["fitted"].set_index("series")
        narrow = run.tables["measured"].query("columns == 1").set_index("series")["bytes_per_row_with_items"]
        old, early, new = (
            next(server for server in fitted.index if server.startswith(generation))
            for generation in ("5.7", "8.0", "9.")
        )
        rows, of_values = fitted["bytes_per_row"], fitted["bytes_per_value"]
        shown = fitted.map("{:.0f}".format).rename(
            columns={"bytes_per_value": "bytes per value", "bytes_per_row": "bytes per row"}
        )
        return cls(
            old_row_bytes=rows[old],
            early_row_bytes=rows[early],
            new_row_bytes=rows[new],
            old_value_bytes=of_values[old],
            new_value_bytes=of_values[new],
            old_narrow_row_bytes=narrow[old],
            new_narrow_row_bytes=narrow[new],
            table=Table(
                shown.reset_index(),
                "Memory of one more row of an INSERT: a fixed part, and a part for each value.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Kernels(Facts):
    """Two causes alone: the list of a row of one value (own-low-concurrency-lists), the commit of a mini-transaction (num-deg-3)."""

    list_ratio: float = fact("{:.1f}")
    mtr_5_7_ns: float = fact("{:.0f}")
    mtr_8_0_ns: float = fact("{:.0f}")
    mtr_threads_off_ns: float = fact("{:.0f}")

    @classmethod
    def of(cls, lists: Run, *, commits: Run) -> Kernels:
        row_ns = lists.values("columns", "series", y="row_ns")[1]
        mtr_ns = commits.values("threads", "series", y="cpu_ns")[1]
        return cls(
            list_ratio=row_ns["deque_9_7"] / row_ns["list_5_7"],
            mtr_5_7_ns=mtr_ns["mtr_5_7"],
            mtr_8_0_ns=mtr_ns["mtr_8_0"],
            mtr_threads_off_ns=mtr_ns["mtr_8_0_writer_threads_off"],
        )


@dataclass(frozen=True, kw_only=True)
class Share(Facts):
    """How much of what an operation loses all causes explain together (own-low-concurrency-share)."""

    insert_percent: float = fact("{:.0f}")
    insert_least_percent: float = fact("{:.0f}")
    insert_most_percent: float = fact("{:.0f}")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Share:
        is_whole = run.table["series"] == "all causes"
        whole = run.table[is_whole].set_index("operation")
        parts = run.table[~is_whole].pivot_table(
            index="operation", columns="series", values="explained_ns", sort=False
        )
        shown = parts.assign(**{"measured difference": whole["difference_ns"]}).map("{:.1f}".format)
        return cls(
            insert_percent=100 * whole["share"]["insert rows"],
            insert_least_percent=100 * whole["share_low"]["insert rows"],
            insert_most_percent=100 * whole["share_high"]["insert rows"],
            table=Table(
                shown.reset_index(),
                "Nanoseconds per operation that each cause explains, and the difference that was measured.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class LowConcurrencyFacts(Facts):
    """All that the page tells, by recording."""

    operations: Operations
    memory: Memory
    kernels: Kernels
    share: Share
    join_mcalls_per_s: float = fact(
        "{:.1f}"
    )  # fields that the join by index converts, millions per CPU second
    independent: Table
    settings: Table


def independent(published: pd.DataFrame) -> Table:
    """What others measured of the same question; one entry is of a fork of the server."""
    bears = published["bears_on"].isin(["degradation", "fig-deg-2", "num-deg-1", "art-ch7"])
    is_fork = published["id"].str.startswith("percona-lab-2026-percona")
    return Table(
        published[bears & ~is_fork][["who", "measured", "numbers", "bearing"]].reset_index(drop=True),
        "Independent measurements, as published, with those that contradict.",
    )


def settings(equal: Mapping[str, str | int | bool]) -> Table:
    """The settings that are made equal, as an option file says them."""
    said = ["on" if value is True else str(value) for value in equal.values()]
    return Table(
        pd.DataFrame({"setting": list(equal), "value": said}),
        "Settings that are the same on all servers of this chapter.",
    )


def facts() -> LowConcurrencyFacts:
    """From the newest recordings."""
    published = pd.read_csv(paths.data() / "published" / "independent.csv", keep_default_na=False)
    calls = newest("num-deg-2", "live").values("series", y="value")
    return LowConcurrencyFacts(
        operations=Operations.of(newest("own-low-concurrency-operations", "live")),
        memory=Memory.of(newest("num-deg-1", "live")),
        kernels=Kernels.of(
            newest("own-low-concurrency-lists", "kernel"), commits=newest("num-deg-3", "kernel")
        ),
        share=Share.of(newest("own-low-concurrency-share", "live")),
        join_mcalls_per_s=calls["hot_calls_per_second"] / 1e6,
        independent=independent(published),
        settings=settings(EQUAL_SETTINGS),
    )
