"""The engine on the simulated small computer beside the live servers that it models, on the same load at the same time.

The engine is given what one client's statements ask of the server, and what SysBench itself takes of a processor at one client: the clients share
the two processors with the server, and a client and its session take turns on them at each statement. What more clients do to each other is the prediction. Loads, clients and designs are fixed before
the first run. Left out is the way of a message between two processes, which costs most when few clients leave a processor idle.

The engine was made with `LOADS` in view. Two of them were held out at first: the first recording of `own-engine-held-out` has them, made by an engine
whose clients took no turns and whose special distribution was not SysBench's. That it waited too seldom for rows was then explained
with them in view. `HELD_OUT` are two loads that nothing was developed on, chosen without a look at either side: few rows, all alike, and more
rows that are drawn more unevenly. They are measured once, on a machine that does nothing else, and shown as they come.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from engineroom.machine.presets import parameters
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.runs.summary import several
from engineroom.simulating.engine import Design, load_of, observed, statements_of
from engineroom.simulating.experiment import Given
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Ran, Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "CLIENTS",
    "COLUMNS",
    "HELD_OUT",
    "LOADS",
    "SERVERS",
    "Load",
    "Rows",
    "against_live",
    "computer",
    "described",
    "factors",
    "held_out_live",
    "with_client",
]

CLIENTS = (1, 2, 4, 8, 16)
HELD_OUT_CLIENTS = (1, 2, 4, 8, 16, 32, 64)
FSYNC_US = 100
MACHINE = "laptop"
WINDOW: Mapping[str, int] = {"first_ms": 1_000, "longest_ms": 5_000, "warmup_ms": 500}
_OPTIONS: Mapping[str, str | int] = {
    "innodb_flush_log_at_trx_commit": 1,
    "transaction_isolation": "READ-COMMITTED",
    "innodb_buffer_pool_size": "256M",
}


class Load(Protocol):
    """A load that SysBench's threads run on a server, and simulated clients on its engine."""

    @property
    def described(self) -> str:
        """What it is, for the provenance."""

    def said(self) -> dict[str, Any]:
        """Its parameters, for the provenance."""

    def filled(self, server: Server, folder: Path) -> Sysbench:
        """The load on that server, whose tables are filled; files that it needs go into `folder`."""

    def deadlocks(self, ran: Ran) -> int:
        """Of a run, the transactions that were rolled back as victims."""

    def in_engine(self, version: str) -> dict[str, Any]:
        """As the engine takes it, without a client's time."""

    def statements(self) -> float:
        """That a client sends per transaction, in the mean."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """SysBench's read-write transactions, by the rows that they draw."""

    table_rows: int = 10_000
    distribution: str = "uniform"
    pareto_percent: int = 20  # as SysBench has it by default

    described = "sysbench oltp_read_write, 1 table"

    def said(self) -> dict[str, Any]:
        return asdict(self)

    def filled(self, server: Server, folder: Path) -> Sysbench:  # noqa: ARG002
        load = Sysbench(
            server,
            database=f"beside_{self.distribution}_{self.table_rows}",
            table_rows=self.table_rows,
            options=self.options(),
        )
        load.prepare()
        return load

    def options(self) -> list[str]:
        """As SysBench is told."""
        more = [f"--rand-pareto-h={self.pareto_percent / 100}"] if self.distribution == "pareto" else []
        return [f"--rand-type={self.distribution}", *more]

    def deadlocks(self, ran: Ran) -> int:
        # What the end of the run cut off is in it: at most one of each client.
        return max(0, ran.rolled_back - ran.threads)

    def in_engine(self, version: str) -> dict[str, Any]:
        return load_of(
            version,
            "sysbench_read_write",
            away_ns=0,
            rows=self.table_rows,
            distribution=self.distribution,
            pareto_percent=self.pareto_percent,
        )

    def statements(self) -> float:
        per_transaction = {"read_write.select_point": 10}
        return sum(per_transaction.get(name, 1) for name in statements_of("sysbench_read_write"))


