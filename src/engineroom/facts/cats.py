"""The facts of `book/cats.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engineroom._native import lock_sys as kernel
from engineroom.chapters.cats.experiments.policies import LOADS, POLICIES, Standing
from engineroom.chapters.cats.experiments.print_cost import CLAIMS, CLIENTS, COSTS_US, Leads
from engineroom.facts import Facts, Range, fact, failed, span
from engineroom.runs import Run, newest, published
from engineroom.runs.summary import Interval

__all__ = ["CatsFacts", "facts"]

NEW = "9.7.4"
# The waiters of the page's example, in the order in which they began to wait: (who, for whom).
WAITS = ((5, 1), (2, 1), (3, 2), (4, 2))
# Of a table of TPC-C runs: its figure, and from how many clients on the sources compare.
CONTENDED, ONE_SOCKET, STANDARD = "fig-7-19", "fig-7-20", "fig-7-21"


@dataclass(frozen=True, kw_only=True)
class Weighed(Facts):
    """The page's example by the kernel, while the page is made: T1 runs, T5 and then T2 wait for it, T3 and T4 for T2."""

    weight_t2: int = fact()
    weight_t5: int = fact()
    first_5_7: int = fact("T{}")
    first_9_7: int = fact("T{}")

    @classmethod
    def now(cls) -> Weighed:
        weights = kernel.schedule_weights([(who, whom, n) for n, (who, whom) in enumerate(WAITS, 1)])
        asked: list[dict[str, Any]] = [
            {"trx": who, "started": who, "weight": weights[who], "mode": "X"}
            for who, whom in WAITS
            if whom == 1
        ]

        def first(policy: str) -> int:
            place = kernel.grant_order(policy, asked)[0]
            return int(asked[place]["trx"])

        return cls(
            weight_t2=weights[2],
            weight_t5=weights[5],
            first_5_7=first("fcfs, 5.7"),
            first_9_7=first("cats, 8.0.20"),
        )


@dataclass(frozen=True, kw_only=True)
class Printing(Facts):
    """What it takes to print one deadlock, while nobody can lock or unlock a row (own-deadlock-print, live)."""

    print_us: float = fact("{:,.0f} us")
    report_bytes: float = fact("{:,.0f}")
    report_lines: int = fact()  # fig-7-16, live

    @classmethod
    def of(cls, run: Run, log: Run) -> Printing:
        return cls(
            print_us=run.values("server", y="print_cpu_us")[NEW],
            report_bytes=run.values("server", y="print_bytes")[NEW],
            report_lines=round(log.values("server", "innodb_print_all_deadlocks", y="lines")[NEW, "on"]),
        )


@dataclass(frozen=True, kw_only=True)
class Pareto(Facts):
    """SysBench with Pareto-distributed rows, with deadlocks printed and not (fig-7-18 and fig-7-12, sim)."""

    clients: int = fact()
    gain_printed_ratio: float = fact("{:.2f}")  # CATS over FIFO
    gain_silent_ratio: float = fact("{:.2f}")
    published_gain_printed_ratio: float = fact("{:.2f}")
    published_gain_silent_ratio: float = fact("{:.2f}")
    loss_of_fifo_percent: float = fact("{:.0f} %")  # by printing
    loss_of_cats_percent: float = fact("{:.0f} %")
    deadlocks_ratio: float = fact("{:.1f}")  # FIFO over CATS
    points: int = fact()
    settled_points: int = fact()
    half_width_percent: float = fact("{:.0f} %")  # the widest with the most clients
    deadlocks_per_1000_fifo: float = fact("{:.0f}")
    deadlocks_per_1000_cats: float = fact("{:.0f}")

    @classmethod
    def of(cls, run: Run) -> Pareto:
        tps = run.values("series", "concurrency", y="tps")
        errors = run.values("series", "concurrency", y="ignored_errors")
        clients = sorted({n for _, n in tps.index})
        last = clients[-1]
        theirs = published.in_our_columns("fig-7-18").set_index(["series", "concurrency"])["tps"]
        logged = published.in_our_columns("fig-7-10").set_index(["series", "concurrency"])["tps"]

        def per_1000(series: str) -> float:
            return 1000 * float(errors[series, last]) / (60 * float(tps[series, last]))

        return cls(
            clients=int(last),
            gain_printed_ratio=tps["cats_logging", last] / tps["fifo_logging", last],
            gain_silent_ratio=tps["cats", last] / tps["fifo", last],
            published_gain_printed_ratio=logged["cats", last] / logged["fifo", last],
            published_gain_silent_ratio=theirs["cats", last] / theirs["fifo", last],
            loss_of_fifo_percent=100 * (1 - tps["fifo_logging", last] / tps["fifo", last]),
            loss_of_cats_percent=100 * (1 - tps["cats_logging", last] / tps["cats", last]),
            points=len(run.table),
            settled_points=int(run.table["is_settled"].sum()),
            half_width_percent=float(run.table.query("concurrency == @last")["half_width_percent"].max()),
            deadlocks_ratio=errors["fifo_logging", last] / errors["cats_logging", last],
            deadlocks_per_1000_fifo=per_1000("fifo"),
            deadlocks_per_1000_cats=per_1000("cats"),
        )


