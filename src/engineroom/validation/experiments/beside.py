"""The engine on the simulated small computer beside the live servers that it models, on the same load at the same time.

The engine is given what one client's statements ask of the server (`own-demands` as measured on this computer, without a binary log), how long servers compute inside
their latches, and what SysBench itself takes of a processor at one client: the clients share the two processors with the server, and a client and its session take turns on them at each statement.
What more clients do to each other is the prediction; so is, with a binary log, what a commit costs and how commits share their fsyncs. Loads,
clients and designs are fixed before the first run. Left out is the way of a message between two processes, which costs most when few clients
leave a processor idle, and what servers do in the background, such as writing pages and purging.

Without a binary log the waits for rows are compared, with one the fsyncs, both logs synced at each commit. Goals are held against servers whose
fsync takes a given time; with a binary log the same is shown with the real disk: there the engine's takes what the server's fsyncs of the
binary log took with one client. Waits for latches are compared in runs of their own, since the server's instruments cost time.

The engine was made with `LOADS` in view. Two of them were held out at first: the first recording of `own-engine-held-out` has them, made by an engine
whose clients took no turns and whose special distribution was not SysBench's. That it waited too seldom for rows was then explained
with them in view. `HELD_OUT` are two loads that nothing was developed on, chosen without a look at either side: few rows, all alike, and more
rows that are drawn more unevenly. They are measured once, on a machine that does nothing else, and shown as they come. So are those of
`BINLOG_HELD_OUT`: before their one recording only the test ran one of them, for a second beside one server, and showed no throughput.

Under TPC-C every Payment changes the one warehouse, so with one warehouse nearly half of the clients stand behind each other; with ten, an order's
stock and a payment's customer may be another's. The demands are those of one warehouse in both. On the live side SysBench sends the terminal's
statements (`tpcc_sysbench`), in the order of the engine's programs.

The claims were written down before the first run of their experiments; those with a binary log are TPC-C's goals, too, where it has one. Seen before
were, with a binary log, the engine alone with one seed under the first load (1,020 to 1,180 transactions per second with 64 clients, most of their
waits for COND_done and then for LOCK_log) and one run of a second per point beside two servers on a computer that others had, where the clients
of both sides waited most for COND_done; of TPC-C, the engines alone with two numbers of clients, to know how long they take, and servers for
seconds with tables of a hundredth. No throughput of a server stood beside one of its engine's. Engines that were simulated again beside recorded servers have
intention locks that look where their server's do (`own-table-locks`) since the second of these recordings; none had been seen so before.
"""

from __future__ import annotations

import math
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from engineroom.machine.presets import parameters
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run, newest
from engineroom.runs.sitting import Sitting
from engineroom.runs.summary import several, values
from engineroom.simulating.engine import (
    COUNTS,
    EACH,
    LATER,
    LINES,
    Design,
    demands,
    holds,
    load_of,
    observed,
    statements_of,
)
from engineroom.simulating.experiment import Given
from engineroom.simulating.sweep import sweep
from engineroom.workloads import sysbench, tpcc_sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Ran, Sysbench
from engineroom.workloads.tpcc_rows import Size

if TYPE_CHECKING:
    from engineroom.servers import Server

MACHINE = "laptop"
# Of the servers' kernel, Linux 6.18 (kernel/sched/fair.c), on two processors: a base slice of 0.7 ms x (1 + log2 of the CPUs), and a woken thread whose deadline
# comes first displaces the one that runs.
SCHEDULER = {"slice_ps": 1_400_000_000, "latency_ps": 1_400_000_000, "wakeup_granularity_ps": 0}
STEADY, REAL = "steady disk", "real disk"
# The time of an fsync on the steady disk.
FSYNC_US, BINLOG_FSYNC_US = 100, 1000
OPTIONS: Mapping[str, str | int] = {
    "innodb_flush_log_at_trx_commit": 1,
    "transaction_isolation": "READ-COMMITTED",
    "innodb_buffer_pool_size": "256M",
}
_BINLOG_OPTIONS: Mapping[str, str | int] = {
    "sync_binlog": 1,
    "log_bin": "binlog",
    "server_id": 1,
    "max_connections": 200,
}
_SCRIPTS = 5_000  # of the engine's for TPC-C, whose statements are counted


