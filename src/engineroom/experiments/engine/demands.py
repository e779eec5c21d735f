"""What each statement of the loads asks of a server that has one client: CPU time, redo, locks, latches, pages, and the client's wait.

The composed engine is given nothing else of the servers: what many clients do to each other has to come out of the model.

Two passes on each server. In the first nothing but the usual instruments is on: the system's account of the connection's thread
(`schedstat`) is read when the thread sleeps again after a statement, and the servers take turns, batch by batch, so that a busy
minute of the machine is nobody's alone. The mean of a batch is one value, the median of the batches counts. In the second InnoDB's
latches are instrumented too, and the counters are read after each statement over another connection, while an old snapshot keeps
purge from adding to them.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from engineroom.errors import EngineRoomError
from engineroom.experiments.engine.clients import ISOLATION, OPTIONS, Client, Key, LiveLoad, asked
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.workloads.requests import ENDS
from engineroom.workloads.steady_fsync import preloaded

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["COLUMNS", "LOADS", "VERSIONS", "Demands", "demands_live", "locks_and_lsn", "warehouses_live"]

VERSIONS = ("5.7", "8.0", "9.7")
LOADS = ("sysbench_read_write", "tpcc_1")
TABLE_ROWS = 1_000_000  # as the sources' figures have
FSYNC_US = 100
# Transactions of a batch: SysBench's are all alike, of TPC-C's four in a hundred are of the rare kinds.
BATCHES = 25
TRANSACTIONS_PER_BATCH: Mapping[str, int] = {"sysbench": 100, "tpcc": 200}
COUNTED_TRANSACTIONS: Mapping[str, int] = {"sysbench": 200, "tpcc": 300}
LOCK_SYS = ("lock_mutex", "lock_sys_page_mutex", "lock_sys_table_mutex", "lock_sys_global_rw_lock")
TRX_SYS = ("trx_sys_mutex", "trx_sys_serialisation_mutex", "trx_sys_shard_mutex")
_HELD = ("row_locks", "lock_objects")
# Column -> what is counted under it.
_COUNTED: Mapping[str, Sequence[str]] = {
    "mtrs": ("mtrs",),
    "redo_bytes": ("lsn",),
    "row_locks": ("row_locks",),
    "lock_objects": ("lock_objects",),
    "lock_sys_acquisitions": LOCK_SYS,
    "trx_sys_acquisitions": TRX_SYS,
    "page_requests": ("page_requests",),
}
# Latches that a further table lists one by one: of locks, transactions, logs, undo and what a commit orders.
_LISTED = re.compile(
    r"(lock_(?!objects)|trx_|log_|rw_trx|redo_rseg|undo_|rseg|flush_list|purge_sys|fil_system|dict_sys|autoinc)"
)
_LATCHES = (
    "SELECT event_name, count_star FROM performance_schema.events_waits_summary_by_thread_by_event_name"
    " WHERE thread_id = {thread} AND event_name LIKE 'wait/synch/%/innodb/%' AND count_star > 0"
)
_INSTRUMENTS = "UPDATE performance_schema.setup_instruments SET enabled = '{enabled}', timed = 'NO' WHERE name LIKE 'wait/synch/%/innodb/%'"
_STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_log_write_requests', 'Innodb_buffer_pool_read_requests')"
_MOST_RESTS = 200
_STILL_S = 0.003
COLUMNS = {
    "series": "version of the server",
    "server": "version of the server",
    "load": "sysbench_read_write: SysBench's oltp_read_write, prepared statements but for BEGIN, as SysBench sends them; tpcc_<warehouses>: "
    "TPC-C's transactions in the standard's mix, statements in text",
    "transaction": "kind of transaction",
    "statement": "kind of statement; `commit` and `rollback` end a transaction",
    "order": "place of its first execution in the transaction, from 1",
    "per_transaction": "executions per transaction of this kind",
    "cpu_us": "CPU time of the connection's thread per execution, microseconds: median of the batches' means",
    "cpu_us_iqr": "distance between the quartiles of the batches' means, microseconds",
    "cpu_us_least": "least of the batches' means, microseconds: others' work on the machine only adds",
    "round_trip_us": "from sending the statement to having the head of its answer (all that is less than 16 kB is sent at once) in a client "
    "in Python, microseconds: median of the executions",
    "mtrs": "mini-transactions that put something into the log buffer, per execution: Innodb_log_write_requests; in 5.7, which does not count "
    "all of them, acquisitions of log_sys_mutex by the thread less those of log_sys_write_mutex",
    "redo_bytes": "by which the log sequence number grew per execution",
    "row_locks": "row locks that the transaction holds after an execution and did not before; at its end none",
    "lock_objects": "the same of lock structures, on rows and tables",
    "lock_sys_acquisitions": "of lock_mutex, or of lock_sys_page_mutex, lock_sys_table_mutex and lock_sys_global_rw_lock, by the "
    "connection's thread per execution",
    "trx_sys_acquisitions": "of trx_sys_mutex, trx_sys_serialisation_mutex and trx_sys_shard_mutex, by the thread per execution",
    "page_requests": "Innodb_buffer_pool_read_requests per execution",
    "batches": "batches that had the statement",
    "executions": "measured with CPU time",
    "executions_counted": "of which everything else was counted",
    "latch": "InnoDB's latch, by the name of its instrument",
    "acquisitions": "by the connection's thread per execution of the statement",
}


@dataclass
class Demands:
    """What was seen of the statements of one load on one server, by (transaction, statement)."""

    first_place: dict[Key, int] = field(default_factory=dict)
    transactions: Counter[str] = field(default_factory=Counter)
    batches: list[dict[Key, list[int]]] = field(default_factory=list)  # CPU time of each execution, ns
    round_trips_ns: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    counted: Counter[Key] = field(default_factory=Counter)
    counts: dict[Key, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row per statement, in the order of the transactions and of the places in them."""
        for key in sorted(self.first_place, key=lambda key: (key[0], self.first_place[key])):
            batches = [batch[key] for batch in self.batches if key in batch]
            means_us = [statistics.fmean(cpu_ns) / 1000 for cpu_ns in batches]
            low, high = np.quantile(means_us, [0.25, 0.75])
            executions = sum(map(len, batches))
            yield {
                "transaction": key[0],
                "statement": key[1],
                "order": self.first_place[key],
                "per_transaction": executions / self.transactions[key[0]],
                "cpu_us": statistics.median(means_us),
                "cpu_us_iqr": float(high - low),
                "cpu_us_least": min(means_us),
                "round_trip_us": statistics.median(self.round_trips_ns[key]) / 1000,
                **{column: self.each(key, names) for column, names in _COUNTED.items()},
                "batches": len(batches),
                "executions": executions,
                "executions_counted": self.counted[key],
            }

    def latches(self) -> Iterator[dict[str, Any]]:
        """A row per statement and latch that it takes."""
        for key in sorted(self.counts, key=lambda key: (key[0], self.first_place.get(key, 0))):
            for name in sorted(filter(_LISTED.match, self.counts[key])):
                if acquisitions := self.each(key, [name]):
                    yield {
                        "transaction": key[0],
                        "statement": key[1],
                        "latch": name,
                        "acquisitions": acquisitions,
                    }

    def each(self, key: Key, names: Iterable[str]) -> float | None:
        """What was counted under those names per execution; None for a statement that never came while it was counted."""
        return (
            sum(self.counts[key][name] for name in names) / self.counted[key] if self.counted[key] else None
        )


