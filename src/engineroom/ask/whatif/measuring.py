"""Measures what a reader's transactions ask of a server with one client, as the book measured its own loads.

First CPU time, in batches of transactions whose statements follow each other at once; then the counters, which are read after each
statement over another connection, as `measuring.counters` has it. The server must do nothing else meanwhile. Nothing of it is set: what
its own threads write, such as statistics of changed tables (`innodb_stats_auto_recalc`), is counted too.
"""

from __future__ import annotations

import contextlib
import datetime
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engineroom.ask.whatif.demands import Asked, Demands, Kind
from engineroom.ask.whatif.transactions import Transaction
from engineroom.errors import EngineRoomError
from engineroom.measuring.counters import Counters, moved
from engineroom.measuring.thread_clock import ThreadClock, thread_of
from engineroom.progress import bar

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["measured"]

_DENIED = {1044, 1142, 1227}
_WARM, _COUNTED = 20, 40
_MOST_IDLE_BYTES_PER_S = 65_536
_COMMIT = "COMMIT"


def measured(
    server: Server,
    database: str | None,
    transactions: Sequence[Transaction],
    *,
    batches: int = 8,
    per_batch: int = 50,
    seed: int = 1,
) -> Demands:
    """The demands of all statements. EngineRoomError for a server that does not run here, is busy, or refuses a statement."""
    import mysql.connector

    try:
        with contextlib.closing(server.connect(database, ssl_disabled=True)) as connection:
            client = int(connection.connection_id)
            clock = ThreadClock(thread_of(server, client))
            cpu = [
                _cpu_ns(each, connection, clock, range(seed, seed + batches), per_batch)
                for each in bar(transactions, desc="CPU time", unit="kind")
            ]
            with Counters(server, client, latches=False) as counters:
                _refuse_busy(counters)
                counts = [
                    _counted(each, connection, counters, seed + batches)
                    for each in bar(transactions, desc="counts", unit="kind")
                ]
            _refuse_uncounted(server, counts)
            kinds = tuple(map(_kind, transactions, cpu, counts))
            return Demands(**_settings(connection), server=server.version, kinds=kinds)
    except mysql.connector.Error as error:
        raise EngineRoomError(
            f"MySQL {server.version} refuses: {error}",
            remedy="GRANT PROCESS ON *.* and SELECT ON performance_schema.* to the account"
            if error.errno in _DENIED
            else "mend what it says, or name a database behind the address's last slash",
        ) from error


