"""FIFO and CATS against what printing one deadlock costs, on the simulated machine: from which cost on is CATS ahead?

Load, machine and engine are those of figure 7-18, with 50 clients, where that figure begins, and with 300. Every cost is simulated
with the same 20 seeds in a window of 0.4 s each, which is not prolonged: the seeds give the intervals.

Fixed before the first run, with figure 7-18 known, which has the cost of 0 and the measured one of about 1 ms:

- The lead of CATS is its throughput over FIFO's, seed by seed, as the geometric mean of the seeds.
- It crosses at the least cost at which the lead is 1, on straight lines between the costs; 0 us where CATS is ahead without printing.
- Printing outweighs the schedule from the least cost at which the lead is the square of the one without printing, so that
  printing and schedule have equal parts in it; where CATS is not ahead without printing, from the crossing on.
- An interval has the 5th and the 95th percentile of 2,000 draws of the seeds, the same of them for all costs.
- `CLAIMS` are expected; which of them hold is told as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from engineroom.chapters.cats.experiments.simulated import DEMANDS_OF, SCHEDULERS
from engineroom.chapters.cats.standings import CLIENTS, Leads
from engineroom.simulating.engine import COLUMNS, observed
from engineroom.simulating.experiment import Experiment, Given
from engineroom.simulating.sources import MACHINE, improved, sysbench

COSTS_US = (0, 500, 1_000, 2_000, 4_000)
SEEDS = tuple(range(1, 21))


CLAIMS: Mapping[str, Callable[[pd.DataFrame], bool]] = {
    "with 300 clients CATS is ahead without printing": lambda table: Leads.of(table, 300).lead(0).low > 1,
    "with 300 clients its lead grows with every step of the cost": lambda table: bool(
        (np.diff(Leads.of(table, 300).value) > 0).all()
    ),
    "with 300 clients printing outweighs the schedule below 1 ms": lambda table: (
        Leads.of(table, 300).even_us().high < 1_000
    ),
    "with 50 clients nobody is ahead without printing": lambda table: (
        Leads.of(table, 50).lead(0).low <= 1 <= Leads.of(table, 50).lead(0).high
    ),
    "with 50 clients CATS is ahead when printing costs 4 ms": lambda table: (
        Leads.of(table, 50).lead(4_000).low > 1
    ),
}


def _load() -> dict[str, Any]:
    return sysbench(DEMANDS_OF, rows=1_000_000, distribution="pareto", pareto_percent=20)


def _seen(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    locks = {"policy": SCHEDULERS[point["series"]], "print_ns": 1_000 * point["print_us"]}
    row, _ = observed(improved(locks=locks), given, clients=point["clients"], **window)
    return row


print_cost_sim = Experiment(
    figure="own-cats-print-cost",
    says="throughput of FIFO and CATS by what printing one deadlock costs",
    points={"clients": CLIENTS, "print_us": COSTS_US, "series": tuple(SCHEDULERS)},
    measure=_seen,
    options={"first_ms": 400, "longest_ms": 400, "warmup_ms": 300},
    seeds=SEEDS,
    load=_load,
    machine=MACHINE,
    columns={
        **COLUMNS,
        "clients": COLUMNS["concurrency"],
        "print_us": "what printing one deadlock takes, while all queues of locks are latched, us",
    },
)