def demands_live(
    *,
    versions: Sequence[str] = VERSIONS,
    loads: Sequence[str] = LOADS,
    batches: int = BATCHES,
    scale: float = 1.0,
    table_rows: int = TABLE_ROWS,
    share: float = 1.0,
    options: Mapping[str, str | int] = OPTIONS,
    figure: str = "own-demands",
) -> Run:
    """Measure each load's statements on each server with one client.

    `tpcc_<n>` has n warehouses of `scale` times the standard's rows. `share` is of the transactions of a batch and of those that are
    counted. ValueError for a load that is none.
    """
    made = {load: LiveLoad(load, table_rows=table_rows, scale=scale) for load in loads}
    rows, latches = [], []
    with preloaded(FSYNC_US), LiveSitting(seed=1) as sitting, contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(sitting.server(version, options=options))
            for version in bar(versions, desc="servers", unit="server")
        ]
        for load in made.values():
            for server in bar(servers, desc=f"filling for {load.name}", unit="server"):
                load.fill(server)
            with contextlib.ExitStack() as clients:
                pairs = [
                    (server, clients.enter_context(Client(server, load.database, prepares=load.prepares)))
                    for server in servers
                ]
                for server, seen in _measured(load, pairs, batches=batches, share=share):
                    of = {"series": server.version, "server": server.version, "load": load.name}
                    rows += [of | row for row in seen.rows()]
                    latches += [of | row for row in seen.latches()]
            for server in servers:
                server.execute(f"DROP DATABASE {load.database}")
    return sitting.run(
        figure,
        rows,
        columns=COLUMNS,
        tables={"latches": latches},
        fsync_us=FSYNC_US,
        isolation=ISOLATION,
        load=[load.described for load in made.values()],
    )


def warehouses_live() -> Run:
    """The same of TPC-C with ten warehouses, all in memory: deeper trees, and remote customers and stock."""
    return demands_live(
        loads=("tpcc_10",),
        options={**OPTIONS, "innodb_buffer_pool_size": "2G"},
        figure="own-demands-warehouses",
    )


