"""Figure 7-6 on live servers: redo fsyncs a transaction of SysBench read-write, at a steady fsync time, without a binlog.

Table and isolation level are the source's: a million rows, READ COMMITTED. It does not say how rows are chosen; here all are
equally likely. SysBench's own choice sends three accesses of four to one row in a hundred: on 20,000 rows most of 200 clients
wait for the same rows, commits come one by one, and the curve rises again for a reason that is not the redo log. In 5.7 four
transactions of ten then end as a deadlock's victim, whose rollback is flushed like a commit. So transactions rolled back, waits
for rows and SysBench's own CPU time are recorded beside the flushes.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom import provenance
from engineroom.errors import EngineRoomError
from engineroom.progress import bar
from engineroom.runs import Run

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["SERVERS", "flushes_live"]


@dataclass(frozen=True)
class Variant:
    """A version and the settings that make it this series."""

    version: str
    options: Mapping[str, str] = field(default_factory=dict)


_NO_BINLOG = {"disable_log_bin": "ON"}
# The source says 8.0 and no more: 8.0.15, whose log threads always run. 9.7 can switch them.
SERVERS: Mapping[str, Variant] = {
    "flushes": Variant("8.0", _NO_BINLOG),
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
    "begun": "Com_begin",
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
    from engineroom import servers
    from engineroom.workloads.steady_fsync import preloaded

    if shutil.which("sysbench") is None:
        raise EngineRoomError(
            "figure 7-6 on live servers needs sysbench",
            remedy="apt-get install sysbench, or look at the recorded run",
        )
    rows: list[dict[str, Any]] = []
    about: dict[str, Any] = {}
    with provenance.watch() as watched:
        for name in series:
            variant = SERVERS[name]
            with preloaded(fsync_us):
                server = servers.start(variant.version, options={**_OPTIONS, **variant.options})
            with server:
                about[f"{server.version}, {name}"] = server.provenance()
                user = _user(server)
                _sysbench(server, user, "prepare", table_rows=table_rows)
                _sysbench(server, user, "run", table_rows=table_rows, threads=4, seconds=1)
                turns = [(repeat, n) for repeat in range(repeats) for n in clients]
                for repeat, n in bar(turns, desc=f"MySQL {server.version}", unit="run"):
                    before = server.status()
                    client_cpu_s = _sysbench(
                        server, user, "run", table_rows=table_rows, threads=n, seconds=seconds
                    )
                    after = server.status()
                    seen = {name: after[key] - before[key] for name, key in _COUNTED.items()}
                    rows.append(
                        {
                            "concurrency": n,
                            "series": name,
                            "repeat": repeat,
                            "flushes_per_transaction": seen["fsyncs"] / seen["transactions"],
                            "rolled_back": seen.pop("begun") - seen["transactions"],
                            **seen,
                            "client_cpu_percent": 100 * client_cpu_s / seconds,
                            "server": server.version,
                        }
                    )
    return Run(
        figure="fig-7-06",
        method="live",
        table=pd.DataFrame(rows),
        provenance={
            **provenance.machine(),
            "during": watched,
            "servers": about,
            "fsync_us": fsync_us,
            "load": f"sysbench oltp_read_write, 1 table of {table_rows} rows, uniform, READ COMMITTED, {seconds} s a run",
        },
        columns=COLUMNS,
    )


def _user(server: Server) -> tuple[str, str]:
    """A user that sysbench can log in as: it does not know the newer way of 8.0."""
    server.execute("CREATE DATABASE IF NOT EXISTS redo_log")
    if server.version.startswith("8."):
        password = server.password
        server.execute(
            f"CREATE USER IF NOT EXISTS sysbench@localhost IDENTIFIED WITH mysql_native_password BY '{password}'",
            "GRANT ALL ON redo_log.* TO sysbench@localhost",
        )
        return "sysbench", password
    return server.user, server.password


def _sysbench(
    server: Server,
    user: tuple[str, str],
    command: str,
    *,
    table_rows: int,
    threads: int = 1,
    seconds: int = 0,
) -> float:
    """Run SysBench and return the CPU seconds that it has used itself."""
    name, password = user
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            "sysbench",
            "oltp_read_write",
            f"--mysql-socket={server.socket}" if server.socket else f"--mysql-host={server.host}",
            *([] if server.socket else [f"--mysql-port={server.port}"]),
            f"--mysql-user={name}",
            f"--mysql-password={password}",
            "--mysql-db=redo_log",
            "--mysql-ignore-errors=all",
            "--tables=1",
            f"--table-size={table_rows}",
            "--rand-type=uniform",
            f"--threads={threads}",
            f"--time={seconds}",
            "--rand-seed=1",
            command,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).replace(password, "...").strip().splitlines()
        raise EngineRoomError(
            f"sysbench {command} failed on MySQL {server.version}: {said[-1] if said else 'it said nothing'}",
            remedy="run it again; if it fails again, report it with this message",
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
