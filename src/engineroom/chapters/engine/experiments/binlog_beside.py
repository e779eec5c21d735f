"""The engine with a binary log beside the live servers that it models, both logs synced at each commit.

As in `beside_servers`, the engine gets what single statements asked of the server with one client, and SysBench's own CPU time; neither was
measured with a binary log. What a commit with one costs, and how commits share their fsyncs, is the prediction. Goals are held against
servers whose fsync takes a given time. The same is shown with the real disk: there the engine's takes what the server's fsyncs of the binary
log took with one client.

Waits are compared for the latches and conditions that both sides name, in runs of their own, since the server's instruments cost time.

`CLAIMS` were written down before the first run of this experiment. Seen before was the engine alone, with one seed under the first load:
1,020 to 1,180 transactions per second with 64 clients, most of their waits for COND_done and then for LOCK_log; and, to see that it runs, one run
of a second per point beside two servers on a computer that others had, where the clients of both sides waited most for COND_done.

`HELD_OUT` are two loads that nothing was developed on: many rows, all alike, and few that are drawn unevenly. Their claims are the same ones, and
their one recording is shown as it comes. Before it only the test ran the second of them, for a second beside one server, and showed no throughput.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.chapters.engine.experiments.beside_servers import (
    LOADS,
    Beside,
    Load,
    Rows,
    computer,
    described,
    with_client,
)
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.runs.summary import several, values
from engineroom.simulating.engine import Design, observed
from engineroom.simulating.experiment import Given
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["CLAIMS", "HELD_OUT", "SERVERS", "binlog_live", "held_out_binlog_live", "ranked", "ratios"]

CLIENTS = (1, 4, 16, 64)
LATCH_CLIENTS = (16, 64)
FSYNC_US = 1000
STEADY, REAL = "steady disk", "real disk"
WINDOW: Mapping[str, int] = {"first_ms": 1_000, "longest_ms": 4_000, "warmup_ms": 500}
BESIDE = {name: LOADS[name] for name in ("uniform", "pareto")}
HELD_OUT: Mapping[str, Load] = {
    "uniform, 200,000 rows": Rows(table_rows=200_000),
    "special, 3,000 rows": Rows(table_rows=3_000, distribution="special"),
}
_BINLOG = {"binlog": "5.7.6"}
SERVERS: Mapping[str, Beside] = {
    "5.7.22": Beside("5.7", Design(lock_design="5.7", latches="5.7", redo="5.7", engine=_BINLOG)),
    "8.0.15": Beside("8.0", Design(lock_design="8.0.15", latches="8.0", redo="8.0", engine=_BINLOG)),
    "9.7.4": Beside(
        "9.7",
        Design(redo="8.0, writer threads off", engine=_BINLOG),
        {"innodb_log_writer_threads": "OFF"},
    ),
}
_OPTIONS: Mapping[str, str | int] = {
    "innodb_flush_log_at_trx_commit": 1,
    "sync_binlog": 1,
    "log_bin": "binlog",
    "server_id": 1,
    "max_connections": 200,
    "transaction_isolation": "READ-COMMITTED",
    "innodb_buffer_pool_size": "256M",
}
_NONE: Mapping[str, str | int] = {}
# Of a file, what is neither read nor written is opened, closed, sought or synced; a log that stays open is synced. Times are in ps.
_SYNCED = "SELECT COUNT_MISC, SUM_TIMER_MISC FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/binlog'"
_OF_LATCHES = "(NAME LIKE 'wait/synch/%/innodb/%' OR NAME LIKE 'wait/synch/%/sql/MYSQL_BIN_LOG::%')"
_SUMMARY = "performance_schema.events_waits_summary_global_by_event_name"
_WAITED = f"SELECT EVENT_NAME, SUM_TIMER_WAIT FROM {_SUMMARY} WHERE COUNT_STAR > 0 AND {_OF_LATCHES.replace('NAME', 'EVENT_NAME')}"
_LATCH = re.compile(r"LOCK_\w+|COND_done|\w+_mutex|\w+_rw_lock")

COLUMNS = {
    "clients": "threads of SysBench",
    "series": "server: measured; engine: simulated",
    "server": "version",
    "distribution": "of the rows that are drawn of 10,000, and whether fsyncs take a given time or what the real disk takes",
    "tps": "transactions per second",
    "redo_fsyncs": "of the redo log, per transaction",
    "binlog_fsyncs": "of the binary log, per transaction",
    "binlog_fsync_us": "mean time of the server's fsyncs of the binary log; of the engine what it was given",
    "client_cpu_us": "CPU time of SysBench per transaction, microseconds; of the engine what it was given",
    "transactions": "committed",
    "latch": "a latch or condition by its name in performance_schema",
    "wait_us": "time that all clients together wait, per transaction, microseconds; a server's has each latch that was free in it, too",
}


def binlog_live(
    figure: str = "own-engine-live-binlog",
    *,
    loads: Mapping[str, Load] = BESIDE,
    clients: Sequence[int] = CLIENTS,
    latch_clients: Sequence[int] = LATCH_CLIENTS,
    seconds: int = 4,
    repeats: int = 3,
    versions: Sequence[str] = tuple(SERVERS),
    window: Mapping[str, int] = WINDOW,
    options: Mapping[str, str | int] = _NONE,
    real_disk: bool = True,
) -> Run:
    """Measure the servers in turns, then simulate the engines that stand for them. `clients` has 1; the real disk is measured under the first load.

    `options` are set on all servers.
    """
    sysbench.require()
    rows: list[dict[str, Any]] = []
    latches: list[dict[str, Any]] = []
    first = dict([next(iter(loads.items()))])
    disks: list[tuple[str, Mapping[str, Load]]] = [(STEADY, loads)]
    if real_disk:
        disks.append((REAL, first))
    with LiveSitting(seed=1) as sitting:
        for disk, of_disk in disks:
            with ExitStack() as stack:
                if disk == STEADY:
                    stack.enter_context(preloaded(FSYNC_US))
                ready = _prepared(stack, sitting, versions, of_disk, disk=disk, options=options)
                turns = in_turns(repeats, versions, of_disk, clients, desc=disk)
                for turn, (repeat, name, load, n) in enumerate(turns):
                    ran = _measured(*ready[name, load], threads=n, seconds=seconds, seed=turn + 1)
                    where = _where(n, "server", repeat, name, f"{load}, {disk}")
                    rows.append(where | ran)
                if disk == STEADY:
                    turns = in_turns(repeats, versions, first, latch_clients, desc="latches")
                    for turn, (repeat, name, load, n) in enumerate(turns):
                        waits = _waits(*ready[name, load], threads=n, seconds=seconds, seed=1000 + turn)
                        where = _where(n, "server", repeat, name, f"{load}, {disk}")
                        latches += [where | wait for wait in waits]
        for disk, of_disk in disks:
            for name, load in product(versions, of_disk.items()):
                simulated = _simulated(name, load, disk, beside=rows, window=window)
                for n, repeat in product(clients, range(repeats)):
                    row, waits = simulated(n, seed=repeat + 1)
                    where = _where(n, "engine", repeat, name, f"{load[0]}, {disk}")
                    rows.append(where | row)
                    if disk == STEADY and load[0] in first and n in latch_clients:
                        latches += [where | wait for wait in waits]
    return sitting.run(
        figure,
        rows,
        columns=COLUMNS,
        tables={"latches": latches},
        fsync_us=FSYNC_US,
        load=f"{described(loads)}, READ COMMITTED, binary log, 1/1, {seconds} s a run",
        drawn={name: of.said() for name, of in loads.items()},
        designs={name: SERVERS[name].design.__dict__ for name in versions},
    )


def held_out_binlog_live(**how: Any) -> Run:
    """The same under the loads that nothing was developed on, on the steady disk alone."""
    return binlog_live("own-engine-held-out-binlog", **{"loads": HELD_OUT, "real_disk": False, **how})


def ratios(run: Run, disk: str = STEADY) -> pd.DataFrame:
    """The engine over its server, medians of the repeats: a row per server, distribution and clients with tps, redo_fsyncs and binlog_fsyncs."""
    mine = run.table[run.table["distribution"].str.endswith(disk)]
    by = ("server", "distribution", "clients", "series")
    medians = several(mine, *by, ys=["tps", "redo_fsyncs", "binlog_fsyncs"], how="median")
    return pd.DataFrame(medians.xs("engine", level="series") / medians.xs("server", level="series"))


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


def _prepared(
    stack: ExitStack,
    sitting: LiveSitting,
    versions: Sequence[str],
    loads: Mapping[str, Load],
    *,
    disk: str,
    options: Mapping[str, str | int],
) -> dict[tuple[str, str], tuple[Server, Sysbench]]:
    """Servers that all run, with their tables, by version and load."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-beside-")))
    ready = {}
    for name in versions:
        beside = SERVERS[name]
        chosen = {**_OPTIONS, **beside.options, **options}
        server = stack.enter_context(sitting.server(beside.version, options=chosen, label=disk))
        for load, of in loads.items():
            tables = of.filled(server, folder)
            tables.run(threads=2, seconds=1)
            ready[name, load] = (server, tables)
    return ready