def _measured(
    load: LiveLoad, pairs: Sequence[tuple[Server, Client]], *, batches: int, share: float
) -> Iterator[tuple[Server, Demands]]:
    per_batch = max(1, round(share * TRANSACTIONS_PER_BATCH[load.family]))
    counted = max(1, round(share * COUNTED_TRANSACTIONS[load.family]))
    clients = [client for _, client in pairs]
    streams = [load.transactions(seed=1) for _ in pairs]
    seen = [Demands() for _ in pairs]
    for client, stream in zip(clients, streams, strict=True):  # pages and plans that are there from then on
        for _ in asked(itertools.islice(stream, per_batch), client.ask):
            pass
    for _, i in in_turns(batches, range(len(pairs)), desc=f"CPU time, {load.name}", unit="batch"):
        batch: dict[Key, list[int]] = defaultdict(list)
        for key, place, answer in asked(itertools.islice(streams[i], per_batch), clients[i].ask):
            seen[i].first_place.setdefault(key, place)
            seen[i].transactions[key[0]] += place == 1
            seen[i].round_trips_ns[key].append(answer.round_trip_ns)
            batch[key].append(answer.cpu_ns)
        seen[i].batches.append(batch)
    for i, (server, client) in enumerate(bar(pairs, desc=f"counts, {load.name}", unit="server")):
        with _Counters(server, client.id) as counters:
            before = counters.settled()
            for key, _, _ in asked(itertools.islice(streams[i], counted), client.ask):
                after = counters.read()
                seen[i].counted[key] += 1
                seen[i].counts[key].update(_moved(key[1], before, after))
                # What the server does behind a commit is nobody's statement.
                before = counters.settled() if key[1] in ENDS else after
        yield server, seen[i]


def _moved(statement: str, before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    moved = {name: value - before.get(name, 0) for name, value in after.items()}
    if "log_sys_mutex" in after:
        # One log latch: 5.7's counter leaves out what fits into the log's current block. Each mini-transaction with redo takes the
        # latch once, and so does waiting for the log to be written, behind another latch of its own.
        moved["mtrs"] = moved["log_sys_mutex"] - moved.get("log_sys_write_mutex", 0)
    # The end of a transaction takes no lock, and gives back what the others took.
    return moved | dict.fromkeys(_HELD, 0) if statement in ENDS else moved


class _Counters:
    """Counters of the server and of one of its connections, read over another one, with InnoDB's latches instrumented."""

    def __init__(self, server: Server, client: int) -> None:
        self._server, self._client = server, client

    def __enter__(self) -> Self:
        self._server.execute(_INSTRUMENTS.format(enabled="YES"))
        ((thread,),) = self._server.query(
            f"SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {self._client}"
        )
        self._latches = _LATCHES.format(thread=thread)
        self._connection, self._reader = self._server.connect(), self._server.connect()
        self._cursor = self._connection.cursor()
        # An old snapshot, so that purge, whose redo and page requests would be counted too, has nothing to do.
        self._reader.cursor().execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (self._connection, self._reader):
            with contextlib.suppress(Exception):
                connection.close()
        self._server.execute(_INSTRUMENTS.format(enabled="NO"))

    def read(self) -> dict[str, int]:
        latches = {str(name).rpartition("/")[2]: int(count) for name, count in self._rows(self._latches)}
        return latches | self._of_server()

    def settled(self) -> dict[str, int]:
        """What `read` says when nothing moves any more."""
        before = self._of_server()
        for _ in range(_MOST_RESTS):
            time.sleep(_STILL_S)
            after = self._of_server()
            if after == before:
                break
            before = after
        return self.read()

    def _of_server(self) -> dict[str, int]:
        status = {name: int(value) for name, value in self._rows(_STATUS)}
        ((_, _, text),) = self._rows("SHOW ENGINE INNODB STATUS")
        return {
            "mtrs": status["Innodb_log_write_requests"],
            "page_requests": status["Innodb_buffer_pool_read_requests"],
            **locks_and_lsn(text, self._client),
        }

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        self._cursor.execute(sql)
        rows: list[tuple[Any, ...]] = self._cursor.fetchall()
        return rows


def locks_and_lsn(text: str, client: int) -> dict[str, int]:
    """From what SHOW ENGINE INNODB STATUS prints: the log sequence number, and row locks and lock structures of a client's transaction."""
    lsn = re.search(r"^Log sequence number\s+(\d+)", text, re.MULTILINE)
    if lsn is None:
        raise EngineRoomError(
            "SHOW ENGINE INNODB STATUS says no log sequence number",
            remedy="report it with the version of the server",
        )
    own = next(
        (part for part in text.split("---TRANSACTION ")[1:] if re.search(rf"thread id {client}\b", part)), ""
    )
    objects, rows = (re.search(rf"(\d+) {what}", own) for what in (r"lock struct\(s\)", r"row lock\(s\)"))
    return {
        "lsn": int(lsn[1]),
        "lock_objects": int(objects[1]) if objects else 0,
        "row_locks": int(rows[1]) if rows else 0,
    }