class Load(Protocol):
    """A load that SysBench's threads run on a server, and simulated clients on its engine."""

    @property
    def described(self) -> str:
        """What it is, for the provenance."""

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

    def on(self, server: Server, database: str) -> Sysbench:
        """The load on that server, whose table is filled."""
        more = [f"--rand-pareto-h={self.pareto_percent / 100}"] if self.distribution == "pareto" else []
        options = [f"--rand-type={self.distribution}", *more]
        load = Sysbench(server, database=database, table_rows=self.table_rows, options=options)
        load.prepare()
        return load

    def filled(self, server: Server, folder: Path) -> Sysbench:  # noqa: ARG002
        return self.on(server, f"beside_{self.distribution}_{self.table_rows}")

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


@dataclass(frozen=True, kw_only=True)
class Terminals:
    """TPC-C's transactions in the standard's mix."""

    warehouses: int = 1
    scale: float = 1.0  # of the live tables

    described = "TPC-C's terminals in sysbench, statements in text"

    def filled(self, server: Server, folder: Path) -> Sysbench:
        return tpcc_sysbench.filled(server, Size(self.warehouses, self.scale), folder)

    def deadlocks(self, ran: Ran) -> int:
        """Of the errors that are passed over the others are waits of 50 s, longer than a run."""
        return ran.ignored_errors

    def in_engine(self, version: str) -> dict[str, Any]:
        return load_of(version, "tpcc", away_ns=0, warehouses=self.warehouses)

    def statements(self) -> float:
        return _tpcc_statements(self.warehouses)


@cache
def _tpcc_statements(warehouses: int) -> float:
    from engineroom._native import engine

    load = {"kind": "tpcc", "warehouses": warehouses}
    return statistics.fmean(
        1 + sum(not step["is_next_of_statement"] for step in engine.script(load, seed=seed)["steps"])
        for seed in range(_SCRIPTS)
    )


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
BINLOG_HELD_OUT: Mapping[str, Rows] = {
    "uniform, 200,000 rows": Rows(table_rows=200_000),
    "special, 3,000 rows": Rows(table_rows=3_000, distribution="special"),
}
TPCC_ONE = {"TPC-C, 1 warehouse": Terminals()}
TPCC_TEN = {"TPC-C, 10 warehouses": Terminals(warehouses=10)}


@dataclass(frozen=True)
class Beside:
    """A server, and the engine that stands for it."""

    version: str
    design: Design
    options: Mapping[str, str] = field(default_factory=dict)


def _servers(engine: Mapping[str, Any], **since_8_0: str) -> dict[str, Beside]:
    return {
        "5.7.22": Beside(
            "5.7", Design(lock_design="5.7", locks=EACH, latches="5.7", redo="5.7", engine=engine)
        ),
        "8.0.15": Beside(
            "8.0.15",
            Design(lock_design="8.0.15", locks=COUNTS, latches="8.0", redo="8.0", engine=engine),
            since_8_0,
        ),
        **{
            name: Beside(
                version,
                # Without writer threads, as 9.7.4 is by itself on two processors; 8.0.31 is set to it.
                Design(locks=COUNTS, redo="8.0, writer threads off", engine=engine),
                {**since_8_0, "innodb_log_writer_threads": "OFF"},
            )
            for name, version in (("8.0.31", "8.0.31"), ("9.7.4", "9.7"))
        },
    }


# Without a binary log row locks are let go before the commit is durable.
SERVERS = _servers({"durable_first": False}, disable_log_bin="ON")
_WITH_BINLOG = _servers({"binlog": "5.7.6"})