def _ratio(value: Interval) -> str:
    return f"{value.value:.3f} times ({value.low:.3f} to {value.high:.3f})"


def _ms(value: Interval) -> str:
    return f"{value.value:.2f} ms ({value.low:.2f} to {value.high:.2f})"


@dataclass(frozen=True, kw_only=True)
class PrintCost(Facts):
    """CATS over FIFO against the cost of printing one deadlock; intervals by draws of the seeds (own-cats-print-cost, sim)."""

    few_clients: int = fact()
    clients: int = fact()
    few_lead: Interval = fact(_ratio)  # without printing
    dear_lead: Interval = fact(Interval.times)  # at the highest cost
    dear_ms: float = fact("{:.0f} ms")
    even_ms: Interval = fact(_ms)
    claims: int = fact()
    claims_held: int = fact()
    failed: str = fact()

    @classmethod
    def of(cls, run: Run) -> PrintCost:
        on_run = {says: lambda run, claim=claim: claim(run.table) for says, claim in CLAIMS.items()}
        few, crowd = (Leads.of(run.table, clients) for clients in CLIENTS)
        dear_us = float(max(COSTS_US))
        return cls(
            few_clients=min(CLIENTS),
            clients=max(CLIENTS),
            few_lead=few.lead(0),
            dear_lead=crowd.lead(dear_us),
            dear_ms=dear_us / 1_000,
            even_ms=_in_ms(crowd.even_us()),
            claims=len(CLAIMS),
            claims_held=sum(claim(run.table) for claim in CLAIMS.values()),
            failed=failed(run, on_run),
        )


def _in_ms(of_us: Interval) -> Interval:
    return Interval(*(value / 1_000 for value in of_us))


@dataclass(frozen=True, kw_only=True)
class Policies(Facts):
    """Which of the policies differ by more than their seeds, on each load (own-cats-policies, sim)."""

    policies: int = fact()
    loads: int = fact()
    seeds: int = fact()
    runs: int = fact()
    settled_runs: int = fact()
    pairs: int = fact()  # of policies on one load
    differ: Mapping[str, int] = fact(keys=LOADS)  # of the pairs
    cats_differs: int = fact()  # from FIFO, on so many loads
    cats_faster: int = fact()  # on so many of them
    same_runs: int = fact()  # loads on which CATS, LDSF and bLDSF make the same runs
    tpcc_5_7_ratio: float = fact("{:.2f}")  # the FIFO of 5.7 over equal weights, 32 warehouses
    old_cats_ratio: float = fact("{:.2f}")  # the CATS of 8.0.3 over that of 8.0.20, special distribution
    old_cats_deadlock_ratio: float = fact("{:.2f}")  # the same of deadlocks per transaction

    @classmethod
    def of(cls, run: Run) -> Policies:
        table = run.table
        standings = {load: Standing.of(table, load) for load in LOADS}
        apart = [of for of in standings.values() if of.differ("cats", "fifo")]
        tps = table.pivot(index=["workload", "repeat"], columns="series", values="tps")
        special = table[table["workload"] == "special"].groupby("series")[["deadlocks", "transactions"]].sum()
        deadlocks = special["deadlocks"] / special["transactions"]
        same = tps["ldsf"].eq(tps["cats"]) & tps["bldsf"].eq(tps["cats"])
        return cls(
            policies=len(POLICIES),
            loads=len(LOADS),
            seeds=table["repeat"].nunique(),
            runs=len(table),
            settled_runs=int(table["is_settled"].sum()),
            pairs=len(POLICIES) * (len(POLICIES) - 1) // 2,
            differ={load: of.pairs() for load, of in standings.items()},
            cats_differs=len(apart),
            cats_faster=sum(of.mean["cats"] > of.mean["fifo"] for of in apart),
            same_runs=int(same.groupby("workload").all().sum()),
            tpcc_5_7_ratio=standings["tpcc_32"].mean["fcfs_5_7"] / standings["tpcc_32"].mean["fifo"],
            old_cats_ratio=standings["special"].mean["cats_8_0_3"] / standings["special"].mean["cats"],
            old_cats_deadlock_ratio=deadlocks["cats_8_0_3"] / deadlocks["cats"],
        )


