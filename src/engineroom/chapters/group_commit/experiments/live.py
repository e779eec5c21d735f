"""Groups on live servers: fsyncs, stages, latency and CPU time per commit, by clients and durability, at a steady fsync time.

The load is SysBench's update_non_index: one UPDATE by primary key that commits by itself. MySQL counts no groups; but a group takes
each stage's mutex once, so acquisitions of LOCK_log, LOCK_sync and LOCK_commit per commit are one over the mean size of a group.
MariaDB counts groups itself, and writes, syncs and commits each as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from engineroom.chapters.group_commit.experiments.designs import SERVERS
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

FSYNC_US = 1000
SERIES = (*SERVERS, "mariadb")
CLIENTS = (1, 2, 4, 8, 16, 32, 64)
TABLE_ROWS = 100_000
_DELAY = "binlog_group_commit_sync_delay"
# What is set for each; where a server has no such variable (5.6 and the delay) the setting is left out.
SETTINGS: Mapping[str, Mapping[str, int]] = {
    "1/1": {"innodb_flush_log_at_trx_commit": 1, "sync_binlog": 1},
    "1/1, delay 5 ms": {"innodb_flush_log_at_trx_commit": 1, "sync_binlog": 1, _DELAY: 5000},
    "2/1000": {"innodb_flush_log_at_trx_commit": 2, "sync_binlog": 1000},
    "0/0": {"innodb_flush_log_at_trx_commit": 0, "sync_binlog": 0},
}
_OPTIONS = {
    "max_connections": "200",
    "innodb_buffer_pool_size": "256M",
    "log_bin": "binlog",
    "server_id": "1",
    "max_binlog_size": "1G",
    "performance_schema": "ON",
    "performance_schema_instrument": "wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_%=ON",
}
_MUTEXES = {
    "flush_groups_per_commit": "LOCK_log",
    "sync_groups_per_commit": "LOCK_sync",
    "commit_groups_per_commit": "LOCK_commit",
}
_COUNTED = (
    "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name "
    "WHERE EVENT_NAME LIKE 'wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_%'"
)
# Of a file, what is neither read nor written is opened, closed, sought or synced; a log that stays open is synced.
_SYNCED = "SELECT COUNT_MISC FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/binlog'"

COLUMNS = {
    "clients": "SysBench threads",
    "series": "server",
    "setting": "innodb_flush_log_at_trx_commit/sync_binlog, and the delay where there is one",
    "redo_fsyncs_per_commit": "Innodb_os_log_fsyncs over transactions, differences during the run; MariaDB no longer counts them",
    "binlog_fsyncs_per_commit": "COUNT_MISC of wait/io/file/sql/binlog over transactions, differences",
    "flush_groups_per_commit": "acquisitions of LOCK_log over transactions: one over a FLUSH group; of MariaDB Binlog_group_commits",
    "sync_groups_per_commit": "acquisitions of LOCK_sync over transactions: one over a SYNC group",
    "commit_groups_per_commit": "acquisitions of LOCK_commit over transactions: one over a COMMIT group",
    "latency_ms_p50": "median of a transaction's time as SysBench sees it, ms",
    "latency_ms_p99": "99th percentile of it, ms",
    "cpu_us_per_commit": "CPU time of the server over transactions, us",
    "client_cpu_us_per_commit": "CPU time of SysBench over transactions, us",
    "redo_bytes_per_commit": "Innodb_os_log_written over transactions",
    "transactions_per_second": "transactions over seconds",
    "transactions": "transactions that SysBench counted",
    "server": "version",
}


def groups_live(
    *,
    clients: Sequence[int] = CLIENTS,
    repeats: int = 3,
    seconds: int = 3,
    fsync_us: int = FSYNC_US,
    series: Sequence[str] = SERIES,
    settings: Sequence[str] = tuple(SETTINGS),
    table_rows: int = TABLE_ROWS,
) -> Run:
    """Count what commits of each server cost, by clients and durability."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for name in series:
            with ExitStack() as stack:
                with preloaded(fsync_us):
                    server = stack.enter_context(sitting.server(name, options=_OPTIONS))
                load = Sysbench(
                    server,
                    "oltp_update_non_index",
                    database="group_commit",
                    table_rows=table_rows,
                    options=["--rand-type=uniform"],
                )
                with _set(server, SETTINGS["0/0"]):
                    load.prepare()
                    load.run(threads=4, seconds=1)
                possible = [each for each in settings if _has(server, SETTINGS[each])]
                turns = in_turns(repeats, possible, clients, desc=server.called)
                for turn, (repeat, setting, n) in enumerate(turns):
                    with _set(server, SETTINGS[setting]):
                        seen = _measured(server, load, threads=n, seconds=seconds, seed=100 + turn)
                    where = {"clients": n, "series": name, "setting": setting, "repeat": repeat}
                    rows.append({**where, **seen, "server": server.version})
    return sitting.run(
        "own-gc-groups",
        rows,
        fsync_us=fsync_us,
        load=f"sysbench oltp_update_non_index, 1 table of {table_rows} rows, uniform, {seconds} s a run",
        columns=COLUMNS,
    )


def _measured(server: Server, load: Sysbench, *, threads: int, seconds: int, seed: int) -> dict[str, float]:
    before, cpu_s = _counts(server), server.cpu_seconds() or 0.0
    ran = load.run(threads=threads, seconds=seconds, seed=seed)
    moved = {name: count - before[name] for name, count in _counts(server).items()}
    cpu_s = (server.cpu_seconds() or 0.0) - cpu_s
    n = max(1, ran.transactions)
    if server.is_mysql:
        groups = {name: moved[mutex] / n for name, mutex in _MUTEXES.items()}
    else:
        groups = {"flush_groups_per_commit": ran.moved["Binlog_group_commits"] / n}
    return {
        "redo_fsyncs_per_commit": ran.moved.get("Innodb_os_log_fsyncs", math.nan) / n,
        "binlog_fsyncs_per_commit": moved["binlog"] / n,
        **groups,
        "latency_ms_p50": ran.latency_ms["p50"],
        "latency_ms_p99": ran.latency_ms["p99"],
        "cpu_us_per_commit": 1e6 * cpu_s / n,
        "client_cpu_us_per_commit": 1e6 * ran.client_cpu_s / n,
        "redo_bytes_per_commit": ran.moved["Innodb_os_log_written"] / n,
        "transactions_per_second": ran.transactions / seconds,
        "transactions": ran.transactions,
    }


def _counts(server: Server) -> dict[str, int]:
    acquired = {str(name).rpartition("::")[2]: int(count) for name, count in server.query(_COUNTED)}
    synced = server.query(_SYNCED)
    return {
        **{name: acquired.get(name, 0) for name in _MUTEXES.values()},
        "binlog": int(synced[0][0]) if synced else 0,
    }


def _has(server: Server, setting: Mapping[str, int]) -> bool:
    variables = server.variables()
    return all(name in variables for name in setting)


@contextmanager
def _set(server: Server, setting: Mapping[str, int]) -> Iterator[None]:
    """The variables of a setting for the time of the block."""
    variables = server.variables()
    try:
        server.execute(*(f"SET GLOBAL {name} = {value}" for name, value in setting.items()))
        yield
    finally:
        server.execute(*(f"SET GLOBAL {name} = {variables[name]}" for name in setting))
