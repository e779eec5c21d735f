"""Compression in a group of three servers on one computer: bytes, CPU time and throughput of TPC-C with few clients, live on 9.7.

Figure 7-26 is of a crowd in a cluster, which two processors cannot have; this is what of it they can. Two settings compress: a threshold from which the
group's messages are (LZ4), and `binlog_transaction_compression` (zstd, level 3), which also shrinks what the message holds. Neither, each and both take
turns, repeat by repeat, each in a group that is formed anew, since neither reaches a running one. SysBench's threads are TPC-C's terminals on the primary;
each of the three servers was given the same tables, and each fsync takes the same time. The CPU time of a run ends when the two others have applied
all of it. Per transaction, median of the repeats: bytes first, CPU time next, throughput last.

The members talk over the servers' own ports (the communication stack MYSQL): XCom would open a port to every network of the computer. That all listen
on 127.0.0.1 alone is looked at before the first run.

`CLAIMS` were written down before the first run. Known before was what compression leaves of TPC-C's binary log (`own-binlog-transactions`). Trials of two seconds
on a busy computer, to see that it runs, had two of the settings, and both compressions together with fewer bytes and less CPU time; the claims stayed.
"""

from __future__ import annotations

import ipaddress
import itertools
import math
import secrets
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from engineroom.errors import EngineRoomError
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.servers.plugins import require_plugin
from engineroom.servers.server import wait_until
from engineroom.workloads import sysbench, tpcc_sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench
from engineroom.workloads.tpcc_rows import Size

if TYPE_CHECKING:
    from engineroom.servers import Server

FIGURE = "own-binlog-group-replication"
VERSION = "9.7"
MEMBERS = 3
FSYNC_US = 100
JOINED_S = 60
NONE = "none"
# By name: from how many bytes on a message is compressed, 0 for never; whether transactions are.
SETTINGS: Mapping[str, tuple[int, str]] = {
    NONE: (0, "OFF"),
    "messages": (100, "OFF"),
    "transactions": (0, "ON"),
    "both": (100, "ON"),
}
OPTIONS: Mapping[str, str | int | bool] = {
    "plugin_load_add": "group_replication.so",
    "loose_group_replication_start_on_boot": "OFF",
    "report_host": "127.0.0.1",
    "gtid_mode": "ON",
    "enforce_gtid_consistency": "ON",
    "log_bin": "binlog",
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
    "transaction_isolation": "READ-COMMITTED",
    "innodb_buffer_pool_size": "256M",
    # TPC-C's history has no key, which a group asks for.
    "sql_generate_invisible_primary_key": "ON",
}
_USER = "group_member"

COLUMNS = {
    "clients": "SysBench threads on the primary",
    "series": "what is compressed: none, the group's messages, transactions in the binary log, or both",
    "sent_bytes": "Gr_consensus_bytes_sent_sum of the three servers over transactions, differences during the run",
    "message_bytes": "Gr_data_messages_sent_bytes_sum of the primary over transactions",
    "binlog_bytes": "bytes added to the primary's binary log over transactions",
    "replica_binlog_bytes": "the same of the two other servers, mean",
    "primary_cpu_us": "CPU time of the primary over transactions, us",
    "replica_cpu_us": "CPU time of the two other servers together over transactions, until they have applied all, us",
    "client_cpu_us": "CPU time of SysBench over transactions, us",
    "p50_ms": "median of a transaction's time as SysBench sees it, ms",
    "tps": "transactions over seconds",
    "transactions": "transactions that SysBench counted, of all five kinds",
    "server": "version",
}


