"""What limits a crowd, on live servers: `innodb_thread_concurrency` on all of them, and on 9.7 the thread pool, without and with a limit on transactions.

Two loads of SysBench on one table, with the same fsync time everywhere: updates by key of 10,000 rows drawn by Pareto's rule, of which the hottest gets more
than a quarter, and read-write transactions on 100,000 rows drawn evenly, READ COMMITTED, without a binary log. A cure lets `AT_MOST` of the clients in:
InnoDB's variable counts threads inside InnoDB and leaves out who waits for a row; the pool has `GROUPS` groups of threads, each of which runs two statements at a time
unless one waits; its limit counts transactions until they end. Settings of a version take turns, repeat by repeat, and the median of the repeats counts. Counts come
first: waits for rows, deadlocks, context switches and CPU time per transaction; throughput is what two processors make of them.

`CLAIMS` were written down before the first run. Seen before were 5.7.22 and 9.7.4 without any cure, on sixteen processors (`own-crowd`). A trial of a second per
point on a busy computer, to see that it runs, had 9.7.4 alone: its limits on threads and on transactions both took most of the waits for a row away; the claims stayed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.servers.catalogue import measured
from engineroom.servers.plugins import require_plugin
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

FIGURE = "own-engine-cures"
FSYNC_US = 100
TABLE_ROWS, HOT_ROWS = 100_000, 10_000
AT_MOST = 8
GROUPS = 2
NONE, THROTTLED, POOL, LIMITED = "none", "thread concurrency", "pool", "pool, limit"
# A variable that is set between runs, and servers that have to be started with what they are to have.
CONCURRENCY = {NONE: 0, THROTTLED: AT_MOST}
_IN_POOL: Mapping[str, str | int] = {"plugin_load_add": "thread_pool.so", "loose_thread_pool_size": GROUPS}
POOLS: Mapping[str, Mapping[str, str | int]] = {
    POOL: _IN_POOL,
    LIMITED: {**_IN_POOL, "loose_thread_pool_max_transactions_limit": AT_MOST},
}
HOT, UNIFORM = "hot rows", "uniform"
LOADS = {
    HOT: ("oltp_update_non_index", HOT_ROWS, "pareto"),
    UNIFORM: ("oltp_read_write", TABLE_ROWS, "uniform"),
}
OPTIONS: Mapping[str, str | int] = {
    "max_connections": 400,
    # A thread that ends takes its count of context switches along.
    "thread_cache_size": 400,
    "innodb_buffer_pool_size": "256M",
    "innodb_flush_log_at_trx_commit": 1,
    "transaction_isolation": "READ-COMMITTED",
}

COLUMNS = {
    "clients": "SysBench threads",
    "series": "the load",
    "setting": "the cure",
    "server": "version",
    "lock_waits_per_1000": "Innodb_row_lock_waits over transactions, differences during the run, times 1,000",
    "lock_wait_ms": "Innodb_row_lock_time over transactions, ms",
    "deadlocks_per_1000": "transactions begun and not committed, without the last of each client, over transactions, times 1,000",
    "switches": "context switches of the server's threads over transactions",
    "cpu_us": "CPU time of the server over transactions, us",
    "client_cpu_us": "CPU time of SysBench over transactions, us",
    "p99_ms": "99th percentile of a transaction's time as SysBench sees it, ms",
    "tps": "transactions over seconds",
    "transactions": "transactions that SysBench counted",
}


def cures_live(
    *,
    versions: Sequence[str] = measured(),
    clients: Sequence[int] = (1, 32, 256),
    repeats: int = 3,
    seconds: int = 1,
    fsync_us: int = FSYNC_US,
    table_rows: int = TABLE_ROWS,
) -> Run:
    """Count what transactions of a crowd cost with and without each cure."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting:
        for version in versions:
            with ExitStack() as stack:
                with preloaded(fsync_us):
                    plain = stack.enter_context(sitting.server(version, options=OPTIONS))
                    running = {NONE: plain, THROTTLED: plain}
                    for pool, more in POOLS.items() if plain.supports("thread_pool") else ():
                        server = sitting.server(version, options={**OPTIONS, **more}, label=pool)
                        running[pool] = stack.enter_context(server)
                        require_plugin(running[pool], "thread_pool")
                loads = {
                    setting: _filled(running[setting], table_rows)
                    for setting in running
                    if setting != THROTTLED
                }
                loads[THROTTLED] = loads[NONE]
                for load in loads[NONE], *(loads[pool] for pool in POOLS if pool in loads):
                    load[UNIFORM].run(threads=max(clients), seconds=1)
                turns = in_turns(repeats, LOADS, clients, running, desc=plain.called)
                for turn, (repeat, name, n, setting) in enumerate(turns):
                    if setting in CONCURRENCY:
                        plain.execute(f"SET GLOBAL innodb_thread_concurrency = {CONCURRENCY[setting]}")
                    how = {"threads": n, "seconds": seconds, "seed": 100 + turn}
                    seen = _measured(running[setting], loads[setting][name], **how)
                    where = {"clients": n, "series": name, "setting": setting, "repeat": repeat}
                    rows.append({**where, "server": plain.version, **seen})
    return sitting.run(
        FIGURE,
        rows,
        fsync_us=fsync_us,
        load=f"sysbench, 1 table of {table_rows} rows: oltp_update_non_index of {min(HOT_ROWS, table_rows)} by Pareto's rule; oltp_read_write, uniform; {seconds} s a run",
        at_most=AT_MOST,
        columns=COLUMNS,
    )