@dataclass(frozen=True, kw_only=True)
class Vendor(Facts):
    """The vendor's chart beside SysBench's Pareto load with no deadlock printed (fig-7-13, sim)."""

    runs: int = fact()
    settled_runs: int = fact()
    half_width_percent: float = fact("{:.0f} %")  # the widest of all

    @classmethod
    def of(cls, run: Run) -> Vendor:
        throughput = run.table[run.table["series"].str.endswith("_tps")]
        return cls(
            runs=len(throughput),
            settled_runs=int(throughput["is_settled"].sum()),
            half_width_percent=float(throughput["half_width_percent"].max()),
        )


@dataclass(frozen=True, kw_only=True)
class Tpcc(Facts):
    """TPC-C: throughput of CATS over that of FIFO, least and most over the numbers of clients (7-19, 7-20 and 7-21, sim)."""

    contended_ratio: Range = fact(span("{:.2f}", ""))
    one_socket_ratio: Range = fact(span("{:.2f}", ""))
    standard_ratio: Range = fact(span("{:.2f}", ""))
    published_contended_ratio: Range = fact(span("{:.2f}", ""))
    published_one_socket_ratio: Range = fact(span("{:.2f}", ""))
    published_standard_ratio: Range = fact(span("{:.2f}", ""))

    @classmethod
    def of(cls, contended: Run, one_socket: Run, standard: Run) -> Tpcc:
        return cls(
            contended_ratio=_gains(contended.values("series", "concurrency", y="tpmC")),
            one_socket_ratio=_gains(one_socket.values("series", "concurrency", y="tpmC")),
            standard_ratio=_gains(standard.values("series", "concurrency", y="tpmC")),
            published_contended_ratio=_published(CONTENDED),
            published_one_socket_ratio=_published(ONE_SOCKET),
            published_standard_ratio=_published(STANDARD),
        )


@dataclass(frozen=True, kw_only=True)
class Weights(Facts):
    """How often weights decide, and deadlocks of TPC-C with 32 warehouses (own-cats-weights and 7-19, sim)."""

    tpcc_heavy_percent: float = fact("{:.0f} %")  # of the choices among several: somebody is heavier than 1
    tpcc_other_first_percent: float = fact("{:.0f} %")  # CATS begins with another than the queue
    pareto_heavy_percent: float = fact("{:.0f} %")
    pareto_waiters_per_choice: float = fact("{:.0f}")
    special_heavy_percent: float = fact("{:.0f} %")
    tpcc_deadlocks: int = fact("{:,}")
    tpcc_transactions: int = fact("{:,}")

    @classmethod
    def of(cls, run: Run, contended: Run) -> Weights:
        heavy = run.values("workload", y="heavy_percent")
        return cls(
            tpcc_heavy_percent=float(heavy["tpcc_32"]),
            tpcc_other_first_percent=float(run.values("workload", y="other_first_percent")["tpcc_32"]),
            pareto_heavy_percent=float(heavy["pareto"]),
            pareto_waiters_per_choice=float(run.values("workload", y="waiters_per_choice")["pareto"]),
            special_heavy_percent=float(heavy["special"]),
            tpcc_deadlocks=int(contended.table["deadlocks"].sum()),
            tpcc_transactions=int(contended.table["transactions"].sum()),
        )


def _gains(rates: pd.Series[float]) -> Range:
    """CATS over FIFO, least and most over the numbers of clients."""
    gains = rates.xs("cats") / rates.xs("fifo")
    return Range(float(gains.min()), float(gains.max()))


def _published(figure: str) -> Range:
    theirs = published.in_our_columns(figure).set_index(["series", "concurrency"])["tpmC"]
    return _gains(theirs)


@dataclass(frozen=True, kw_only=True)
class CatsFacts(Facts):
    """All numbers of the page, a group for each recording."""

    weighed: Weighed
    printing: Printing
    pareto: Pareto
    print_cost: PrintCost
    policies: Policies
    vendor: Vendor
    tpcc: Tpcc
    weights: Weights


def facts() -> CatsFacts:
    """The facts of the page."""
    return CatsFacts(
        weighed=Weighed.now(),
        printing=Printing.of(newest("own-deadlock-print", "live"), newest("fig-7-16", "live")),
        pareto=Pareto.of(newest("fig-7-18", "sim")),
        print_cost=PrintCost.of(newest("own-cats-print-cost", "sim")),
        policies=Policies.of(newest("own-cats-policies", "sim")),
        vendor=Vendor.of(newest("fig-7-13", "sim")),
        tpcc=Tpcc.of(newest(CONTENDED, "sim"), newest(ONE_SOCKET, "sim"), newest(STANDARD, "sim")),
        weights=Weights.of(newest("own-cats-weights", "sim"), newest(CONTENDED, "sim")),
    )