def _where(n: int, series: str, repeat: int, version: str, distribution: str) -> dict[str, Any]:
    return {"clients": n, "series": series, "repeat": repeat, "server": version, "distribution": distribution}


def _measured(server: Server, load: Sysbench, *, threads: int, seconds: int, seed: int) -> dict[str, Any]:
    before = _synced(server)
    ran = load.run(threads=threads, seconds=seconds, seed=seed)
    fsyncs, ps = (after - of for after, of in zip(_synced(server), before, strict=True))
    done = max(1, ran.transactions)
    return {
        "tps": ran.transactions / ran.seconds,
        "redo_fsyncs": ran.moved["Innodb_os_log_fsyncs"] / done,
        "binlog_fsyncs": fsyncs / done,
        "binlog_fsync_us": ps / max(1, fsyncs) / 1e6,
        "client_cpu_us": 1e6 * ran.client_cpu_s / done,
        "transactions": ran.transactions,
    }


def _synced(server: Server) -> tuple[int, int]:
    ((fsyncs, ps),) = server.query(_SYNCED)
    return int(fsyncs), int(ps)


def _waits(server: Server, load: Sysbench, *, threads: int, seconds: int, seed: int) -> list[dict[str, Any]]:
    """What a server's threads waited for, in a run with the instruments of its latches on."""
    with _counted(server):
        ran = load.run(threads=threads, seconds=seconds, seed=seed)
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