def group_live(
    *,
    clients: Sequence[int] = (1, 4, 16),
    repeats: int = 3,
    seconds: int = 3,
    settings: Sequence[str] = tuple(SETTINGS),
    fsync_us: int = FSYNC_US,
    warehouses: int = 10,
    scale: float = 0.05,
) -> Run:
    """Bytes, CPU time and throughput of a group of three, by what it compresses."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-group-")))
        with preloaded(fsync_us):
            members = [
                stack.enter_context(
                    sitting.server(VERSION, options={**OPTIONS, "server_id": n}, label=f"member {n}")
                )
                for n in range(1, MEMBERS + 1)
            ]
        loads = [tpcc_sysbench.filled(member, Size(warehouses, scale), folder) for member in members]
        _introduce(members)
        turns = in_turns(repeats, settings, desc=f"a group of {members[0].called}", unit="group")
        for turn, (repeat, setting) in enumerate(turns):
            _form(members, *SETTINGS[setting])
            if turn == 0:
                for member in members:
                    _require_loopback(member)
            loads[0].run(threads=2, seconds=1)
            for n in clients:
                seen = _measured(members, loads[0], threads=n, seconds=seconds, seed=100 * repeat + n)
                where = {"clients": n, "series": setting, "repeat": repeat}
                rows.append({**where, **seen, "server": members[0].version})
    return sitting.run(
        FIGURE,
        rows,
        fsync_us=fsync_us,
        load=f"TPC-C's terminals in sysbench on one of {MEMBERS} servers, {warehouses} warehouses of scale {scale}, {seconds} s a run",
        settings={name: list(how) for name, how in SETTINGS.items()},
        columns=COLUMNS,
    )


def _introduce(members: Sequence[Server]) -> None:
    """Tell each server of the group. What is in its tables so far is in no log: to a group, all begin alike."""
    password, name = secrets.token_hex(12), uuid.uuid4()
    places = [f"{member.host}:{member.port}" for member in members]
    for member, place in zip(members, places, strict=True):
        require_plugin(member, "group_replication")
        member.execute(
            f"CREATE USER {_USER}@'%' IDENTIFIED BY '{password}'",
            f"GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO {_USER}@'%'",
            f"CHANGE REPLICATION SOURCE TO SOURCE_USER = '{_USER}', SOURCE_PASSWORD = '{password}' FOR CHANNEL 'group_replication_recovery'",
            f"SET GLOBAL group_replication_group_name = '{name}'",
            "SET GLOBAL group_replication_communication_stack = 'MYSQL'",
            f"SET GLOBAL group_replication_local_address = '{place}'",
            f"SET GLOBAL group_replication_group_seeds = '{','.join(places)}'",
            "SET GLOBAL group_replication_recovery_get_public_key = ON",
            "RESET BINARY LOGS AND GTIDS",
        )


def _form(members: Sequence[Server], threshold: int, compression: str) -> None:
    """Form the group anew, with the first server as its primary; one that is formed already is left by the others first."""
    first, *others = members
    for member in reversed(members):
        if _online(member):
            member.execute("STOP GROUP_REPLICATION")
    for member in members:
        member.execute(
            f"SET GLOBAL group_replication_compression_threshold = {threshold}",
            f"SET GLOBAL binlog_transaction_compression = {compression}",
        )
    first.execute(
        "SET GLOBAL group_replication_bootstrap_group = ON",
        "START GROUP_REPLICATION",
        "SET GLOBAL group_replication_bootstrap_group = OFF",
    )
    for other in others:
        other.execute("START GROUP_REPLICATION")
    if not wait_until(lambda: _online(first) == len(members), seconds=JOINED_S, every=0.1):
        raise EngineRoomError(
            f"{_online(first)} of {len(members)} servers are in the group after {JOINED_S} s; the end of the last one's log:\n"
            f"{members[-1].log_tail()}",
            remedy="run it again on a machine that is less busy; if it fails again, report the log",
        )


def _online(member: Server) -> int:
    ((n,),) = member.query(
        "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'"
    )
    return int(n)


def _require_loopback(server: Server) -> None:
    """Refuse a server that listens on an address that other computers reach."""
    if server.pid is None:
        return
    for connection in psutil.Process(server.pid).net_connections(kind="inet"):
        if (
            connection.status == psutil.CONN_LISTEN
            and not ipaddress.ip_address(connection.laddr.ip).is_loopback
        ):
            raise EngineRoomError(
                f"{server.called} listens on {connection.laddr.ip}, port {connection.laddr.port}, which other computers may reach",
                remedy="report this with the version; the group is not started again",
            )


def _measured(members: Sequence[Server], load: Sysbench, **how: int) -> dict[str, float]:
    first, *others = members
    before = [_counted(member) for member in members]
    ran = load.run(**how)
    ((done,),) = first.query("SELECT @@GLOBAL.gtid_executed")
    for other in others:
        other.query(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{str(done).replace(chr(10), '')}', {JOINED_S})")
    after = [_counted(member) for member in members]
    n = max(1, ran.transactions)
    moved = [
        {name: (value - old[name]) / n for name, value in new.items()}
        for old, new in zip(before, after, strict=True)
    ]
    return {
        "sent_bytes": sum(of["sent_bytes"] for of in moved),
        "message_bytes": moved[0]["message_bytes"],
        "binlog_bytes": moved[0]["binlog_bytes"],
        "replica_binlog_bytes": sum(of["binlog_bytes"] for of in moved[1:]) / len(others),
        "primary_cpu_us": 1e6 * moved[0]["cpu_s"],
        "replica_cpu_us": 1e6 * sum(of["cpu_s"] for of in moved[1:]),
        "client_cpu_us": 1e6 * ran.client_cpu_s / n,
        "p50_ms": ran.latency_ms["p50"],
        "tps": ran.transactions / ran.seconds,
        "transactions": ran.transactions,
    }


def _counted(member: Server) -> dict[str, float]:
    status = member.status()
    return {
        "sent_bytes": status["Gr_consensus_bytes_sent_sum"],
        "message_bytes": status["Gr_data_messages_sent_bytes_sum"],
        "binlog_bytes": sum(int(n_bytes) for _, n_bytes, *_ in member.query("SHOW BINARY LOGS")),
        "cpu_s": member.cpu_seconds() or math.nan,
    }


def over_none(run: Run, y: str) -> Mapping[tuple[str, int], float]:
    """What counts of `y` by setting and clients, over the same without compression."""
    of = run.values("series", "clients", y=y)
    places = itertools.product(set(run.table["series"]), set(run.table["clients"]))
    return {(series, n): of[series, n] / of[NONE, n] for series, n in places}


def _all(run: Run, y: str, series: Sequence[str], is_so: Callable[[float], bool]) -> bool:
    return all(is_so(ratio) for (setting, _), ratio in over_none(run, y).items() if setting in series)


def _servers_cpu(run: Run) -> Run:
    """With the CPU time of all three servers."""
    return run.with_table(run.table.assign(cpu_us=run.table["primary_cpu_us"] + run.table["replica_cpu_us"]))


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "compressed messages leave at most 70 % of the bytes that the servers send, at any number of clients": lambda run: (
        _all(run, "sent_bytes", ["messages"], lambda ratio: ratio <= 0.7)
    ),
    "compressed transactions leave at most half of the primary's binary log": lambda run: _all(
        run, "binlog_bytes", ["transactions", "both"], lambda ratio: ratio <= 0.5
    ),
    "compressed messages change no binary log by 2 %": lambda run: all(
        _all(run, y, ["messages"], lambda ratio: 0.98 < ratio < 1.02)
        for y in ("binlog_bytes", "replica_binlog_bytes")
    ),
    "where transactions are compressed, compressing their messages, too, saves less than a tenth of the bytes sent": lambda run: (
        all(
            over_none(run, "sent_bytes")["both", n] > 0.9 * over_none(run, "sent_bytes")["transactions", n]
            for n in set(run.table["clients"])
        )
    ),
    "no setting adds a tenth to the CPU time of the three servers": lambda run: _all(
        _servers_cpu(run), "cpu_us", list(SETTINGS), lambda ratio: ratio < 1.1
    ),
    "no setting costs a tenth of the throughput": lambda run: _all(
        run, "tps", list(SETTINGS), lambda ratio: ratio > 0.9
    ),
}