LOADS: Mapping[str, Rows] = {
    "uniform": Rows(),
    "pareto": Rows(distribution="pareto"),
    "special, 100,000 rows": Rows(table_rows=100_000, distribution="special"),
    "pareto 10 %, 2,000 rows": Rows(table_rows=2_000, distribution="pareto", pareto_percent=10),
}
HELD_OUT: Mapping[str, Rows] = {
    "uniform, 500 rows": Rows(table_rows=500),
    "pareto 5 %, 50,000 rows": Rows(table_rows=50_000, distribution="pareto", pareto_percent=5),
}


@dataclass(frozen=True)
class Beside:
    """A server, and the engine that stands for it. Without a binary log row locks are let go before the commit is durable."""

    version: str
    design: Design
    options: Mapping[str, str] = field(default_factory=dict)


_NO_BINLOG = {"durable_first": False}
SERVERS: Mapping[str, Beside] = {
    "5.7.22": Beside("5.7", Design(lock_design="5.7", latches="5.7", redo="5.7", engine=_NO_BINLOG)),
    "8.0.15": Beside(
        "8.0",
        Design(lock_design="8.0.15", latches="8.0", redo="8.0", engine=_NO_BINLOG),
        {"disable_log_bin": "ON"},
    ),
    "9.7.4": Beside(
        "9.7",
        # The server's own default on two processors.
        Design(redo="8.0, writer threads off", engine=_NO_BINLOG),
        {"disable_log_bin": "ON", "innodb_log_writer_threads": "OFF"},
    ),
}
COLUMNS = {
    "clients": "threads of SysBench",
    "series": "server: measured; engine: simulated",
    "server": "version",
    "distribution": "of the rows that are drawn, of 10,000 where no number is told",
    "tps": "transactions per second",
    "deadlocks_per_1000": "rolled back, per 1,000 committed",
    "lock_waits_per_1000": "waits for a row, per 1,000 committed",
    "lock_wait_ms": "time that a transaction waits for rows, mean, ms",
    "client_cpu_us": "CPU time of SysBench per transaction, microseconds; of the engine what it was given",
    "transactions": "committed",
}


def computer(fsync_us: float) -> dict[str, Any]:
    """The simulated computer that stands for the servers': two processors, and a disk whose fsync takes so long."""
    return {
        **parameters(MACHINE),
        "disk_fsync_quantiles_ps": [round(fsync_us * 1e6)],
        "disk_is_timer": True,
    }


def with_client(load: Load, version: str, client_cpu_us: float) -> dict[str, Any]:
    """As that version's engine takes it, with the client's CPU time before its statements, in equal parts: it has the processors that the server has."""
    return {**load.in_engine(version), "client_ns": round(1000 * client_cpu_us / load.statements())}


