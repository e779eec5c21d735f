"""What `book/cats.md` tells: FIFO, which is equal weights, beside CATS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pandas as pd

from engineroom.chapters.cats.standings import Leads, Standing
from engineroom.runs import newest, published, recorded
from engineroom.validation import sixteen  # noqa: F401 (for the page)

# As reports cost on the computer that the simulated servers' demands come from, and on a later and slower one that has 8.0.31, too.
printed, printed_later = recorded("own-deadlock-print", "live")[1:3]
print_us, report_bytes = (printed.values("server", y=y)["9.7.4"] for y in ("print_cpu_us", "print_bytes"))
report_lines = newest("fig-7-16", "live").values("server", "innodb_print_all_deadlocks", y="lines")[
    "9.7.4", "on"
]

# SysBench with Pareto-distributed rows, with deadlocks printed ("fifo_logging", "cats_logging") and not.
_pareto = newest("fig-7-18", "sim")
pareto_runs = _pareto.table
tps, errors_per_minute = (_pareto.values("series", "concurrency", y=y) for y in ("tps", "ignored_errors"))
clients = int(pareto_runs["concurrency"].max())
half_width_percent = pareto_runs[pareto_runs["concurrency"] == clients]["half_width_percent"].max()
published_tps, published_printed_tps = (
    published.in_our_columns(figure).set_index(["series", "concurrency"])["tps"]
    for figure in ("fig-7-18", "fig-7-10")
)

_print_cost = newest("own-cats-print-cost", "sim").table
few_clients, crowd = _print_cost["clients"].min(), _print_cost["clients"].max()
dear_us = _print_cost["print_us"].max()

_policies = newest("own-cats-policies", "sim").table
loads = list(_policies["workload"].unique())
policies, seeds = _policies["series"].nunique(), _policies["repeat"].nunique()
policy_is_settled = _policies["is_settled"]
_of_policy = _policies.groupby(["workload", "series"])
policy_tps = _of_policy["tps"].mean()
deadlocks_per_transaction = _of_policy["deadlocks"].sum() / _of_policy["transactions"].sum()

vendor_runs = newest("fig-7-13", "sim").table.query("series.str.endswith('_tps')")

_weights = newest("own-cats-weights", "sim")
heavy_percent, other_first_percent, waiters_per_choice = (
    _weights.values("workload", y=y) for y in ("heavy_percent", "other_first_percent", "waiters_per_choice")
)


def over_fifo(tpm: pd.Series[float]) -> pd.Series[float]:
    """CATS over FIFO by number of clients."""
    return tpm.xs("cats") / tpm.xs("fifo")


# TPC-C with 32 warehouses on four sockets and on one, and with 1,000.
_tpcc = {figure: newest(figure, "sim") for figure in ("fig-7-19", "fig-7-20", "fig-7-21")}
gain = {figure: over_fifo(run.values("series", "concurrency", y="tpmC")) for figure, run in _tpcc.items()}
published_gain = {
    figure: over_fifo(published.in_our_columns(figure).set_index(["series", "concurrency"])["tpmC"])
    for figure in _tpcc
}
contended_runs = _tpcc["fig-7-19"].table


@cache
def leads(clients: int) -> Leads:
    """CATS over FIFO against the cost of printing one deadlock, with intervals over draws of the seeds."""
    return Leads.of(_print_cost, clients)


def expected() -> Mapping[str, bool]:
    """What was expected of printing before the run, and whether it came out."""
    from engineroom.chapters.cats.experiments.print_cost import CLAIMS

    return {says: claim(_print_cost) for says, claim in CLAIMS.items()}


@cache
def standing(load: str) -> Standing:
    """The policies on one load; two differ where the intervals of their seeds do not overlap."""
    return Standing.of(_policies, load)


def loads_apart() -> list[str]:
    """The loads on which CATS and FIFO differ."""
    return [load for load in loads if standing(load).differ("cats", "fifo")]


def loads_ahead() -> list[str]:
    """Those on which CATS is the faster one."""
    return [load for load in loads_apart() if policy_tps[load, "cats"] > policy_tps[load, "fifo"]]


def loads_alike() -> list[str]:
    """The loads on which CATS, LDSF and bLDSF make the same runs, seed by seed."""
    of = _policies.pivot(index=["workload", "repeat"], columns="series", values="tps")
    same = of["ldsf"].eq(of["cats"]) & of["bldsf"].eq(of["cats"])
    return [load for load in loads if same[load].all()]


# The page's example is weighed by the kernel itself: T1 runs, T5 and then T2 wait for it, T3 and T4 for T2.
_WAITS = ((5, 1), (2, 1), (3, 2), (4, 2))  # who, for whom


def weights() -> Mapping[int, int]:
    """The weight of each waiter of the example."""
    from engineroom._native import lock_sys as kernel

    return kernel.schedule_weights([(who, whom, n) for n, (who, whom) in enumerate(_WAITS, 1)])


def first(policy: str) -> int:
    """Who gets the row of T1 first."""
    from engineroom._native import lock_sys as kernel

    waiters = [who for who, whom in _WAITS if whom == 1]
    asked = [{"trx": who, "started": who, "weight": weights()[who], "mode": "X"} for who in waiters]
    return waiters[kernel.grant_order(policy, asked)[0]]
