"""An intention lock among those of other transactions on its table: what each of them costs on live servers, and what it does to engines.

On live servers one client changes a row, again and again, each time in a transaction of its own, while idle transactions have changed a row
each: of the same table, on other pages, or of another table. They differ in the list of the table's locks alone. Each round has both places and
both numbers of idle transactions, since a busy minute is nobody's alone.

The engines are 5.7 and 8.0's lock system, as figures 7-3 and 7-7 have them. `flat` is what figures had: each lock of the table is looked
at twice, at 5 ns, as if its memory were here. 5.7 looks at each as a lock is asked for, and at those behind it as it is let go;
8.0 counts those on the whole table and looks at none (`count_by_mode`).

What was expected of servers before they were recorded, after an ad hoc run, is in `CLAIMS`; of 8.0.15 it did not come out. Engines had been seen with one seed.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.thread_clock import ThreadClock, thread_of
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.servers.catalogue import measured
from engineroom.simulating.engine import Design, of_design
from engineroom.simulating.experiment import Given, Seen
from engineroom.simulating.sources import designs_under_tpcc

if TYPE_CHECKING:
    from engineroom.servers import Server

VERSIONS = measured(since="5.7")
OTHERS = (200, 800)
ROUNDS = 20
WARM, UPDATES, BATCHES = 50, 100, 3
PLACES = {"the same table": "a", "another table": "b"}
_ROWS, _FAR = 4_000, 2_000  # the idle ones' rows are pages away from the row that is changed
_OPTIONS: Mapping[str, str | int] = {
    "innodb_buffer_pool_size": "128M",
    "innodb_flush_log_at_trx_commit": 0,
    "transaction_isolation": "READ-COMMITTED",
    "max_connections": 1_000,
}
COLUMNS = {
    "series": "version of the server",
    "server": "version of the server",
    "where": "the table of which the idle transactions have changed rows",
    "others": "idle transactions",
    "cpu_us": f"CPU time of the thread that serves the client per update, microseconds: median of {BATCHES} batches of {UPDATES}",
}


def table_locks_live(
    *, versions: Sequence[str] = VERSIONS, others: Sequence[int] = OTHERS, rounds: int = ROUNDS
) -> Run:
    """Change one row while idle transactions hold locks on its table, or on another. EngineRoomError where a thread's time cannot be read."""
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting:
        for version in versions:
            with sitting.server(version, options=_OPTIONS) as server:
                rows += _measured(server, others, rounds)
    return sitting.run(
        "own-table-locks",
        rows,
        columns=COLUMNS,
        load=f"UPDATE of one row by its primary key, autocommitted, READ COMMITTED, tables of {_ROWS:,} rows",
    )


def _measured(server: Server, others: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    rows = []
    server.execute("CREATE DATABASE table_locks")
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(contextlib.closing(server.connect("table_locks")))
        client.autocommit = True
        cursor = client.cursor()
        values = ", ".join(f"({i}, 0)" for i in range(_ROWS))
        for table in PLACES.values():
            cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
            cursor.execute(f"INSERT INTO {table} VALUES {values}")
        idle = [
            stack.enter_context(contextlib.closing(server.connect("table_locks"))) for _ in range(max(others))
        ]
        for each in idle:
            each.autocommit = False
        clock = ThreadClock(thread_of(server, int(client.connection_id)))
        for repeat, n, where in in_turns(rounds, others, PLACES, desc=f"table locks, {server.version}"):
            for i, each in enumerate(idle[:n]):
                each.cursor().execute(f"UPDATE {PLACES[where]} SET n = n + 1 WHERE id = {_FAR + i}")
            rows.append(
                {
                    "series": server.version,
                    "server": server.version,
                    "where": where,
                    "others": n,
                    "repeat": repeat,
                    "cpu_us": statistics.median(_update_us(cursor, clock) for _ in range(BATCHES)),
                }
            )
            for each in idle[:n]:
                each.rollback()
    return rows


def _update_us(cursor: Any, clock: ThreadClock) -> float:
    for _ in range(WARM):
        cursor.execute("UPDATE a SET n = n + 1 WHERE id = 0")
    before = clock.read_ns()
    for _ in range(UPDATES):
        cursor.execute("UPDATE a SET n = n + 1 WHERE id = 0")
    return (clock.read_ns() - before) / 1000 / UPDATES


def each_ns(run: Run) -> pd.Series[float]:
    """What an update computes longer for each lock of another transaction on its table, ns, by server: median of the rounds, with the most."""
    most = run.table[run.table["others"] == run.table["others"].max()]
    by_place: Any = most.set_index(["server", "repeat", "where"])["cpu_us"].unstack("where")
    same, another = (by_place[place] for place in PLACES)
    longer: pd.Series[float] = (same - another).groupby("server").median()
    return 1000 * longer / int(run.table["others"].max())


CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "5.7.22 and 8.0.15 compute at least 10 ns longer for each lock": lambda run: bool(
        (each_ns(run)[["5.7.22", "8.0.15"]] >= 10).all()
    ),
    "8.0.31 and 9.7.4 compute less than 5 ns longer": lambda run: bool(
        (each_ns(run)[["8.0.31", "9.7.4"]] < 5).all()
    ),
}

# Design -> the server whose demands it has, and how its intention locks look at others.
DESIGNS: Mapping[str, Design] = {
    "5.7": Design(lock_design="5.7", latches="5.7", redo="5.7"),
    "8.0, one mutex": Design(locks={"latching": "one mutex"}, latches="8.0"),
    "8.0, sharded": Design(latches="8.0"),
}
LOOKS: Mapping[str, Mapping[str, str]] = {
    "5.7": {"flat": "flat", "as its server": "each"},
    "8.0, one mutex": {"flat": "flat", "as its server": "counts"},
    "8.0, sharded": {"flat": "flat", "as its server": "counts"},
}


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    load = given.load["of"]["5.7.22" if point["series"] == "5.7" else "8.0.31"]
    locks = {**load["locks"], "table_looks": LOOKS[point["series"]][point["looks"]]}
    return of_design(point, replace(given, load={**load, "locks": locks}), **window)


_under_tpcc = {
    server: designs_under_tpcc(
        "own-engine-table-locks",
        "throughput by which locks of its table an intention lock looks at",
        DESIGNS,
        server=server,
        concurrency=(50, 100, 150, 300, 1000),
    )
    for server in ("5.7.22", "8.0.31")
}


def _loads() -> dict[str, Any]:
    return {
        "of": {
            server: each.load() if callable(each.load) else dict(each.load)
            for server, each in _under_tpcc.items()
        }
    }


table_locks_sim = replace(
    _under_tpcc["8.0.31"],
    points={**_under_tpcc["8.0.31"].points, "looks": ("flat", "as its server")},
    load=_loads,
    measure=_measure,
    columns={
        **_under_tpcc["8.0.31"].columns,
        "looks": "at which locks of its table an intention lock looks",
    },
)