# Of a file, what is neither read nor written is opened, closed, sought or synced; a log that stays open is synced. Times are in ps.
_SYNCED = "SELECT COUNT_MISC, SUM_TIMER_MISC FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/binlog'"
_OF_LATCHES = "(NAME LIKE 'wait/synch/%/innodb/%' OR NAME LIKE 'wait/synch/%/sql/MYSQL_BIN_LOG::%')"
_SUMMARY = "performance_schema.events_waits_summary_global_by_event_name"
_WAITED = f"SELECT EVENT_NAME, SUM_TIMER_WAIT FROM {_SUMMARY} WHERE COUNT_STAR > 0 AND {_OF_LATCHES.replace('NAME', 'EVENT_NAME')}"
_LATCH = re.compile(r"LOCK_\w+|COND_done|\w+_mutex|\w+_rw_lock")

_COLUMNS = {
    "clients": "threads of SysBench",
    "series": "server: measured; engine: simulated",
    "server": "version",
    "tps": "transactions per second",
    "client_cpu_us": "CPU time of SysBench per transaction, microseconds; of the engine what it was given",
    "transactions": "committed",
}
COLUMNS = {
    **_COLUMNS,
    "distribution": "of the rows that are drawn, of 10,000 where no number is told",
    "deadlocks_per_1000": "rolled back, per 1,000 committed",
    "lock_waits_per_1000": "waits for a row, per 1,000 committed",
    "lock_wait_ms": "time that a transaction waits for rows, mean, ms",
}
BINLOG_COLUMNS = {
    **_COLUMNS,
    "distribution": "of the rows that are drawn of 10,000, and whether fsyncs take a given time or what the real disk takes",
    "redo_fsyncs": "of the redo log, per transaction",
    "binlog_fsyncs": "of the binary log, per transaction",
    "binlog_fsync_us": "mean time of the server's fsyncs of the binary log; of the engine what it was given",
    "latch": "a latch or condition by its name in performance_schema",
    "wait_us": "time that all clients together wait, per transaction, microseconds; a server's has each latch that was free in it, too",
}


def computer(fsync_us: float) -> dict[str, Any]:
    """The simulated computer that stands for the servers': two processors with their scheduler, and a disk whose fsync takes so long."""
    return {
        **parameters(MACHINE),
        **SCHEDULER,
        "disk_fsync_quantiles_ps": [round(fsync_us * 1e6)],
        "disk_is_timer": True,
    }


