"""The facts of `book/engine.md`: what statements ask of a server with one client, and where a crowd waits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engineroom.chapters.engine.experiments import (
    binlog,
    binlog_beside,
    held,
    hold_times,
    latch_order,
    pool,
    purge,
    tpcc_beside,
    whatif_beside,
)
from engineroom.chapters.engine.experiments.beside_servers import factors
from engineroom.chapters.engine.experiments.demands import WAREHOUSES, as_with, measured_again
from engineroom.facts import Facts, Range, came_out, fact, failed, listed, span
from engineroom.ledger import judge, sensitivity
from engineroom.runs import Run, newest, recorded
from engineroom.runs.summary import several, summarise, values
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.simulating.variations import SEED

__all__ = [
    "BinaryLog",
    "BinaryLogBeside",
    "BufferPool",
    "Demands",
    "DemandsAgain",
    "EngineFacts",
    "Held",
    "HoldTimes",
    "LatchOrder",
    "NextQueue",
    "Purge",
    "TpccBeside",
    "Varied",
    "Warehouses",
    "WhatIf",
    "facts",
]

OLD, NEW = "5.7.22", "9.7.4"
SHOWN = "update_non_index"
CROWD = 300
_LATCHES = ("_mutex", "_rw_lock")
_ALL = "redo and locks and trx"
_LONGEST_WAITS = 4
_GOAL = 1.5  # by which waits and deadlocks may be off
_LEAST = 4  # of own-demands, the last recording of which the least batches counted
_OFTEN = 0.01  # of a server's CPU time
# Smaller pools, by what they hold of the pages.
_SHARES = {"half": "half", "quarter": "a quarter", "tenth": "a tenth"}
_FALLEN = 0.5  # of the throughput with old parts
# innodb_sync_spin_loops, and the mean number of pauses between two looks: innodb_spin_wait_delay 6, halved, times 50.
_ROUNDS, _MEAN_PAUSES = 30, 150
_TRANSACTIONS: Mapping[tuple[str, str], str] = {
    ("sysbench_read_write", "read_write"): "SysBench read-write",
    ("tpcc_1", "new_order"): "New-Order",
    ("tpcc_1", "payment"): "Payment",
    ("tpcc_1", "delivery"): "Delivery",
    ("tpcc_1", "order_status"): "Order-Status",
    ("tpcc_1", "stock_level"): "Stock-Level",
}
# Column of the page -> column of the recording, per transaction.
_SUMS = {
    "lock latches": "lock_sys_acquisitions",
    "trx latches": "trx_sys_acquisitions",
    "mini-transactions": "mtrs",
    "redo bytes": "redo_bytes",
}


@dataclass(frozen=True, kw_only=True)
class Demands(Facts):
    """Each statement's demands, summed over SysBench's read-write transaction and TPC-C's five (own-demands)."""

    statements: int = fact()
    old_lock_latches_per_transaction: float = fact("{:.0f}")
    new_lock_latches_per_transaction: float = fact("{:.0f}")
    old_trx_latches_per_transaction: float = fact("{:.0f}")
    new_trx_latches_per_transaction: float = fact("{:.0f}")
    old_cpu_us: float = fact("{:,.0f} us")
    new_cpu_us: float = fact("{:,.0f} us")
    # Transactions behind the CPU times: of SysBench's, and of the seldomest of TPC-C's.
    read_write_executions: int = fact("{:,}")
    seldomest_executions: int = fact("{:,}")
    others_load: float = fact("{:.1f}")
    apart_percent: float = fact(
        "{:.0f} %"
    )  # the quartiles of the batches, over their median; of the statements the median
    earlier_percent: Range = fact(
        span("{:.0f}", "%")
    )  # of a transaction, what engines computed for before, of what they do now
    table: Table

    @classmethod
    def of(cls, run: Run, before: Run) -> Demands:
        """`before` is the recording whose least batches engines computed for until this one."""
        rows = run.table
        sums = {
            tuple(map(str, key)): {
                column: float((part[column] * part["per_transaction"]).sum())
                for column in ("cpu_us", *_SUMS.values())
            }
            for key, part in rows.groupby(["load", "transaction", "server"])
        }
        shown = [
            {
                "transaction": said,
                **{
                    f"{name}, {server}": f"{sums[*key, server][column]:,.0f}"
                    for name, column in _SUMS.items()
                    for server in (OLD, NEW)
                },
            }
            for key, said in _TRANSACTIONS.items()
            if {(*key, OLD), (*key, NEW)} <= set(sums)
        ]
        read_write = next(iter(_TRANSACTIONS))
        old, new = sums[*read_write, OLD], sums[*read_write, NEW]
        commits = rows[rows["statement"] == "commit"]
        executions = commits.groupby(["load", "transaction"])["executions"].min()
        return cls(
            statements=len(rows[["load", "transaction", "statement"]].drop_duplicates()),
            old_lock_latches_per_transaction=old["lock_sys_acquisitions"],
            new_lock_latches_per_transaction=new["lock_sys_acquisitions"],
            old_trx_latches_per_transaction=old["trx_sys_acquisitions"],
            new_trx_latches_per_transaction=new["trx_sys_acquisitions"],
            old_cpu_us=old["cpu_us"],
            new_cpu_us=new["cpu_us"],
            read_write_executions=int(executions[read_write]),
            seldomest_executions=int(executions.min()),
            others_load=float(run.provenance["during"]["load_before"]),
            apart_percent=100 * float((rows["cpu_us_iqr"] / rows["cpu_us"]).median()),
            earlier_percent=earlier_percent(rows, before.table),
            table=Table(
                pd.DataFrame(shown),
                "What one transaction asks for, with one client and no binary log.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class DemandsAgain(Facts):
    """The same statements of TPC-C with other transactions (own-demands-again)."""

    executions: int = fact("{:,}")  # of the seldomest kind, in both recordings
    apart_percent: float = fact("{:.1f} %")  # in the median of the statements
    most_apart_percent: float = fact("{:.0f} %")  # of those that have a hundredth of their server's CPU time
    most_apart: str = fact()
    others_load: float = fact("{:.1f}")

    @classmethod
    def of(cls, first: Run, again: Run) -> DemandsAgain:
        both = pd.concat([first.table, again.table])
        both = both[both["load"].isin(again.table["load"]) & (both["statement"] == "commit")]
        found = measured_again(first.table, again.table)
        off, farthest = _apart(found)
        return cls(
            executions=int(both.groupby(["server", "transaction"])["executions"].sum().min()),
            apart_percent=100 * float(off.median()),
            most_apart_percent=100 * float(farthest["off"]),
            most_apart=_statement(farthest),
            others_load=float(again.provenance["during"]["load_before"]),
        )


def _apart(found: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[Any]]:
    """How far each ratio is from 1, either way, and of the statements that have a hundredth of their server's CPU time the farthest."""
    off = found["ratio"].where(found["ratio"] >= 1, 1 / found["ratio"]) - 1
    often = found.assign(off=off)[found["share"] >= _OFTEN]
    return off, often.sort_values("off").iloc[-1]


def _statement(row: pd.Series[Any]) -> str:
    return f"{row['statement']} of {row['transaction']} on {row['server']}"


@dataclass(frozen=True, kw_only=True)
class Warehouses(Facts):
    """The same statements of TPC-C with ten warehouses, over what they take with one (own-demands-warehouses)."""

    ratio: float = fact("{:.2f}")  # in the median of the statements
    apart_percent: float = fact("{:.1f} %")
    most_ratio: float = fact(
        "{:.2f}"
    )  # the farthest from 1 of those that have a hundredth of their server's CPU time
    most: str = fact()
    others_load: float = fact("{:.1f}")

    @classmethod
    def of(cls, first: Run, ten: Run) -> Warehouses:
        found = measured_again(as_with("tpcc_1", first.table, WAREHOUSES), ten.table)
        off, farthest = _apart(found)
        return cls(
            ratio=float(found["ratio"].median()),
            apart_percent=100 * float(off.median()),
            most_ratio=float(farthest["ratio"]),
            most=_statement(farthest),
            others_load=float(ten.provenance["during"]["load_before"]),
        )


@dataclass(frozen=True, kw_only=True)
class HoldTimes(Facts):
    """How long a session is in the functions of a part, of servers and of engines (own-hold-times)."""

    told: str = fact()
    all_percent: Range = fact(span("{:.1f}", "%"))  # of the thread's CPU time, in all parts, by server
    engine_percent: Range = fact(span("{:.1f}", "%"))  # the same of engines
    locks_percent: Range = fact(
        span("{:.0f}", "%")
    )  # the engine's time for row and table locks, of its server's
    table: Table

    @classmethod
    def of(cls, run: Run) -> HoldTimes:
        rows = run.table.assign(percent=100 * run.table["cpu_us"] / run.table["thread_cpu_us"])
        cells = summarise(rows, "part", "server", "series", y="cpu_us", how="median", sort=False)
        cells["said"] = [
            f"{cell.cpu_us:.1f} ({cell.least:.1f} to {cell.most:.1f})"
            if cell.series == "server"
            else f"{cell.cpu_us:.1f}"
            for cell in cells.itertuples()
        ]
        shown = [
            {
                "part": part,
                "server": server,
                **{f"{series}'s": said for series, said in zip(cell["series"], cell["said"], strict=True)},
            }
            for (part, server), cell in cells.groupby(["part", "server"], sort=False)
        ]
        sums = (
            values(rows, "series", "server", "part", y="percent", how="median")
            .groupby(["series", "server"])
            .sum()
        )
        shares = {series: Range(of.min(), of.max()) for series, of in sums.groupby("series")}
        locks = [
            each
            for (_, part), each in hold_times.factors(run).items()
            if part == next(iter(hold_times.PARTS))
        ]
        return cls(
            told=_expected(run, hold_times.CLAIMS),
            all_percent=shares["server"],
            engine_percent=shares["engine"],
            locks_percent=Range(100 * min(locks), 100 * max(locks)),
            table=Table(
                pd.DataFrame(shown),
                "CPU time per transaction in the functions that take latches of a part, us; in brackets the least and the most of the runs.",
                origin_of(run),
            ),
        )


def earlier_percent(now: pd.DataFrame, before: pd.DataFrame) -> Range:
    """CPU time of a load's statements, each as often as its transaction has it now, by the least batches of `before` over that of `now`."""
    by = ["server", "load", "transaction", "statement"]
    both = now.set_index(by).join(before.set_index(by)["cpu_us_least"], how="inner")
    each = both[["cpu_us", "cpu_us_least"]].mul(both["per_transaction"], axis="index")
    sums = each.groupby(["server", "load"]).sum()
    percent = 100 * sums["cpu_us_least"] / sums["cpu_us"]
    return Range(percent.min(), percent.max())


@dataclass(frozen=True, kw_only=True)
class Held(Facts):
    """Verdicts on the figures of whole engines whose latches are held as long as a server's at most (own-engine-holds)."""

    told: str = fact()
    figures: int = fact()
    # What shards are worth in figure 7-7 with the most clients, over what they are worth as recorded; and to what a throughput behind it is known.
    more_percent: float = fact("{:+.0f} %")
    known_percent: float = fact("{:.0f} %")
    order_told: str = fact()  # the same of the figures in a server's order
    order_changed: str = fact()
    lock_us: Range = fact(span("{:.1f}", "us"))  # given to each lock that is created, by server
    redo_us: Range = fact(span("{:.2f}", "us"))  # to each mini-transaction
    view_us: Range = fact(span("{:.2f}", "us"))  # to each view
    changed: str = fact()  # the figures that have another verdict, with both
    table: Table

    @classmethod
    def of(cls, run: Run, in_order: Run) -> Held:
        given = run.tables["given"]
        added = {
            part: Range(us.min(), us.max())
            for part, us in (given["added_ns"] / 1000).groupby(given["part"], sort=False)
        }
        by_holds, by_order = _held_verdicts(run), _held_verdicts(in_order)
        verdicts = by_holds.merge(by_order, on=["figure", "recorded"], how="outer")
        turning = verdicts[verdicts.drop(columns="figure").nunique(axis="columns") > 1]
        return cls(
            told=_expected(run, {**_stays(by_holds, HELD_STAYS), **HELD_CLAIMS}),
            figures=len(verdicts),
            more_percent=100 * (_gained(run) - 1),
            known_percent=max(float(rows["half_width_percent"].max()) for rows in _with_and_without(run)),
            order_told=_expected(in_order, _stays(by_order, ORDER_STAYS)),
            order_changed=_changed(verdicts, next(iter(held.ORDERS))),
            **dict(zip(("lock_us", "redo_us", "view_us"), added.values(), strict=True)),
            changed=_changed(verdicts, next(iter(held.WAYS))),
            table=Table(
                turning.replace("_", " ", regex=True).assign(figure=turning["figure"].map(_short)),
                f"Verdicts that hang on how latches are held. As sampled: as long as a server's at most; half: by half of the difference. The other {len(verdicts) - len(turning)} "
                "figures have one verdict in all ways.",
                origin_of(in_order),
            ),
        )


def _expected(run: Run, claims: Mapping[str, Callable[[Run], bool]]) -> str:
    return " ".join(filter(None, [came_out(run, claims), failed(run, claims)]))


def _changed(verdicts: pd.DataFrame, way: str) -> str:
    """The figures that have another verdict than recorded, with both."""
    changed = verdicts[verdicts[way] != verdicts["recorded"]]
    said = [
        f"{_short(row['figure'])} ({row['recorded']} becomes {row[way]})".replace("_", " ")
        for row in changed.to_dict("records")
    ]
    return listed(said) or "none"


def _held_verdicts(run: Run) -> pd.DataFrame:
    """A row per figure: its verdict by its own recording, and for each way of holding latches."""
    rows = []
    for figure in run.tables:
        if figure == "given":
            continue
        own = newest(figure, "sim")
        ways = sensitivity.verdicts_by_way(own, run)
        rows.append({"figure": figure, "recorded": judge(own).verdict, **ways})
    return pd.DataFrame(rows).sort_values("figure", ignore_index=True)


def _stays(verdicts: pd.DataFrame, ways: Mapping[str, str]) -> dict[str, Callable[[Run], bool]]:
    """Of each way, whether all verdicts are those recorded."""
    stay = {way: bool((verdicts[way] == verdicts["recorded"]).all()) for way in ways.values()}
    return {says: lambda _, way=way: stay[way] for says, way in ways.items()}  # type: ignore[misc]


def _with_and_without(run: Run) -> list[pd.DataFrame]:
    """Of figure 7-7 the rows with the most clients: as recorded, and with latches held as sampled."""
    table = run.tables["fig-7-07"]
    both = (newest("fig-7-07", "sim").table, table[table["held"] == "as sampled"])
    return [rows[rows["concurrency"] == table["concurrency"].max()] for rows in both]


def _gained(run: Run) -> float:
    """What sharded row locks are worth in figure 7-7 with as many clients as there are, over what they are worth as recorded."""
    tps = [values(rows, "series", y="tps", how="median") for rows in _with_and_without(run)]
    recorded, sampled = (float(of["after"] / of["before"]) for of in tps)
    return sampled / recorded


# As they were written down before the recordings, but for the words: in which way all verdicts stay, and what else.
HELD_STAYS = {
    "all verdicts stay with latches held as sampled": "as sampled",
    "all verdicts stay with half of the difference": "half",
}
ORDER_STAYS = {
    "all verdicts stay in a server's order": "in a server's order",
    "all verdicts stay in it with latches held as sampled": "and as sampled",
}
HELD_CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "in figure 7-7 sharded row locks gain more with the most clients": lambda run: _gained(run) > 1,
}


@dataclass(frozen=True, kw_only=True)
class LatchOrder(Facts):
    """The latches of one UPDATE in their order (own-latch-order)."""

    old_events: int = fact()
    new_events: int = fact()
    old_share_percent: float = fact("{:.0f} %")
    new_share_percent: float = fact("{:.0f} %")
    compared: int = fact()  # statements and servers of which the engine's order is known, too
    same: int = fact()  # of these, with the engine in its own order
    same_in_servers: int = fact()  # with the engine in a server's order
    table: Table
    beside: Table

    @classmethod
    def of(cls, run: Run, engines: Run) -> LatchOrder:
        both = pd.DataFrame(latch_order.beside_engines(run, engines))
        own, servers = latch_order.ORDERS
        rows = run.table[run.table["statement"] == SHOWN]
        old, new = (rows[rows["server"] == server].sort_values("position") for server in (OLD, NEW))
        columns = {OLD: _together(old["latch"]), NEW: _together(new["latch"])}
        return cls(
            old_events=len(old),
            new_events=len(new),
            old_share_percent=100 * float(old["share"].iloc[0]),
            new_share_percent=100 * float(new["share"].iloc[0]),
            compared=len(both),
            same=int((both["server"] == both[own]).sum()),
            same_in_servers=int((both["server"] == both[servers]).sum()),
            beside=Table(
                both[both["server"] != both[own]]
                .assign(**{name: both[name].map(", ".join) for name in ("server", own)})
                .rename(columns={"server": "stations of the server", own: "of its engine"})
                .drop(columns=servers),
                "Statements of which a server and its engine visit the stations in different orders.",
                origin_of(engines),
            ),
            table=Table(
                pd.DataFrame(
                    list(itertools.zip_longest(*columns.values(), fillvalue="")), columns=list(columns)
                ),
                "The latches of an UPDATE by primary key inside a transaction, from top to bottom.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class NextQueue(Facts):
    """Where clients of the simulated 5.7 wait most, with its latches, with others, and with another redo log besides (fig-7-03, sim)."""

    clients: int = fact()
    original_latch: str = fact()
    original_wait_ms: float = fact("{:.1f} ms")
    patched_latch: str = fact()
    patched_wait_ms: float = fact("{:.0f} ms")
    new_redo_latch: str = fact()
    new_redo_wait_ms: float = fact("{:.2f} ms")
    unsettled_patched_runs: int = fact()
    patched_runs: int = fact()
    told: str = fact()  # the patched engine's throughput over the original one's, crowd by crowd

    @classmethod
    def of(cls, run: Run) -> NextQueue:
        waits = run.tables["latches"]
        crowd = waits[(waits["concurrency"] == CROWD) & waits["latch"].str.endswith(_LATCHES)]
        medians = values(crowd, "series", "latch", y="wait_us", how="median") / 1000
        worst = {name: medians[name] for name in ("original", "patched", "new_redo")}
        settled = run.table[run.table["series"] == "patched"]["is_settled"]
        tps = run.values("series", "concurrency", y="tps")
        ratios = tps.xs("patched") / tps.xs("original")
        return cls(
            clients=CROWD,
            original_latch=str(worst["original"].idxmax()),
            original_wait_ms=float(worst["original"].max()),
            patched_latch=str(worst["patched"].idxmax()),
            patched_wait_ms=float(worst["patched"].max()),
            new_redo_latch=str(worst["new_redo"].idxmax()),
            new_redo_wait_ms=float(worst["new_redo"].max()),
            unsettled_patched_runs=int((settled == 0).sum()),
            patched_runs=len(settled),
            told=listed(
                [
                    f"{ratio:{'.2f' if ratio >= 0.1 else '.2g'}} with {clients:,}"
                    for clients, ratio in ratios.items()
                ]
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Switches(Facts):
    """Throughput by which parts are new, over that with old parts and as many clients (own-engine-switches)."""

    clients: int = fact("{:,}")  # with the most of them
    redo_alone_ratio: float = fact("{:.2f}")
    trx_alone_ratio: float = fact("{:.2f}")
    all_three_ratio: float = fact("{:.2f}")
    redo_best_ratio: float = fact("{:.1f}")  # the new redo log alone, where it is worth most
    redo_best_clients: int = fact("{:,}")
    half_width_percent: float = fact("{:.0f} %")  # the widest of the throughputs behind these three
    combinations: int = fact()  # besides the one with old parts
    fallen: int = fact()  # those below half of old parts at some number of clients
    fallen_over_old_redo: int = fact()
    old_latch: str = fact()
    new_latch: str = fact()
    runs: int = fact()
    unsettled_runs: int = fact()

    @classmethod
    def of(cls, run: Run) -> Switches:
        tps = run.values("series", "concurrency", y="tps").unstack("concurrency")
        over = tps / tps.loc["none"]
        most = int(over.columns.max())
        waits = run.tables["latches"]
        crowd = waits[(waits["concurrency"] == most) & waits["latch"].str.endswith(_LATCHES)]
        medians = values(crowd, "series", "latch", y="wait_us", how="median")
        lowest = over.drop(index="none").min(axis=1)
        fallen = [str(name) for name in lowest.index[lowest < _FALLEN]]
        quoted = run.table[run.table["series"].isin(["none", "redo", "trx", _ALL])].query(
            "concurrency == @most"
        )
        return cls(
            clients=most,
            redo_alone_ratio=float(over[most]["redo"]),
            trx_alone_ratio=float(over[most]["trx"]),
            all_three_ratio=float(over[most][_ALL]),
            redo_best_ratio=float(over.T["redo"].max()),
            redo_best_clients=int(str(over.T["redo"].idxmax())),
            half_width_percent=float(quoted["half_width_percent"].max()),
            combinations=len(lowest),
            fallen=len(fallen),
            fallen_over_old_redo=sum("redo" not in name for name in fallen),
            old_latch=str(medians["none"].idxmax()),
            new_latch=str(medians[_ALL].idxmax()),
            runs=len(run.table),
            unsettled_runs=int((run.table["is_settled"] == 0).sum()),
        )


@dataclass(frozen=True, kw_only=True)
class Convoy(Facts):
    """Threads asleep at the mutex of 5.7's log and what waking them costs, with what would be if it were otherwise (own-log-convoy)."""

    clients: int = fact()
    sleeps_per_mtr: float = fact("{:.0f}")
    blocked_percent: float = fact(
        "{:.0f} %"
    )  # of the time the holder of that mutex waits for log_flush_order_mutex
    timed_out_percent: float = fact("{:.0f} %")  # spins that end in sleep
    few_clients: int = fact()
    few_blocked_percent: float = fact("{:.0f} %")
    few_timed_out_percent: float = fact("{:.0f} %")
    spin_us: float = fact("{:.0f} us")  # how long a thread spins before it sleeps, in the mean
    edge_clients: int = fact()  # whom to wake takes as long as that
    commits_per_s: float = fact("{:,.0f}")
    half_wake_commits_per_s: float = fact("{:,.0f}")
    dear_wake_commits_per_s: float = fact("{:,.0f}")
    free_wake_commits_per_s: float = fact("{:,.0f}")
    longer_spin_commits_per_s: float = fact("{:,.0f}")

    @classmethod
    def of(cls, run: Run) -> Convoy:
        few, crowd = sorted(map(int, run.table["concurrency"].unique()))

        def seen(what: str, series: str = "as in 5.7", clients: int = crowd) -> float:
            return float(run.values("series", "concurrency", y=what)[series, clients])

        machine = run.provenance["machine"]
        spin_ps = _ROUNDS * _MEAN_PAUSES * machine["pause_ps"]

        return cls(
            clients=crowd,
            sleeps_per_mtr=seen("sleeps_per_mtr"),
            blocked_percent=seen("blocked_percent"),
            timed_out_percent=seen("timed_out_percent"),
            few_clients=few,
            few_blocked_percent=seen("blocked_percent", clients=few),
            few_timed_out_percent=seen("timed_out_percent", clients=few),
            spin_us=spin_ps / 1e6,
            edge_clients=round(spin_ps / machine["wake_each_ps"]),
            commits_per_s=seen("tps"),
            half_wake_commits_per_s=seen("tps", "waking costs half"),
            dear_wake_commits_per_s=seen("tps", "waking costs 1.5 times"),
            free_wake_commits_per_s=seen("tps", "waking is free"),
            longer_spin_commits_per_s=seen("tps", "spins four times as long"),
        )


@dataclass(frozen=True, kw_only=True)
class Scheduler(Facts):
    """Throughput where the system counts virtual run time over that where threads run first come, first served (own-engine-scheduler)."""

    clients: int = fact("{:,}")  # the fewest with which the log of 5.7 keeps less than half
    old_log_ratio: float = fact("{:.2g}")
    nobody_displaced_ratio: float = fact("{:.2f}")  # of the same, if who wakes takes nobody's place
    new_log_least_ratio: float = fact("{:.2f}")  # of all crowds, and of both engines over the log of 8.0
    new_log_most_ratio: float = fact("{:.2f}")
    counted_over_old_ratio: float = fact(
        "{:.0f}"
    )  # the new log over the old with those clients, virtual run time
    first_come_over_old_ratio: float = fact("{:.2f}")

    @classmethod
    def of(cls, run: Run) -> Scheduler:
        tps = run.values("scheduler", "series", "concurrency", y="tps")
        ways, logs, crowds = (list(tps.index.unique(name)) for name in ("scheduler", "series", "concurrency"))
        over = {
            (way, log, n): float(tps[way, log, n] / tps["first come", log, n])
            for way in ways
            for log in logs
            for n in crowds
        }
        at = min(n for n in crowds if over["virtual run time", "old log", n] < 0.5)
        new = [over["virtual run time", log, n] for log in logs if log != "old log" for n in crowds]

        def gain(way: str) -> float:
            return float(tps[way, "new log", at] / tps[way, "old log", at])

        return cls(
            clients=at,
            old_log_ratio=over["virtual run time", "old log", at],
            nobody_displaced_ratio=over["nobody displaced", "old log", at],
            new_log_least_ratio=min(new),
            new_log_most_ratio=max(new),
            counted_over_old_ratio=gain("virtual run time"),
            first_come_over_old_ratio=gain("first come"),
        )


@dataclass(frozen=True, kw_only=True)
class BinaryLog(Facts):
    """Throughput with each design of the binary log's commit, over that without one and with as many clients (own-engine-binlog)."""

    clients: int = fact()  # with the most of them, as all but the single client's
    serialised_ratio: float = fact("{:.2f}")  # 5.5
    stages_ratio: float = fact("{:.2f}")  # 5.6
    one_flush_ratio: float = fact("{:.2f}")  # 5.7.6
    no_order_ratio: float = fact("{:.2f}")
    not_synced_ratio: float = fact("{:.2f}")
    single_client_ratio: float = fact("{:.2f}")  # 5.7.6
    serialised_wait_ms: float = fact("{:.0f} ms")  # for prepare_commit_mutex, per transaction
    told_wait_ms: float = fact("{:.1f} ms")  # for COND_done in 5.7.6
    told_mutex_wait_ms: float = fact("{:.1f} ms")  # for LOCK_done there
    commits_per_group: float = fact("{:.0f}")  # 5.7.6
    stages_fsyncs_per_transaction: float = fact("{:.2f}")  # 5.6
    one_flush_fsyncs_per_transaction: float = fact("{:.2f}")  # 5.7.6
    latch: str = fact()  # for which clients wait most without a binary log
    off_wait_ms: float = fact("{:.1f} ms")  # for it, per transaction
    one_flush_latch_wait_ms: float = fact("{:.1f} ms")  # for the same in 5.7.6
    half_width_percent: float = fact("{:.0f} %")  # the widest of the throughputs with the most clients
    claims: int = fact()
    claims_held: int = fact()
    failed: str = fact()

    @classmethod
    def of(cls, run: Run) -> BinaryLog:
        tps = run.values("series", "concurrency", y="tps").unstack("concurrency")
        over = tps / tps.loc["off"]
        few, most = int(over.columns.min()), int(over.columns.max())
        crowd = run.table[run.table["concurrency"] == most]
        waits = run.tables["latches"].query("concurrency == @most")
        waited = values(waits, "series", "latch", y="wait_us", how="median") / 1000
        counted = several(crowd, "series", ys=["fsyncs", "commits_per_group"], how="median")
        latch = str(waited["off"][waited["off"].index.str.endswith(_LATCHES)].idxmax())
        return cls(
            clients=most,
            serialised_ratio=float(over[most]["5.5"]),
            stages_ratio=float(over[most]["5.6"]),
            one_flush_ratio=float(over[most]["5.7.6"]),
            no_order_ratio=float(over[most]["5.7.6, no order"]),
            not_synced_ratio=float(over[most]["5.7.6, not synced"]),
            single_client_ratio=float(over[few]["5.7.6"]),
            serialised_wait_ms=float(waited["5.5", "prepare_commit_mutex"]),
            told_wait_ms=float(waited["5.7.6", "COND_done"]),
            told_mutex_wait_ms=float(waited["5.7.6", "LOCK_done"]),
            commits_per_group=float(counted["commits_per_group"]["5.7.6"]),
            stages_fsyncs_per_transaction=float(counted["fsyncs"]["5.6"]),
            one_flush_fsyncs_per_transaction=float(counted["fsyncs"]["5.7.6"]),
            latch=latch,
            off_wait_ms=float(waited["off", latch]),
            one_flush_latch_wait_ms=float(waited.get(("5.7.6", latch), 0.0)),
            half_width_percent=float(crowd["half_width_percent"].max()),
            claims=len(binlog.CLAIMS),
            claims_held=sum(holds(run) for holds in binlog.CLAIMS.values()),
            failed=failed(run, binlog.CLAIMS),
        )


@dataclass(frozen=True, kw_only=True)
class BufferPool(Facts):
    """Throughput by the size of the buffer pool, over that with all pages in it and as many clients (own-engine-pool)."""

    clients: int = fact()  # where the pool that holds all pages is fastest
    half_ratio: float = fact("{:.2f}")
    tenth_ratio: float = fact("{:.2f}")
    no_time_ratio: float = fact("{:.2f}")  # a tenth, with a disk that takes no time
    tenth_misses_per_transaction: float = fact("{:.0f}")
    single_client_ratio: float = fact("{:.2f}")  # a tenth
    crowd: int = fact()  # with the most clients, as all that follows
    crowd_share: str = fact()  # of the pages, in the smaller pool that is fastest then
    crowd_ratio: float = fact("{:.1f}")
    fewer_clients_ratio: float = fact(
        "{:.1f}"
    )  # of all pages, with as many clients as are best over the crowd
    all_latch: str = fact()  # for which the clients wait most
    all_wait_ms: float = fact("{:.0f} ms")  # for it, per transaction
    crowd_wait_ms: float = fact("{:.1f} ms")  # for the same latch with that smaller pool
    crowd_disk_wait_ms: float = fact("{:.0f} ms")
    half_width_percent: float = fact("{:.0f} %")  # of the throughput of all, whose window's cap came first
    claims: int = fact()
    claims_held: int = fact()
    failed: str = fact()

    @classmethod
    def of(cls, run: Run) -> BufferPool:
        tps = run.values("series", "concurrency", y="tps").unstack("concurrency")
        over = tps / tps.loc["all"]
        few, best, most = int(over.columns.min()), int(str(tps.loc["all"].idxmax())), int(over.columns.max())
        crowd = run.table[run.table["concurrency"] == most]
        waits = run.tables["latches"].query("concurrency == @most")
        waited = values(waits, "series", "latch", y="wait_us", how="median") / 1000
        latch = str(waited["all"].idxmax())
        misses = run.values("series", "concurrency", y="pool_misses")
        smaller = str(over[most][list(_SHARES)].idxmax())
        return cls(
            clients=best,
            half_ratio=float(over[best]["half"]),
            tenth_ratio=float(over[best]["tenth"]),
            no_time_ratio=float(over[best]["tenth, disk in no time"]),
            tenth_misses_per_transaction=float(misses["tenth", best]),
            single_client_ratio=float(over[few]["tenth"]),
            crowd=most,
            crowd_share=_SHARES[smaller],
            crowd_ratio=float(over[most][smaller]),
            fewer_clients_ratio=float((tps[best] / tps[most])["all"]),
            all_latch=latch,
            all_wait_ms=float(waited["all", latch]),
            crowd_wait_ms=float(waited.get((smaller, latch), 0.0)),
            crowd_disk_wait_ms=float(waited[smaller, "innodb_data_file"]),
            half_width_percent=float(crowd[crowd["series"] == "all"]["half_width_percent"].max()),
            claims=len(pool.CLAIMS),
            claims_held=sum(holds(run) for holds in pool.CLAIMS.values()),
            failed=failed(run, pool.CLAIMS),
        )


@dataclass(frozen=True, kw_only=True)
class Beside(Facts):
    """How far the engine is from the servers that it models with more clients than one (own-engine-live or own-engine-held-out, live)."""

    throughput_off_percent: float = fact("{:.0f} %")  # the median
    farthest_percent: float = fact("{:.0f} %")
    farthest_server: str = fact()
    farthest_clients: int = fact()
    waits_ratio: float = fact("{:.1f}")  # the median, either way
    waits_points: int = fact()
    waits_least_ratio: float = fact("{:.2f}")  # the engine's over the server's
    waits_most_ratio: float = fact("{:.2f}")
    fewest_waits_at: str = fact()
    deadlocks_ratio: float = fact("{:.1f}")
    deadlocks_points: int = fact()
    most_deadlocks_per_1000: float = fact("{:.0f}")  # of a server, per 1,000 transactions
    wait_time_ratio: float = fact(
        "{:.1f}"
    )  # of the time that one wait for a row takes; the median, either way
    most_clients: int = fact()

    @classmethod
    def of(cls, run: Run) -> Beside:
        more = factors(run.table).drop(index=1, level="clients")
        far = {name: column.dropna().map(math.log).abs() for name, column in more.items()}
        off = (more["throughput"] - 1).abs()
        farthest = off.reset_index().iloc[int(off.to_numpy().argmax())]
        servers = run.table[run.table["series"] == "server"]
        return cls(
            throughput_off_percent=100 * float(off.median()),
            farthest_percent=100 * float(off.max()),
            farthest_server=str(farthest["server"]),
            farthest_clients=int(farthest["clients"]),
            waits_ratio=math.exp(far["lock_waits"].median()),
            waits_points=len(far["lock_waits"]),
            waits_least_ratio=float(more["lock_waits"].min()),
            waits_most_ratio=float(more["lock_waits"].max()),
            fewest_waits_at=str(more["lock_waits"].sort_values().reset_index()["distribution"].iloc[0]),
            deadlocks_ratio=math.exp(far["deadlocks"].median()),
            deadlocks_points=len(far["deadlocks"]),
            most_deadlocks_per_1000=float(servers["deadlocks_per_1000"].max()),
            wait_time_ratio=math.exp(far["lock_wait"].median()),
            most_clients=int(run.table["clients"].max()),
        )


@dataclass(frozen=True, kw_only=True)
class Purge(Facts):
    """What purge costs the engine and how far it keeps up, by the version of its transaction system (own-engine-purge)."""

    few_clients: int = fact()
    few_removed_percent: float = fact("{:.0f} %")  # the least of the versions
    clients: int = fact()  # with the most of them, as all that follows
    old_ratio: float = fact("{:.2f}")  # 5.7
    new_ratio: float = fact("{:.2f}")  # 9.7
    old_transactions_per_s: float = fact("{:,.0f}")
    new_transactions_per_s: float = fact("{:,.0f}")
    old_removed_percent: float = fact("{:.0f} %")
    new_removed_percent: float = fact("{:.0f} %")
    new_cpu_s_per_s: float = fact("{:.1f}")
    new_history: int = fact("{:,}")
    window_ms: float = fact("{:.0f} ms")
    half_width_percent: float = fact("{:.0f} %")  # the widest of the throughputs of 5.7 and 9.7
    claims: int = fact()
    claims_held: int = fact()
    failed: str = fact()

    @classmethod
    def of(cls, run: Run) -> Purge:
        few, most = sorted(map(int, run.table["concurrency"].unique()))
        shown = ["tps", "purge_cpus", "history_length", "half_width_percent"]
        crowd = several(run.table[run.table["concurrency"] == most], "series", ys=shown, how="median")
        removed = 100 * run.values("series", "concurrency", y="purge_removed")
        old, new = "5.7", "9.7"
        named = [name for version in (old, new) for name in (version, version + purge.WITHOUT)]
        return cls(
            few_clients=few,
            few_removed_percent=float(removed.xs(few, level="concurrency").min()),
            clients=most,
            old_ratio=float(crowd["tps"][old] / crowd["tps"][old + purge.WITHOUT]),
            new_ratio=float(crowd["tps"][new] / crowd["tps"][new + purge.WITHOUT]),
            old_transactions_per_s=float(crowd["tps"][old]),
            new_transactions_per_s=float(crowd["tps"][new]),
            old_removed_percent=float(removed[old, most]),
            new_removed_percent=float(removed[new, most]),
            new_cpu_s_per_s=float(crowd["purge_cpus"][new]),
            new_history=round(crowd["history_length"][new]),
            window_ms=float(run.table["window_ms"].max()),
            half_width_percent=float(crowd["half_width_percent"][named].max()),
            claims=len(purge.CLAIMS),
            claims_held=sum(holds(run) for holds in purge.CLAIMS.values()),
            failed=failed(run, purge.CLAIMS),
        )


@dataclass(frozen=True, kw_only=True)
class BesideBefore(Facts):
    """The same of a recording that a later one has replaced."""

    told: str = fact()

    @classmethod
    def of(cls, run: Run) -> BesideBefore:
        texts = Beside.of(run).texts()
        return cls(
            told="Throughput was off by {throughput_off_percent} in the median and {farthest_percent} at most, and waits for a row were {waits_least_ratio} to "
            '{waits_most_ratio} times the server\'s, the fewest under "{fewest_waits_at}".'.format(**texts)
        )


@dataclass(frozen=True, kw_only=True)
class BinaryLogBeside(Facts):
    """How far the engine with a binary log is from the servers that it models (own-engine-live-binlog and others, live)."""

    told: str = fact()
    waits: Table

    @classmethod
    def of(cls, run: Run) -> BinaryLogBeside:
        off = (binlog_beside.ratios(run) - 1).abs() * 100
        farthest = off.reset_index().iloc[int(off["tps"].to_numpy().argmax())]
        return cls(
            told=f"Beside live servers with a binary log, on two processors and a disk whose fsync takes {run.provenance['fsync_us'] / 1000:g} ms, throughput is off by "
            f"{off['tps'].median():.0f} % in the median and {off['tps'].max():.0f} % at most, on {farthest['server']} with {farthest['clients']} clients; we aimed at 15 % "
            f"and 30 %. Fsyncs per transaction are off by {off['redo_fsyncs'].max():.0f} % at most for the redo log and {off['binlog_fsyncs'].max():.0f} % for the binary "
            f"log; we aimed at 20 %. {came_out(run, binlog_beside.CLAIMS)} {failed(run, binlog_beside.CLAIMS)}".rstrip(),
            waits=_waits_beside(run),
        )


def _waits_beside(run: Run) -> Table:
    """The servers' longest waits with the most clients, and the engine's beside them, by version."""
    most = int(run.tables["latches"]["clients"].max())
    shown = [
        {
            "waits for": latch,
            "server": version,
            "its clients": f"{of['server']:,.0f} us",
            "the engine's": f"{of['engine']:,.1f} us",
        }
        for (version, clients), ranks in binlog_beside.ranked(run).items()
        if clients == most
        for latch, of in ranks.head(_LONGEST_WAITS).iterrows()
    ]
    return Table(
        pd.DataFrame(shown),
        f"What {most} clients wait longest for, per transaction, on servers and in the engine.",
        origin_of(run),
    )


@dataclass(frozen=True, kw_only=True)
class TpccBeside(Facts):
    """How far the engine is from the servers that it models under TPC-C with one warehouse (own-engine-tpcc, live); what misses its goal comes first."""

    told: str = fact()
    most_clients: int = fact()

    @classmethod
    def of(cls, run: Run) -> TpccBeside:
        more = factors(run.table).drop(index=1, level="clients")
        off = {name: column.dropna().map(math.log).abs() for name, column in more.items()}
        far = {name: math.exp(column.median()) for name, column in off.items()}  # either way
        wrong = (more["throughput"] - 1).abs()
        farthest = wrong.reset_index().iloc[int(wrong.to_numpy().argmax())]
        waits = more["lock_waits"]
        deadlocks = run.table[run.table["clients"] > 1].groupby("series")["deadlocks_per_1000"].max()
        throughput = (
            f"Throughput is off by {100 * wrong.median():.0f} % in the median and {100 * wrong.max():.0f} % at most, on {farthest['server']} with "
            f"{farthest['clients']} clients."
        )
        waited = f"Waits for a row are {waits.min():.2f} to {waits.max():.2f} times the server's, off by a factor of {far['lock_waits']:.1f} in the median."
        time = f"The time waited for rows is off by a factor of {far['lock_wait']:.1f}."
        if not deadlocks.any():
            is_near, deadlocked = True, "There is no deadlock on either side."
        elif len(off["deadlocks"]):
            is_near = far["deadlocks"] <= _GOAL
            deadlocked = f"Deadlocks are off by a factor of {far['deadlocks']:.1f} over {len(off['deadlocks'])} points that have any on both sides."
        else:
            is_near = False
            deadlocked = (
                f"Of 1,000 transactions up to {deadlocks['server']:.3g} deadlock on the servers and {deadlocks['engine']:.3g} in the engine, nowhere on "
                "both sides."
            )
        parts = [
            (wrong.median() <= 0.15 and wrong.max() <= 0.3, throughput),
            (far["lock_waits"] <= _GOAL, waited),
            (is_near, deadlocked),
            (far["lock_wait"] <= _GOAL, time),
        ]
        in_order = [text for _, text in sorted(parts, key=lambda part: part[0])]
        return cls(
            told=" ".join([*in_order, came_out(run, tpcc_beside.CLAIMS)]),
            most_clients=int(run.table["clients"].max()),
        )


@dataclass(frozen=True, kw_only=True)
class WhatIf(Facts):
    """How far `engineroom whatif` is from live servers on three loads of our own (own-whatif, live)."""

    told: str = fact()

    @classmethod
    def of(cls, run: Run) -> WhatIf:
        of = whatif_beside.compared(run)
        off = (of["ratio"] - 1).abs() * 100
        farthest = of.reset_index().iloc[int(off.to_numpy().argmax())]
        return cls(
            told=f"On {len(set(run.table['load']))} loads of our own, run on two processors beside the prediction, throughput is off by {off.median():.0f} % in the median and "
            f'{off.max():.0f} % at most, on {farthest["server"]} with {farthest["clients"]} clients of "{farthest["load"]}". The range has {int(of["is_in_range"].sum())} of {len(of)} measured '
            f"throughputs. {came_out(run, whatif_beside.CLAIMS)}"
        )


# Figures that whole engines make, on the pages of their parts.
OF_ENGINES = ("fig-7-01", "fig-7-03", "fig-7-07", "fig-7-08", "fig-7-09")


@dataclass(frozen=True, kw_only=True)
class Varied(Facts):
    """Which of the figures that whole engines make were simulated with half and one and a half of each number, and what that changed."""

    told: str = fact()

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Varied:
        varied = {run.figure: run for run in runs if "varied" in run.tables}
        parts = []
        if varied:
            moves = sensitivity.farthest(sensitivity.sensitivity(list(varied.values())))
            parts.append(
                "Each number of machine and load was tried at half and at one and a half of its value, by one seed. Another verdict comes "
                + "; ".join(_flips(figure, moves[moves["figure"] == figure]) for figure in varied)
                + "."
            )
        if names := [_number(run.figure) for run in runs if run.figure not in varied]:
            parts.append(f"{listed(names)} {'was' if len(names) == 1 else 'were'} not varied.")
        return cls(told=" ".join(parts))


def _flips(figure: str, moves: pd.DataFrame) -> str:
    """ "for 7-1 from 3 of 60 such runs, and a ratio moves by a factor of up to 1.3"."""
    times = 1 + moves[moves["parameter"] != SEED]["moved_percent"] / 100
    known = times[times > 0]
    stopped = f", and to nothing in {len(times) - len(known)}" if len(known) < len(times) else ""
    farthest = pd.concat([known, 1 / known]).max()
    return f"for {_number(figure)} from {sensitivity.flipped(moves)}, and a ratio moves by a factor of up to {farthest:.1f}{stopped}"


def _short(figure: str) -> str:
    """ "7-1" of a figure, "num-ch7-1" of a statement."""
    return _number(figure) if figure.startswith("fig-") else figure


def _number(figure: str) -> str:
    """ "7-1" of "fig-7-01"."""
    chapter, number = figure.removeprefix("fig-").split("-")
    return f"{chapter}-{int(number)}"


@dataclass(frozen=True, kw_only=True)
class EngineFacts(Facts):
    """All numbers of the page, a group for each recording."""

    demands: Demands
    again: DemandsAgain
    warehouses: Warehouses
    holds: HoldTimes
    held: Held
    order: LatchOrder
    queue: NextQueue
    switches: Switches
    convoy: Convoy
    scheduler: Scheduler
    binlog: BinaryLog
    pool: BufferPool
    purge: Purge
    binlog_beside: BinaryLogBeside
    whatif: WhatIf
    beside: Beside
    held_out_first: BesideBefore
    held_out_before: BesideBefore
    held_out: Beside
    tpcc: TpccBeside
    tpcc_binlog: BinaryLogBeside
    binlog_held_out: BinaryLogBeside
    varied: Varied


def facts() -> EngineFacts:
    """The facts of the page."""
    return EngineFacts(
        demands=Demands.of(newest("own-demands", "live"), recorded("own-demands", "live")[_LEAST - 1]),
        again=DemandsAgain.of(newest("own-demands", "live"), newest("own-demands-again", "live")),
        warehouses=Warehouses.of(newest("own-demands", "live"), newest("own-demands-warehouses", "live")),
        holds=HoldTimes.of(newest("own-hold-times", "live")),
        held=Held.of(newest("own-engine-holds", "sim"), newest("own-engine-order", "sim")),
        order=LatchOrder.of(newest("own-latch-order", "live"), newest("own-engine-latch-order", "sim")),
        queue=NextQueue.of(newest("fig-7-03", "sim")),
        switches=Switches.of(newest("own-engine-switches", "sim")),
        convoy=Convoy.of(newest("own-log-convoy", "sim")),
        scheduler=Scheduler.of(newest("own-engine-scheduler", "sim")),
        binlog=BinaryLog.of(newest("own-engine-binlog", "sim")),
        pool=BufferPool.of(newest("own-engine-pool", "sim")),
        purge=Purge.of(newest("own-engine-purge", "sim")),
        binlog_beside=BinaryLogBeside.of(newest("own-engine-live-binlog", "live")),
        whatif=WhatIf.of(newest("own-whatif", "live")),
        beside=Beside.of(newest("own-engine-live", "live")),
        held_out_first=BesideBefore.of(recorded("own-engine-held-out", "live")[0]),
        held_out_before=BesideBefore.of(recorded("own-engine-held-out", "live")[1]),
        held_out=Beside.of(newest("own-engine-held-out", "live")),
        tpcc=TpccBeside.of(newest("own-engine-tpcc", "live")),
        tpcc_binlog=BinaryLogBeside.of(newest("own-engine-tpcc-binlog", "live")),
        binlog_held_out=BinaryLogBeside.of(newest("own-engine-held-out-binlog", "live")),
        varied=Varied.of([newest(figure, "sim") for figure in OF_ENGINES]),
    )


def _together(latches: pd.Series[str]) -> list[str]:
    """Runs of the same latch as one line: "trx_mutex, 5 times"."""
    runs = [(str(name), len(list(group))) for name, group in itertools.groupby(latches)]
    return [name if n == 1 else f"{name}, {n} times" for name, n in runs]
