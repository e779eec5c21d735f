"""What a statement asks of the transaction system: acquisitions of its latches, counted by servers and by the kernel.

Counted per thread, one session at work, so that the numbers are the same on any machine and under any load.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from engineroom import _native
from engineroom.chapters.read_views.experiments.histories import DESIGNS
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.servers.catalogue import measured, release

VERSIONS = measured()
# The kernel's design for each server: sharded transactions and a mutex for their numbers are in 8.0.31 as in 9.7.
_DESIGN_OF = dict(zip(VERSIONS, ("5.6", "5.7", "8.0", "9.7", "9.7"), strict=True))
LEVELS = ("REPEATABLE READ", "READ COMMITTED")
# The kernel's count -> the server's instrument.
LATCHES: Mapping[str, str] = {
    "mutex": "trx_sys_mutex",
    "serialisation": "trx_sys_serialisation_mutex",
    "shards": "trx_sys_shard_mutex",
}
_INSTRUMENTS = {"performance_schema_instrument": "wait/synch/mutex/innodb/trx_sys%=ON"}
COLUMNS = {
    "series": "whose server, and whose design in the kernel",
    "has_binlog": "1: with a binary log",
    "level": "isolation level",
    "statement": "what is repeated; a write of another session where the name says so",
    "mutex": "acquisitions of trx_sys_mutex per repetition, the median of the repetitions",
    "serialisation": "of trx_sys_serialisation_mutex",
    "shards": "of trx_sys_shard_mutex, all shards together",
    "kernel_mutex": "the same by the kernel",
    "kernel_serialisation": "the same by the kernel",
    "kernel_shards": "the same by the kernel",
    "server": "version",
}


def by_kernel(version: str, statement: str, *, level: str, has_binlog: bool) -> dict[str, float]:
    """Acquisitions of each latch per repetition, in the design of `version`."""
    design = DESIGNS[_DESIGN_OF.get(version, "9.7")]
    seen: dict[str, float] = _native.read_views.statement_cost(
        latches=design.latches, views=design.views, statement=statement, level=level, has_binlog=has_binlog
    )
    return seen


def statements_live(
    *, versions: Sequence[str] = VERSIONS, binlogs: Sequence[bool] = (False, True), repetitions: int = 100
) -> Run:
    """Repeat each statement on each server and count; the kernel's counts stand beside."""
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting:
        for version, has_binlog in bar([(v, b) for v in versions for b in binlogs], desc="servers"):
            options = {**_INSTRUMENTS, **({"log_bin": "binlog", "server_id": "1"} if has_binlog else {})}
            if not has_binlog and release(version) >= (8, 0):
                options["disable_log_bin"] = "ON"
            label = "with a binlog" if has_binlog else "no binlog"
            with sitting.server(version, options=options, label=label) as server:
                for level, statement, counted in _counts(server, repetitions):
                    kernel = by_kernel(version, statement, level=level, has_binlog=has_binlog)
                    rows.append(
                        {
                            "series": version,
                            "has_binlog": int(has_binlog),
                            "level": level,
                            "statement": statement,
                            "repeat": 0,
                            **{name: counted[LATCHES[name]] for name in LATCHES},
                            **{f"kernel_{name}": kernel[name] for name in LATCHES},
                            "server": server.version,
                        }
                    )
    return sitting.run(
        "own-read-views-statements",
        rows,
        repetitions=repetitions,
        columns=COLUMNS,
        counts="what one session's thread took of latches, in the median of the repetitions",
    )


def _counts(server: Any, repetitions: int) -> Iterator[tuple[str, str, dict[str, float]]]:
    """(level, statement, acquisitions by the session's thread per repetition, the median).

    Each repetition is counted by itself: purge now and then moves the counter between two reads, and a view is made anew.
    """
    with contextlib.closing(server.connect()) as connection, contextlib.closing(server.connect()) as other:
        session, writer = connection.cursor(buffered=True), other.cursor(buffered=True)
        connection.autocommit = other.autocommit = True
        for text in (
            "CREATE DATABASE counted",
            "CREATE TABLE counted.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE = InnoDB",
            "INSERT INTO counted.t VALUES (1, 0), (2, 0)",
        ):
            session.execute(text)
        session.execute("SELECT CONNECTION_ID()")
        (own,) = session.fetchone()

        def acquired() -> dict[str, int]:
            writer.execute(
                "SELECT event_name, count_star FROM performance_schema.events_waits_summary_by_thread_by_event_name "
                f"JOIN performance_schema.threads USING (thread_id) WHERE processlist_id = {own} "
                "AND event_name LIKE 'wait/synch/mutex/innodb/trx_sys%'"
            )
            found = {name.rpartition("/")[2]: int(count) for name, count in writer.fetchall()}
            return {name: found.get(name, 0) for name in LATCHES.values()}

        for level in LEVELS:
            for cursor in (session, writer):
                cursor.execute("SET SESSION binlog_format = 'ROW'")
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
            for name, repeat in _repeated(session, writer).items():
                repeat()
                seen = [acquired()]
                for _ in range(repetitions):
                    repeat()
                    seen.append(acquired())
                yield (
                    level,
                    name,
                    {
                        latch: median(b[latch] - a[latch] for a, b in pairwise(seen))
                        for latch in LATCHES.values()
                    },
                )


def _repeated(session: Any, writer: Any) -> Mapping[str, Callable[[], None]]:
    """What the kernel's statements are in SQL, by their names there."""

    def select() -> None:
        session.execute("SELECT v FROM counted.t WHERE id = 1")
        session.fetchall()

    def update(cursor: Any = session, row: int = 1) -> None:
        cursor.execute(f"UPDATE counted.t SET v = v + 1 WHERE id = {row}")

    def transaction(*steps: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            session.execute("START TRANSACTION")
            for step in steps:
                step()
            session.execute("COMMIT")

        return run

    def behind(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            first()
            then()

        return run

    def write() -> None:
        update(writer, 2)

    return {
        "select": select,
        "select_behind_a_write": behind(write, select),
        "update": update,
        "update_behind_a_write": behind(lambda: update(writer), update),
        "two_selects": transaction(select, select),
        "two_selects_around_a_write": transaction(select, write, select),
        "select_update_select": transaction(select, update, select),
    }
