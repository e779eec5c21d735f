"""FIFO and CATS for row locks on the simulated machine, under SysBench and TPC-C, with deadlocks printed and not.

Machine, load and designs are fixed before the first comparison with a published number. Both schedulers run in the same engine, that
of late 8.0 with what the source's author improved in it (`simulating.sources`). FIFO is as the source made it: all weights equal. Statements ask
for what they asked of 8.0.31 with one client, which lies between the source's 8.0.27 and 8.0.32. What printing one deadlock takes, while all queues are latched, is what the thread of 9.7.4 that prints it took more of
a processor with innodb_print_all_deadlocks than without; the report that is always written to a temporary file is left out.

The source counts ignored errors of a run whose length it does not tell; ours are per minute. It bound its server to one of four sockets
for figure 7-20: the same machine with one. Of the vendor's chart, figure 7-13, neither machine nor load is told, nor whether deadlocks
were printed: ours has the load of the source's figures on a server that is not improved, and does not print them, which is the server's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from engineroom.runs import Run, recorded
from engineroom.simulating.engine import COLUMNS, TPCC_WINDOW, Design, observed
from engineroom.simulating.experiment import Experiment, Given, Seen, Together
from engineroom.simulating.sources import MACHINE, ONE_SOCKET, improved, sysbench, tpcc

DEMANDS_OF = "8.0.31"
# Whose report it is, and which recording of own-deadlock-print has it: that of the computer on which the demands were measured.
PRINTING, PRINTED_IN = "9.7.4", 2
SCHEDULERS: Mapping[str, str] = {"fifo": "fcfs, equal weights", "cats": "cats, 8.0.20"}
# Virtual time: long enough that a client of a crowd has some transactions, or the cap.
SYSBENCH_WINDOW = {"first_ms": 300, "longest_ms": 1_000, "warmup_ms": 300}


def printed() -> Run:
    """What reports cost on the computer that the engine's demands come from."""
    return recorded("own-deadlock-print", "live")[PRINTED_IN - 1]


def print_ns() -> int:
    """What printing one deadlock takes of the thread that prints it, ns: the median of the recorded repeats."""
    cpu_us: float = printed().values("server", y="print_cpu_us")[PRINTING]
    return round(1000 * cpu_us)


def _sysbench() -> dict[str, Any]:
    load = sysbench(DEMANDS_OF, rows=1_000_000, distribution="pareto", pareto_percent=20)
    return {**load, "print_ns": print_ns()}


def _seen(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    scheduler, _, logging = point["series"].partition("_")
    design = improved(
        locks={"policy": SCHEDULERS[scheduler], "print_ns": given.load["print_ns"] if logging else 0}
    )
    row, waits = observed(design, given, clients=point["concurrency"], **window)
    return Seen([row], {"latches": waits})


_pareto = Experiment(
    figure="fig-7-10",
    says="throughput, response time and deadlocks under SysBench's Pareto distribution, with deadlocks printed and not",
    points={
        "concurrency": (50, 100, 300, 500, 700, 900),
        "series": ("fifo", "cats", "fifo_logging", "cats_logging"),
    },
    measure=_seen,
    options=SYSBENCH_WINDOW,
    load=_sysbench,
    machine=MACHINE,
    columns=COLUMNS,
)
_LOGGING = {"fifo_logging": "fifo", "cats_logging": "cats"}
_SILENT = {"fifo": "fifo", "cats": "cats"}
# 7-17 and 7-18 are of two versions of the server, which are one engine here.
pareto_sim = Together(
    whole=_pareto,
    figures={
        "fig-7-10": _LOGGING,
        "fig-7-11": _LOGGING,
        "fig-7-12": _LOGGING,
        "fig-7-17": _SILENT,
        "fig-7-18": {series: series for series in _pareto.points["series"]},
    },
)


def _as_the_vendor(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    """One point as the rows of the vendor's chart, which has two quantities of each scheduler in one column."""
    scheduler = point["scheduler"]
    row, waits = observed(
        Design(locks={"policy": SCHEDULERS[scheduler]}), given, clients=point["clients"], **window
    )
    quantities = ("tps", "latency_ms")
    return Seen(
        [{"series": f"{scheduler}_{quantity}", "value": row[quantity], **row} for quantity in quantities],
        {"latches": waits},
    )


vendor_sim = Experiment(
    figure="fig-7-13",
    says="throughput and mean response time under SysBench's Pareto distribution, with no deadlock printed",
    points={"clients": (32, 64, 128, 256, 512), "scheduler": tuple(SCHEDULERS)},
    measure=_as_the_vendor,
    options=SYSBENCH_WINDOW,
    load=_sysbench,
    machine=MACHINE,
    columns={
        **COLUMNS,
        "clients": COLUMNS["concurrency"],
        "scheduler": "who gets a row next",
        "value": "transactions per second, or milliseconds, as the series says",
    },
)


def _tpcc_experiment(
    figure: str, says: str, points: tuple[int, ...], warehouses: int, machine: str = MACHINE
) -> Experiment:
    return Experiment(
        figure=figure,
        says=says,
        points={"concurrency": points, "series": ("fifo", "cats")},
        measure=_seen,
        options=TPCC_WINDOW,
        load=partial(tpcc, DEMANDS_OF, warehouses),
        machine=machine,
        columns=COLUMNS,
    )


contended_sim = _tpcc_experiment(
    "fig-7-19",
    "throughput of FIFO and CATS under TPC-C with 32 warehouses",
    (100, 250, 500, 1000, 2000, 3000),
    32,
)
one_socket_sim = _tpcc_experiment(
    "fig-7-20", "the same on one of the four sockets", (100, 300, 500, 1000, 2000, 3000), 32, ONE_SOCKET
)
standard_sim = _tpcc_experiment(
    "fig-7-21",
    "throughput of FIFO and CATS under TPC-C with 1000 warehouses",
    (50, 100, 250, 500, 1000, 2000),
    1000,
)