def against_live(
    figure: str = "own-engine-live",
    *,
    loads: Mapping[str, Load] = LOADS,
    clients: Sequence[int] = CLIENTS,
    seconds: int = 5,
    repeats: int = 2,
    versions: Sequence[str] = tuple(SERVERS),
    window: Mapping[str, int] = WINDOW,
) -> Run:
    """Measure each server, then simulate the engine that stands for it. `clients` has 1, at which SysBench's own CPU time is read."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-beside-")))
        stack.enter_context(preloaded(FSYNC_US))
        for name in versions:
            beside = SERVERS[name]
            with sitting.server(beside.version, options={**_OPTIONS, **beside.options}) as server:
                for load in loads.items():
                    rows += _measured(server, load, folder, clients, seconds=seconds, repeats=repeats)
        for name in versions:
            for drawn, of in loads.items():
                mine = [row for row in rows if (row["server"], row["distribution"]) == (name, drawn)]
                rows += simulated_beside(mine, of, clients, repeats, window)
    return sitting.run(
        figure,
        rows,
        columns=COLUMNS,
        fsync_us=FSYNC_US,
        load=f"{described(loads)}, READ COMMITTED, {seconds} s a run",
        drawn={name: of.said() for name, of in loads.items()},
        designs={name: SERVERS[name].design.__dict__ for name in versions},
    )


def held_out_live(**how: Any) -> Run:
    """The same under the loads that nothing was developed on, up to 64 clients."""
    return against_live(
        "own-engine-held-out", **{"loads": HELD_OUT, "clients": HELD_OUT_CLIENTS, "repeats": 3, **how}
    )


def described(loads: Mapping[str, Load]) -> str:
    """What the loads are, each kind once."""
    return "; ".join(dict.fromkeys(of.described for of in loads.values()))


def factors(table: pd.DataFrame) -> pd.DataFrame:
    """The engine over its server, the medians of the repeats: a row per server, distribution and clients, the farthest throughput first.

    Of waits and deadlocks it is empty where either has none.
    """
    what = {
        "tps": "throughput",
        "lock_waits_per_1000": "lock_waits",
        "deadlocks_per_1000": "deadlocks",
        "lock_wait_ms": "lock_wait",
    }
    medians = several(table, "server", "distribution", "clients", "series", ys=list(what), how="median")
    engine, server = (pd.DataFrame(medians.xs(series, level="series")) for series in ("engine", "server"))
    found = (engine / server).where((engine > 0) & (server > 0)).rename(columns=what)
    farthest = found["throughput"].map(math.log).abs().sort_values(ascending=False, kind="stable")
    return found.loc[farthest.index]


def _measured(
    server: Server,
    load: tuple[str, Load],
    folder: Path,
    clients: Sequence[int],
    *,
    seconds: int,
    repeats: int,
) -> list[dict[str, Any]]:
    name, of = load
    sysbench_load = of.filled(server, folder)
    sysbench_load.run(threads=2, seconds=1)
    rows = []
    turns = in_turns(repeats, clients, desc=f"MySQL {server.version}, {name}")
    for at, (repeat, n) in enumerate(turns):
        ran = sysbench_load.run(threads=n, seconds=seconds, seed=at + 1)
        done = max(1, ran.transactions)
        rows.append(
            {
                "clients": n,
                "series": "server",
                "repeat": repeat,
                "server": server.version,
                "distribution": name,
                "tps": ran.transactions / ran.seconds,
                "deadlocks_per_1000": 1000 * of.deadlocks(ran) / done,
                "lock_waits_per_1000": 1000 * ran.moved["Innodb_row_lock_waits"] / done,
                "lock_wait_ms": ran.moved["Innodb_row_lock_time"] / done,
                "client_cpu_us": 1e6 * ran.client_cpu_s / done,
                "transactions": ran.transactions,
            }
        )
    return rows


def simulated_beside(
    measured: Sequence[Mapping[str, Any]],
    of: Load,
    clients: Sequence[int],
    repeats: int,
    window: Mapping[str, int],
) -> list[dict[str, Any]]:
    """The rows of the engine beside those of one server under one load."""
    name, load_name = measured[0]["server"], measured[0]["distribution"]
    client_cpu_us = statistics.median(
        row["client_cpu_us"] for row in measured if row["clients"] == min(clients)
    )
    load = with_client(of, name, client_cpu_us)
    machine = computer(FSYNC_US)
    rows = []
    for n in clients:
        for repeat in range(repeats):
            given = Given(machine=machine, load=load, seed=repeat + 1)
            seen, _ = observed(SERVERS[name].design, given, clients=n, **window)
            rows.append(
                {
                    "clients": n,
                    "series": "engine",
                    "repeat": repeat,
                    "server": name,
                    "distribution": load_name,
                    "tps": seen["tps"],
                    "deadlocks_per_1000": 1000 * seen["deadlocks"] / max(1, seen["transactions"]),
                    "lock_waits_per_1000": 1000 * seen["lock_waits"],
                    "lock_wait_ms": seen["lock_wait_ms"],
                    "client_cpu_us": client_cpu_us,
                    "transactions": seen["transactions"],
                }
            )
    return rows