def _simulated(
    version: str,
    drawn: tuple[str, Load],
    disk: str,
    *,
    beside: Sequence[Mapping[str, Any]],
    window: Mapping[str, int],
) -> Callable[..., tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The engine that stands for a server, given what the measured rows say of one client there: clients and a seed in, a row and its waits out."""
    load_name, of = drawn
    there = (version, f"{load_name}, {disk}", 1, "server")
    alone = [
        row for row in beside if (row["server"], row["distribution"], row["clients"], row["series"]) == there
    ]
    client_cpu_us = statistics.median(row["client_cpu_us"] for row in alone)
    fsync_us = FSYNC_US if disk == STEADY else statistics.median(row["binlog_fsync_us"] for row in alone)
    machine = computer(fsync_us)
    load = with_client(of, version, client_cpu_us)

    def simulated(n: int, *, seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        given = Given(machine=machine, load=load, seed=seed)
        seen, waits = observed(SERVERS[version].design, given, clients=n, **window)
        row = {
            "tps": seen["tps"],
            "redo_fsyncs": seen["fsyncs"],
            "binlog_fsyncs": seen["binlog_fsyncs"],
            "binlog_fsync_us": fsync_us,
            "client_cpu_us": client_cpu_us,
            "transactions": seen["transactions"],
        }
        return row, _only_latches({wait["latch"]: wait["wait_us"] for wait in waits})

    return simulated


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


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
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
