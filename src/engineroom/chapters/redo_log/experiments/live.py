"""Figure 7-6 on live servers: redo fsyncs per transaction of SysBench read-write, at a steady fsync time, without a binlog.

Table and isolation level are the source's: a million rows, READ COMMITTED. It does not say how rows are chosen; here all are
equally likely. SysBench's own choice sends three accesses of four to one row in a hundred: on 20,000 rows most of 200 clients
wait for the same rows, commits come one by one, and the curve rises again for a reason that is not the redo log. In 5.7 four
transactions of ten then end as a deadlock's victim, whose rollback is flushed like a commit. So transactions rolled back, waits
for rows and SysBench's own CPU time are recorded beside the flushes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench


@dataclass(frozen=True)
class Variant:
    """A version and the settings that make it this series."""

    version: str
    options: Mapping[str, str] = field(default_factory=dict)


_NO_BINLOG = {"disable_log_bin": "ON"}
# The source says 8.0 and no more: 8.0.31 as it is installed. The log threads of 8.0.15 always run.
SERVERS: Mapping[str, Variant] = {
    "flushes": Variant("8.0.31", _NO_BINLOG),
    "8.0.15": Variant("8.0.15", _NO_BINLOG),
    "old_redo": Variant("5.7"),
    "5.6": Variant("5.6"),
    "9.7_writer_threads_on": Variant("9.7", {**_NO_BINLOG, "innodb_log_writer_threads": "ON"}),
    "9.7_writer_threads_off": Variant("9.7", {**_NO_BINLOG, "innodb_log_writer_threads": "OFF"}),
}
_OPTIONS = {
    "max_connections": "400",
    "innodb_buffer_pool_size": "512M",
    "innodb_flush_log_at_trx_commit": "1",
    "transaction_isolation": "READ-COMMITTED",
}
_COUNTED: Mapping[str, str] = {
    "transactions": "Com_commit",
    "fsyncs": "Innodb_os_log_fsyncs",
    "written_bytes": "Innodb_os_log_written",
    "log_write_requests": "Innodb_log_write_requests",
    "row_lock_waits": "Innodb_row_lock_waits",
}
TABLE_ROWS = 1_000_000
COLUMNS = {
    "concurrency": "SysBench threads",
    "flushes_per_transaction": "Innodb_os_log_fsyncs over Com_commit, differences during the run",
    "transactions": "Com_commit, difference",
    "fsyncs": "Innodb_os_log_fsyncs, difference",
    "written_bytes": "Innodb_os_log_written, difference",
    "log_write_requests": "Innodb_log_write_requests, difference; 5.x counts fewer things under this name",
    "rolled_back": "Com_begin less Com_commit, differences: deadlock victims; each flushes the log as well",
    "row_lock_waits": "Innodb_row_lock_waits, difference",
    "client_cpu_percent": "CPU time of SysBench over the time of the run; 100 is one core",
    "server": "version",
}


def flushes_live(
    *,
    clients: Sequence[int] = (1, 3, 10, 50, 100, 200),
    repeats: int = 3,
    seconds: int = 6,
    fsync_us: int = 100,
    series: Sequence[str] = tuple(SERVERS),
    table_rows: int = TABLE_ROWS,
) -> Run:
    """Count redo fsyncs and commits of each server under SysBench's read-write load."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for name in series:
            variant = SERVERS[name]
            with ExitStack() as stack:
                with preloaded(fsync_us):
                    options = {**_OPTIONS, **variant.options}
                    server = stack.enter_context(sitting.server(variant.version, options=options, label=name))
                load = Sysbench(
                    server, database="redo_log", table_rows=table_rows, options=["--rand-type=uniform"]
                )
                load.prepare()
                load.run(threads=4, seconds=1)
                for repeat, n in in_turns(repeats, clients, desc=f"MySQL {server.version}"):
                    ran = load.run(threads=n, seconds=seconds)
                    seen = {name: ran.moved[counter] for name, counter in _COUNTED.items()}
                    rows.append(
                        {
                            "concurrency": n,
                            "series": name,
                            "repeat": repeat,
                            "flushes_per_transaction": seen["fsyncs"] / seen["transactions"],
                            "rolled_back": ran.rolled_back,
                            **seen,
                            "client_cpu_percent": ran.client_cpu_percent,
                            "server": server.version,
                        }
                    )
    return sitting.run(
        "fig-7-06",
        rows,
        fsync_us=fsync_us,
        load=f"sysbench oltp_read_write, 1 table of {table_rows} rows, uniform, READ COMMITTED, {seconds} s a run",
        columns=COLUMNS,
    )
