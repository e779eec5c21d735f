"""The engine under TPC-C beside the live servers that it models: with one warehouse and no binary log, and with ten and both logs synced.

As in `beside_servers` and `binlog_beside`, whose servers, machine and measures these are, the engine gets what single statements asked of a
server with one client, and SysBench's own CPU time. Every Payment changes the one warehouse, so with one warehouse nearly half of the clients stand
behind each other; with ten, an order's stock and a payment's customer may be another's. The demands are those of one warehouse in both.

On the live side SysBench sends the terminal's statements (`tpcc_sysbench`), in the order of the engine's programs. The servers' background
work, such as writing pages and purging, is not in the engine.

`CLAIMS` were written down for one warehouse, before the first run; for ten, those of `binlog_beside` are the goals. Seen before
were the engines alone with two numbers of clients, to know how long they take, and servers for seconds with tables of a hundredth, to see that each
transaction is done right. No throughput of a server stood beside one of its engine's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.chapters.engine.experiments.beside_servers import SERVERS, against_live, factors
from engineroom.chapters.engine.experiments.binlog_beside import binlog_live
from engineroom.runs import Run
from engineroom.simulating.engine import load_of
from engineroom.workloads import tpcc_sysbench
from engineroom.workloads.sysbench import Ran, Sysbench
from engineroom.workloads.tpcc_rows import Size

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["CLAIMS", "Terminals", "median_factor", "tpcc_binlog_live", "tpcc_live"]

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
_SCRIPTS = 5_000  # of the engine's, whose statements are counted


@dataclass(frozen=True, kw_only=True)
class Terminals:
    """TPC-C's transactions in the standard's mix."""

    warehouses: int = 1
    scale: float = 1.0  # of the live tables

    described = "TPC-C's terminals in sysbench, statements in text"

    def said(self) -> dict[str, Any]:
        return asdict(self)

    def filled(self, server: Server, folder: Path) -> Sysbench:
        return tpcc_sysbench.filled(server, Size(self.warehouses, self.scale), folder)

    def deadlocks(self, ran: Ran) -> int:
        """Of the errors that are passed over the others are waits of 50 s, longer than a run."""
        return ran.ignored_errors

    def in_engine(self, version: str) -> dict[str, Any]:
        return load_of(version, "tpcc", away_ns=0, warehouses=self.warehouses)

    def statements(self) -> float:
        return _statements(self.warehouses)


LOADS = {"TPC-C, 1 warehouse": Terminals()}
WITH_BINLOG = {"TPC-C, 10 warehouses": Terminals(warehouses=10)}


def tpcc_live(**how: Any) -> Run:
    """One warehouse, 1 to 64 clients: throughput, waits for rows, deadlocks."""
    return against_live(
        "own-engine-tpcc", **{"loads": LOADS, "clients": CLIENTS, "repeats": 3, "versions": SERVERS, **how}
    )


def tpcc_binlog_live(**how: Any) -> Run:
    """Ten warehouses, both logs synced at each commit: throughput, fsyncs, and which latches are waited for."""
    return binlog_live(
        "own-engine-tpcc-binlog",
        **{
            "loads": WITH_BINLOG,
            "options": {"innodb_buffer_pool_size": "2G"},
            "real_disk": False,
            **how,
        },
    )


def median_factor(column: pd.Series[float]) -> float | None:
    """By what the engine is off in the median, either way; None where no point has any on both sides."""
    off = column.dropna().map(math.log).abs()
    return math.exp(off.median()) if len(off) else None


@cache
def _statements(warehouses: int) -> float:
    from engineroom._native import engine

    load = {"kind": "tpcc", "warehouses": warehouses}
    return statistics.fmean(
        1 + sum(not step["is_next_of_statement"] for step in engine.script(load, seed=seed)["steps"])
        for seed in range(_SCRIPTS)
    )


def _crowds(run: Run) -> pd.DataFrame:
    return factors(run.table).drop(index=1, level="clients")


def _rare(run: Run, column: str, per_1000: float) -> bool:
    return bool((run.table[column] <= per_1000).all())


def _is_near(factor: float | None) -> bool:
    return factor is not None and factor <= 1.5


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "from two clients on throughput is off by at most 15 % in the median": lambda run: (
        float((_crowds(run)["throughput"] - 1).abs().median()) <= 0.15
    ),
    "it is off by at most 30 % at every such point": lambda run: (
        float((_crowds(run)["throughput"] - 1).abs().max()) <= 0.3
    ),
    "waits for a row per transaction are off by a factor of at most 1.5 in the median": lambda run: _is_near(
        median_factor(_crowds(run)["lock_waits"])
    ),
    # One order for all that takes a district, a warehouse and stock leaves little to deadlock over.
    "deadlocks are off by as much at most, or there are none to speak of, 1 per 1,000, on either side": lambda run: (
        _rare(run, "deadlocks_per_1000", 1) or _is_near(median_factor(_crowds(run)["deadlocks"]))
    ),
    "the time that a transaction waits for rows is off by a factor of at most 1.5 in the median": lambda run: (
        _is_near(median_factor(_crowds(run)["lock_wait"]))
    ),
}