def with_client(load: Load, version: str, client_cpu_us: float) -> dict[str, Any]:
    """As that version's engine takes it, with the client's CPU time before its statements, in equal parts: it has the processors that the server has."""
    return {**load.in_engine(version), "client_ns": round(1000 * client_cpu_us / load.statements())}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Servers under some loads, and the engines that stand for them. Called, with other values for its fields, it makes the servers' run; `engines`
    makes that of the engines from it, and `pair` puts both together.

    `clients` has 1, at which SysBench's own CPU time is read. `options` are set on all servers. Those with a binary log run together and take turns
    under all loads; of the others each measures one load after the other by itself. The real disk, and the latches for which `latch_clients`
    wait on the steady one, are measured under the first load.
    """

    figure: str
    loads: Mapping[str, Any]
    clients: Sequence[int]
    seconds: int
    repeats: int
    window: Mapping[str, int]
    versions: Sequence[str] = tuple(SERVERS)
    options: Mapping[str, str | int] = field(default_factory=dict)
    has_binlog: bool = False
    has_real_disk: bool = False
    latch_clients: Sequence[int] = ()

    def __call__(self, **otherwise: Any) -> Run:
        """The run; `otherwise` has other values for fields."""
        return replace(self, **otherwise)._run()

    def _run(self) -> Run:
        sysbench.require()
        rows: list[dict[str, Any]] = []
        latches: list[dict[str, Any]] = []
        with LiveSitting(seed=1) as sitting:
            for disk in self._disks():
                for versions in self._groups(self.versions):
                    for row, waits in self._on_servers(sitting, disk, versions):
                        rows += row
                        latches += waits
        described = "; ".join(dict.fromkeys(load.described for load in self.loads.values()))
        return sitting.run(
            self.figure,
            rows,
            columns=self._columns,
            tables={"latches": latches} if latches else None,
            fsync_us=self._fsync_us,
            load=f"{described}, READ COMMITTED,{' binary log, 1/1,' if self.has_binlog else ''} {self.seconds} s a run",
            drawn={name: asdict(load) for name, load in self.loads.items()},
        )

    def engines(self, servers: Run | None = None, *, executor: Executor | None = None, **window: int) -> Run:
        """The engines' run, given what that run of the servers says of one client: by default the newest that is recorded."""
        servers = servers or newest(self.figure, "live")
        measured = servers.table[servers.table["series"] == "server"]
        points = [
            {"disk": disk, "version": version, "load": load, "n": int(n), "repeat": repeat}
            for disk, names in self._disks().items()
            for version, load in product(dict.fromkeys(measured["server"]), names)
            for n in dict.fromkeys(measured["clients"])
            for repeat in range(self.repeats)
        ]
        alone: Any = measured[measured["clients"] == 1].to_dict("records")
        counted = set(servers.tables["latches"]["clients"]) if "latches" in servers.tables else ()
        with Sitting("sim", seed=1) as sitting:
            simulate = partial(self._on_engine, alone, {**self.window, **window})
            seen = sweep(simulate, points, executor=executor, desc=f"{self.figure}, engines")
        latches = [
            at | wait
            for point, (at, waits) in zip(points, seen, strict=True)
            if point["disk"] == STEADY and point["load"] == self._first and point["n"] in counted
            for at in [{name: at[name] for name in ("clients", "series", "repeat", "server", "distribution")}]
            for wait in waits
        ]
        return sitting.run(
            self.figure,
            [row for row, _ in seen],
            columns=self._columns,
            tables={"latches": latches} if latches else None,
            servers_of=servers.recorded_at,
            machine=computer(self._fsync_us),
            demands=f"own-demands, live {LATER}",
            designs={name: beside.design.said() for name, beside in self._servers.items()},
        )

    @property
    def _columns(self) -> Mapping[str, str]:
        return BINLOG_COLUMNS if self.has_binlog else COLUMNS

    @property
    def _servers(self) -> Mapping[str, Beside]:
        return _WITH_BINLOG if self.has_binlog else SERVERS

    @property
    def _fsync_us(self) -> int:
        return BINLOG_FSYNC_US if self.has_binlog else FSYNC_US

    @property
    def _first(self) -> str:
        return next(iter(self.loads))

    def _disks(self) -> dict[str, Sequence[str]]:
        return {STEADY: tuple(self.loads), **({REAL: (self._first,)} if self.has_real_disk else {})}

    def _groups(self, names: Sequence[str]) -> list[Sequence[str]]:
        """What takes turns with each other."""
        return [names] if self.has_binlog else [(name,) for name in names]

    def _at(self, n: int, series: str, repeat: int, version: str, drawn: tuple[str, str]) -> dict[str, Any]:
        distribution = ", ".join(drawn) if self.has_binlog else drawn[0]
        return {
            "clients": n,
            "series": series,
            "repeat": repeat,
            "server": version,
            "distribution": distribution,
        }

    def _on_servers(
        self, sitting: LiveSitting, disk: str, versions: Sequence[str]
    ) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
        """Rows, and those of latches, of servers that run at the same time."""
        label = disk if self.has_binlog else None
        options = {**OPTIONS, **(_BINLOG_OPTIONS if self.has_binlog else {})}
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-beside-")))
            stack.enter_context(preloaded(self._fsync_us) if disk == STEADY else nullcontext())
            running = {}
            for version in versions:
                beside = self._servers[version]
                chosen = {**options, **beside.options, **self.options}
                running[version] = stack.enter_context(
                    sitting.server(beside.version, options=chosen, label=label)
                )
            for names in self._groups(self._disks()[disk]):
                ready = {}
                for version, load in product(versions, names):
                    ready[version, load] = self.loads[load].filled(running[version], folder)
                    ready[version, load].run(threads=2, seconds=1)
                turns = in_turns(
                    self.repeats, versions, names, self.clients, desc=f"{', '.join(names)}, {disk}"
                )
                for turn, (repeat, version, load, n) in enumerate(turns):
                    how = {"threads": n, "seconds": self.seconds, "seed": turn + 1}
                    ran = self._measured(running[version], ready[version, load], load, **how)
                    yield [self._at(n, "server", repeat, version, (load, disk)) | ran], []
                if disk == STEADY and self._first in names:
                    turns = in_turns(self.repeats, versions, self.latch_clients, desc="latches")
                    for turn, (repeat, version, n) in enumerate(turns):
                        how = {"threads": n, "seconds": self.seconds, "seed": 1000 + turn}
                        waits = _waits(running[version], ready[version, self._first], **how)
                        at = self._at(n, "server", repeat, version, (self._first, disk))
                        yield [], [at | wait for wait in waits]

    def _measured(self, server: Server, tables: Sysbench, load: str, **how: int) -> dict[str, Any]:
        before = _synced(server) if self.has_binlog else (0, 0)
        ran = tables.run(**how)
        done = max(1, ran.transactions)
        if self.has_binlog:
            fsyncs, ps = (after - of for after, of in zip(_synced(server), before, strict=True))
            more = {
                "redo_fsyncs": ran.moved["Innodb_os_log_fsyncs"] / done,
                "binlog_fsyncs": fsyncs / done,
                "binlog_fsync_us": ps / max(1, fsyncs) / 1e6,
            }
        else:
            more = {
                "deadlocks_per_1000": 1000 * self.loads[load].deadlocks(ran) / done,
                "lock_waits_per_1000": 1000 * ran.moved["Innodb_row_lock_waits"] / done,
                "lock_wait_ms": ran.moved["Innodb_row_lock_time"] / done,
            }
        return {
            "tps": ran.transactions / ran.seconds,
            **more,
            "client_cpu_us": 1e6 * ran.client_cpu_s / done,
            "transactions": ran.transactions,
        }

    def _on_engine(
        self,
        alone: Sequence[Mapping[str, Any]],
        window: Mapping[str, int],
        /,
        *,
        disk: str,
        version: str,
        load: str,
        n: int,
        repeat: int,
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A row of the engine that stands for a server, and its waits for latches; `alone` are the rows of servers with one client."""
        at = self._at(n, "engine", repeat, version, (load, disk))
        beside = [row for row in alone if all(row[name] == at[name] for name in ("server", "distribution"))]
        client_cpu_us = statistics.median(row["client_cpu_us"] for row in beside)
        fsync_us = (
            self._fsync_us if disk == STEADY else statistics.median(row["binlog_fsync_us"] for row in beside)
        )
        asked = with_client(self.loads[load], version, client_cpu_us)
        asked |= {**LINES, "demands": demands(version, asked["kind"], LATER), "holds": holds()}
        given = Given(machine=computer(fsync_us), load=asked, seed=repeat + 1)
        seen, waits = observed(self._servers[version].design, given, clients=n, **window)
        if self.has_binlog:
            more = {
                "redo_fsyncs": seen["fsyncs"],
                "binlog_fsyncs": seen["binlog_fsyncs"],
                "binlog_fsync_us": fsync_us,
            }
        else:
            more = {
                "deadlocks_per_1000": 1000 * seen["deadlocks"] / max(1, seen["transactions"]),
                "lock_waits_per_1000": 1000 * seen["lock_waits"],
                "lock_wait_ms": seen["lock_wait_ms"],
            }
        given_and_done = {"client_cpu_us": client_cpu_us, "transactions": seen["transactions"]}
        row = {**at, "tps": seen["tps"], **more, **given_and_done}
        return row, _only_latches({wait["latch"]: wait["wait_us"] for wait in waits})


against_live = Comparison(
    figure="own-engine-live",
    loads=LOADS,
    clients=(1, 2, 4, 8, 16),
    seconds=5,
    repeats=2,
    window={"first_ms": 1_000, "longest_ms": 5_000, "warmup_ms": 500},
)
held_out_live = replace(
    against_live, figure="own-engine-held-out", loads=HELD_OUT, clients=(1, 2, 4, 8, 16, 32, 64), repeats=3
)
tpcc_live = replace(held_out_live, figure="own-engine-tpcc", loads=TPCC_ONE)
binlog_live = Comparison(
    figure="own-engine-live-binlog",
    loads={name: LOADS[name] for name in ("uniform", "pareto")},
    clients=(1, 4, 16, 64),
    latch_clients=(16, 64),
    seconds=4,
    repeats=3,
    window={"first_ms": 1_000, "longest_ms": 4_000, "warmup_ms": 500},
    has_binlog=True,
    has_real_disk=True,
)
held_out_binlog_live = replace(
    binlog_live, figure="own-engine-held-out-binlog", loads=BINLOG_HELD_OUT, has_real_disk=False
)
tpcc_binlog_live = replace(
    held_out_binlog_live,
    figure="own-engine-tpcc-binlog",
    loads=TPCC_TEN,
    options={"innodb_buffer_pool_size": "2G"},
)
COMPARISONS = (
    against_live,
    held_out_live,
    tpcc_live,
    binlog_live,
    held_out_binlog_live,
    tpcc_binlog_live,
)


def _synced(server: Server) -> tuple[int, int]:
    ((fsyncs, ps),) = server.query(_SYNCED)
    return int(fsyncs), int(ps)


def _waits(server: Server, tables: Sysbench, **how: int) -> list[dict[str, Any]]:
    """What a server's threads waited for, in a run with the instruments of its latches on."""
    with _counted(server):
        ran = tables.run(**how)
        waited = server.query(_WAITED)
    done = max(1, ran.transactions)
    named = {str(event).rpartition("/")[2].rpartition("::")[2]: int(ps) / 1e6 / done for event, ps in waited}
    return _only_latches(named)


@contextmanager
def _counted(server: Server) -> Iterator[None]:
    update = "UPDATE performance_schema.setup_instruments SET ENABLED = '{0}', TIMED = '{0}' WHERE {1}"
    server.execute(update.format("YES", _OF_LATCHES), f"TRUNCATE TABLE {_SUMMARY}")
    try:
        yield
    finally:
        server.execute(update.format("NO", _OF_LATCHES))


def _only_latches(wait_us: Mapping[str, float]) -> list[dict[str, Any]]:
    """Without what is no latch, such as events on which a server's threads sleep while there is nothing to do."""
    return [{"latch": name, "wait_us": us} for name, us in wait_us.items() if _LATCH.fullmatch(name)]


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
    engine, server = _both(table, what)
    found = (engine / server).where((engine > 0) & (server > 0)).rename(columns=what)
    farthest = found["throughput"].map(math.log).abs().sort_values(ascending=False, kind="stable")
    return found.loc[farthest.index]


def ratios(run: Run, disk: str = STEADY) -> pd.DataFrame:
    """The engine over its server, medians of the repeats: a row per server, distribution and clients with tps, redo_fsyncs and binlog_fsyncs."""
    mine = run.table[run.table["distribution"].str.endswith(disk)]
    engine, server = _both(mine, ["tps", "redo_fsyncs", "binlog_fsyncs"])
    return engine / server


def _both(table: pd.DataFrame, what: Sequence[str] | Mapping[str, str]) -> list[pd.DataFrame]:
    medians = several(table, "server", "distribution", "clients", "series", ys=list(what), how="median")
    return [pd.DataFrame(medians.xs(series, level="series")) for series in ("engine", "server")]


def ranked(run: Run) -> dict[tuple[str, int], pd.DataFrame]:
    """For each server and number of clients the waits per transaction of the latches that both name, columns server and engine, the server's longest first.

    A latch is named by the engine if it is waited for at any number of clients; where it is not, the engine's wait is 0.
    """
    found = {}
    waits = run.tables["latches"]
    for version, mine in waits.groupby("server"):
        table = mine.pivot_table(
            index=["clients", "latch"], columns="series", values="wait_us", aggfunc="median"
        )
        named = {series: set(mine[mine["series"] == series]["latch"]) for series in ("server", "engine")}
        both = sorted(named["server"] & named["engine"])
        for n in sorted(set(mine["clients"])):
            of = table.loc[n].reindex(both).fillna(0.0)
            found[str(version), int(n)] = of.sort_values("server", ascending=False)
    return found


def _growth(run: Run, series: str) -> pd.Series[float]:
    """Throughput with the most clients over that of one, by server and distribution."""
    mine = run.table[(run.table["series"] == series) & run.table["distribution"].str.endswith(STEADY)]
    tps = values(mine, "server", "distribution", "clients", y="tps", how="median").unstack("clients")
    return tps[tps.columns.max()] / tps[1]


def _agreement(of: pd.DataFrame) -> float:
    """Spearman's coefficient of the waits of both sides."""
    return float(of["server"].rank().corr(of["engine"].rank()))


def _within(column: pd.Series[float], percent: float) -> bool:
    return bool(((column - 1).abs() <= percent / 100).all())


def _crowds(run: Run) -> pd.DataFrame:
    return factors(run.table).drop(index=1, level="clients")


def _is_near(factors: pd.Series[float]) -> bool:
    """Whether the median is off by a factor of at most 1.5, either way; not where no point has any on both sides."""
    off = factors.dropna().map(math.log).abs()
    return bool(len(off)) and math.exp(off.median()) <= 1.5


# What was expected -> whether a run has it so.
BINLOG_CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "on the steady disk throughput is off by at most 15 % in the median": lambda run: (
        float((ratios(run)["tps"] - 1).abs().median()) <= 0.15
    ),
    "there it is off by at most 30 % at every point": lambda run: _within(ratios(run)["tps"], 30),
    "fsyncs of the redo log per transaction are within 20 % at every point": lambda run: _within(
        ratios(run)["redo_fsyncs"], 20
    ),
    "fsyncs of the binary log per transaction are within 20 % at every point": lambda run: _within(
        ratios(run)["binlog_fsyncs"], 20
    ),
    "64 clients have as many times the throughput of one as on the server, within 30 %": lambda run: _within(
        _growth(run, "engine") / _growth(run, "server"), 30
    ),
    "what a server's clients wait longest for is among the engine's two longest, on every server": lambda run: (
        all(of.index[0] in list(of["engine"].nlargest(2).index) for of in ranked(run).values())
    ),
    "the ranks of the waits agree: Spearman's coefficient is at least 0.7 in the median": lambda run: (
        pd.Series([_agreement(of) for of in ranked(run).values()]).median() >= 0.7
    ),
}
TPCC_CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "from two clients on throughput is off by at most 15 % in the median": lambda run: (
        float((_crowds(run)["throughput"] - 1).abs().median()) <= 0.15
    ),
    "it is off by at most 30 % at every such point": lambda run: _within(_crowds(run)["throughput"], 30),
    "waits for a row per transaction are off by a factor of at most 1.5 in the median": lambda run: _is_near(
        _crowds(run)["lock_waits"]
    ),
    # One order for all that takes a district, a warehouse and stock leaves little to deadlock over.
    "deadlocks are off by as much at most, or there are none to speak of, 1 per 1,000, on either side": lambda run: (
        bool((run.table["deadlocks_per_1000"] <= 1).all()) or _is_near(_crowds(run)["deadlocks"])
    ),
    "the time that a transaction waits for rows is off by a factor of at most 1.5 in the median": lambda run: (
        _is_near(_crowds(run)["lock_wait"])
    ),
}