def _settings(connection: Any) -> dict[str, Any]:
    """What of the server the prediction has to know."""
    variables = "'log_bin', 'innodb_flush_log_at_trx_commit', 'tx_isolation', 'transaction_isolation'"
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({variables})")
        of = {str(name): str(value) for name, value in cursor.fetchall()}
    return {
        "isolation": of.get("transaction_isolation", of.get("tx_isolation", "")),
        "has_binlog": of["log_bin"] == "ON",
        "flushes_each_commit": of["innodb_flush_log_at_trx_commit"] == "1",
        "measured_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _steps(transaction: Transaction, connection: Any, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Send a transaction's statements, and its commit: behind each its place, from 0 on, and how many rows it changed."""
    import mysql.connector

    with contextlib.closing(connection.cursor()) as cursor:
        for place, text in enumerate([*texts, *([] if transaction.autocommit else [_COMMIT])]):
            try:
                cursor.execute(text)
                if cursor.with_rows:
                    cursor.fetchall()
            except mysql.connector.Error as error:
                connection.rollback()
                raise EngineRoomError(
                    f"{transaction.name}, statement {place + 1}, is refused: {error}",
                    remedy=f"mend it, or what its values are drawn from: {text}",
                ) from error
            yield place, 0 if cursor.with_rows else max(0, cursor.rowcount)


def _cpu_ns(
    transaction: Transaction, connection: Any, clock: ThreadClock, seeds: Sequence[int], per_batch: int
) -> list[list[float]]:
    """For each place of a transaction the batches' means, a batch per seed."""
    connection.autocommit = transaction.autocommit
    for texts in transaction.texts(_WARM, seeds[0]):
        for _ in _steps(transaction, connection, texts):
            pass
    means: list[list[float]] = [[] for _ in range(transaction.places)]
    for seed in seeds:
        spent: list[list[int]] = [[] for _ in means]
        for texts in transaction.texts(per_batch, seed):
            before = clock.read_ns()
            for place, _ in _steps(transaction, connection, texts):
                now = clock.read_ns()
                spent[place].append(now - before)
                before = now
        for place, each in enumerate(spent):
            means[place].append(statistics.fmean(each))
    return means


def _counted(transaction: Transaction, connection: Any, counters: Counters, seed: int) -> list[Counter[str]]:
    """For each place of a transaction what `_COUNTED` executions did together, and the rows that they changed."""
    connection.autocommit = transaction.autocommit
    counts: list[Counter[str]] = [Counter() for _ in range(transaction.places)]
    for texts in bar(list(transaction.texts(_COUNTED, seed)), desc=transaction.name, unit="transaction"):
        before = counters.settled()
        for place, changed in _steps(transaction, connection, texts):
            now = counters.read()
            counts[place].update(moved(before, now, ends=place == len(texts)))
            counts[place]["changed"] += changed
            before = now
    return counts


def _kind(transaction: Transaction, cpu: Sequence[Sequence[float]], counts: Sequence[Counter[str]]) -> Kind:
    def asked(place: int, **about: Any) -> Asked:
        us = [ns / 1000 for ns in cpu[place]]
        return Asked(
            cpu_us=min(us),
            cpu_us_median=statistics.median(us),
            mtrs=max(0, counts[place]["mtrs"]) / _COUNTED,
            redo_bytes=max(0, counts[place]["lsn"]) / _COUNTED,
            **about,
        )

    statements = [
        asked(
            place,
            sql=each.sql,
            access=each.access,
            shared=each.shared,
            table=each.table,
            value=each.value,
            # A row that was inserted, or changed by a statement that has committed, is no lock any more.
            row_locks=max(counts[place]["row_locks"], counts[place]["changed"]) / _COUNTED,
        )
        for place, each in enumerate(transaction.statements)
    ]
    nothing = Asked(sql="", cpu_us=0, cpu_us_median=0, mtrs=0, redo_bytes=0)
    return Kind(
        name=transaction.name,
        weight=transaction.weight,
        autocommit=transaction.autocommit,
        values={name: asdict(value) for name, value in transaction.values.items()},
        statements=tuple(statements),
        commit=nothing if transaction.autocommit else asked(len(statements), sql=_COMMIT),
    )


def _refuse_uncounted(server: Server, counts: Sequence[Sequence[Counter[str]]]) -> None:
    """5.7 counts a mini-transaction in ten; the latch that each takes tells of all, if its instrument is on."""
    places = [place for kind in counts for place in kind]
    writes = any(place["lsn"] > 0 for place in places)
    if server.series == "5.7" and writes and not any("log_sys_mutex" in place for place in places):
        raise EngineRoomError(
            f"MySQL {server.version} does not count all of its mini-transactions",
            remedy="switch the instruments on that do, and measure again: UPDATE performance_schema.setup_instruments SET ENABLED = 'YES'"
            " WHERE NAME IN ('wait/synch/mutex/innodb/log_sys_mutex', 'wait/synch/mutex/innodb/log_sys_write_mutex')",
        )


def _refuse_busy(counters: Counters) -> None:
    before = counters.read()["lsn"]
    time.sleep(0.5)
    grown = 2 * (counters.read()["lsn"] - before)
    if grown > _MOST_IDLE_BYTES_PER_S:
        raise EngineRoomError(
            f"the server's redo log grows by {grown:,} bytes per second while nothing of this is running",
            remedy="measure on a test server that nobody else uses",
        )