def _filled(server: Server, table_rows: int) -> dict[str, Sysbench]:
    """The loads, which share a table."""
    loads = {
        name: Sysbench(
            server,
            script,
            database="cures",
            table_rows=min(rows, table_rows),
            options=[f"--rand-type={distribution}"],
        )
        for name, (script, rows, distribution) in LOADS.items()
    }
    loads[UNIFORM].prepare()
    return loads


def _measured(server: Server, load: Sysbench, **how: int) -> dict[str, float]:
    switches, cpu_s = _switches(server), _cpu_s(server)
    ran = load.run(**how)
    done = max(1, ran.transactions)
    return {
        "lock_waits_per_1000": 1000 * ran.moved["Innodb_row_lock_waits"] / done,
        "lock_wait_ms": ran.moved["Innodb_row_lock_time"] / done,
        # What the end of the run cut off is in it: at most one of each client.
        "deadlocks_per_1000": 1000 * max(0, ran.rolled_back - ran.threads) / done,
        "switches": (_switches(server) - switches) / done,
        "cpu_us": 1e6 * (_cpu_s(server) - cpu_s) / done,
        "client_cpu_us": 1e6 * ran.client_cpu_s / done,
        "p99_ms": ran.latency_ms["p99"],
        "tps": ran.transactions / ran.seconds,
        "transactions": ran.transactions,
    }


def _cpu_s(server: Server) -> float:
    return server.cpu_seconds() or math.nan


def _switches(server: Server) -> float:
    """Context switches so far of the threads that the server has; nan where it runs elsewhere."""
    if server.pid is None:
        return math.nan
    found = 0
    for status in Path(f"/proc/{server.pid}/task").glob("*/status"):
        lines = status.read_text(encoding="utf-8").splitlines()
        found += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return found


def over_none(run: Run, y: str) -> pd.DataFrame:
    """What counts of `y` over the same server's without a cure, a column per cure; rows by load, server and clients."""
    of = run.values("series", "server", "clients", "setting", y=y).unstack("setting")
    return of.div(of[NONE], axis="index")


def in_crowd(run: Run, y: str, load: str, setting: str) -> pd.Series[float]:
    """The same of one load and cure with the most clients, by server; without servers that lack the cure."""
    most = run.table["clients"].max()
    of: pd.Series[float] = over_none(run, y)[setting].loc[load].xs(most, level="clients").dropna()
    return of


# What was expected -> whether a run has it so. The servers of the first recording have two processors.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "on hot rows with the most clients, innodb_thread_concurrency changes no server's throughput by a quarter": lambda run: (
        bool(in_crowd(run, "tps", HOT, THROTTLED).between(0.75, 1.25).all())
    ),
    "there the pool's limit on transactions leaves at most half of the waits for a row": lambda run: bool(
        (in_crowd(run, "lock_waits_per_1000", HOT, LIMITED) <= 0.5).all()
    ),
    "there it brings at least a tenth more updates per second": lambda run: bool(
        (in_crowd(run, "tps", HOT, LIMITED) >= 1.1).all()
    ),
    "on the uniform load with the most clients, a pool makes fewer context switches per transaction": lambda run: (
        all(bool((in_crowd(run, "switches", UNIFORM, pool) < 1).all()) for pool in POOLS)
    ),
    "with one client no cure costs a tenth of the throughput": lambda run: bool(
        (over_none(run, "tps").xs(1, level="clients").stack().dropna() >= 0.9).all()
    ),
}
