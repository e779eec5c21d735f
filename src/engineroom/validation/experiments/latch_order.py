"""The latches of one statement in the order in which it takes them, of servers and of their engines.

Counts say how often a statement takes each latch, and nothing of what is taken inside what. Here performance_schema keeps every event
of the connection's thread, and the sequence that comes most often is shown, with its share of the executions.

The engine's kernel has an order of its own, that of its code. It is run by one client over a machine that is told of each latch, and held
against the servers' by the stations that a statement visits: row locks, transactions, and the way into the redo log. What the engine does not
have (pages, files, undo segments, the statement's own mutex) is in no station.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.servers.catalogue import measured
from engineroom.simulating.engine import demands
from engineroom.validation.experiments.beside import SERVERS
from engineroom.workloads.one_client import OPTIONS, Client, Key, LiveLoad, asked

if TYPE_CHECKING:
    from engineroom.servers import Server

VERSIONS = measured(since="5.7")
TRANSACTIONS = 60
TABLE_ROWS = 10_000
STATEMENTS = ("select_point", "update_index", "update_non_index", "delete", "insert", "commit")
COUNTS = (
    "latches that one client's statements take, in their order, which depends on no other work on the machine"
)
_KEPT = 10_000  # events, far more than a statement has
_CONSUMERS = ("events_waits_current", "events_waits_history", "events_waits_history_long")
COLUMNS = {
    "series": "version of the server",
    "server": "version of the server",
    "load": "as in own-demands, on a table of 10,000 rows",
    "transaction": "kind of transaction",
    "statement": "kind of statement",
    "position": "place of the event in the statement, from 1",
    "latch": "InnoDB's latch, by the name of its instrument",
    "operation": "how it was taken: lock for a mutex, shared_lock, exclusive_lock and so on for others",
    "share": "of the executions that had exactly this sequence of events; none came more often",
    "executions": "of which the sequences were compared",
}
Event = tuple[str, str]  # (latch, operation)
# Station -> its latches. The log of 8.0 has none on the way in: a reader's share of log_sn_lock, which the engine names after what it does.
STATIONS: Mapping[str, re.Pattern[str]] = {
    "row locks": re.compile("lock_mutex|lock_sys_.*"),
    "transactions": re.compile("trx_sys_.*mutex"),
    "redo": re.compile("log_sys_mutex|log_sn_lock|log_reservation"),
}
_DRAWN = 200  # transactions of an engine
# In which order an engine is run -> whether that is a server's.
ORDERS: Mapping[str, bool] = {"its own": False, "a server's": True}


def latch_order_live(
    *,
    versions: Sequence[str] = VERSIONS,
    transactions: int = TRANSACTIONS,
    statements: Sequence[str] = STATEMENTS,
) -> Run:
    """Keep the events of each statement of SysBench's read-write transaction, and show the sequence that comes most often."""
    load = LiveLoad("sysbench_read_write", table_rows=TABLE_ROWS, scale=1.0)
    options = {**OPTIONS, "performance_schema_events_waits_history_long_size": _KEPT}
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting:
        for version in bar(versions, desc="servers", unit="server"):
            with sitting.server(version, options=options) as server:
                load.fill(server)
                of = {"series": server.version, "server": server.version, "load": load.name}
                with Client(server, load) as client:
                    seen = _seen(server, client, load, transactions)
                rows += [of | row for row in most_common(seen) if row["statement"] in statements]
    return sitting.run("own-latch-order", rows, columns=COLUMNS, counts=COUNTS, load=[load.described])


def latch_order_sim(*, executor: Executor | None = None) -> Run:  # noqa: ARG001 (it takes seconds)
    """The same of the engines that stand for the servers, in their own order and in a server's, in the form of the live run."""
    from engineroom._native import engine

    rows: list[dict[str, Any]] = []
    with Sitting("sim", seed=1) as sitting:
        for order, (name, server) in itertools.product(ORDERS, SERVERS.items()):
            design = server.design
            seen: dict[Key, Counter[tuple[Event, ...]]] = defaultdict(Counter)
            for statement, latches in engine.latch_order(
                {"kind": "sysbench_read_write", "rows": TABLE_ROWS, "distribution": "uniform"},
                demands(name, "sysbench_read_write"),
                engine={"redo": design.redo, "server_order": ORDERS[order], **design.engine},
                lock_design=design.lock_design,
                trx_sys={"latches": design.latches},
                transactions=_DRAWN,
            ):
                transaction, _, kind = statement.partition(".")
                seen[transaction, kind][tuple((latch, "") for latch in latches)] += 1
            of = {"series": order, "server": name, "load": "sysbench_read_write"}
            rows += [
                {**of, **{key: value for key, value in row.items() if key != "operation"}}
                for row in most_common(seen)
                if row["statement"] in STATEMENTS
            ]
    columns = {name: says for name, says in COLUMNS.items() if name != "operation"}
    columns["series"] = "whose order: the engine's own, or that of a server"
    return sitting.run("own-engine-latch-order", rows, columns=columns, load={"transactions": _DRAWN})


def stations(latches: Iterable[str]) -> list[str]:
    """The stations of a sequence of latches in their order, each once as long as no other comes in between."""
    visited = (
        next((name for name, its in STATIONS.items() if its.fullmatch(latch)), None) for latch in latches
    )
    return [name for name, _ in itertools.groupby(filter(None, visited))]


def beside_engines(live: Run, sim: Run) -> list[dict[str, Any]]:
    """A row per statement and server: the stations that the `server` visits, and those of its engine in each of `ORDERS`."""

    def visited(table: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
        keys = table[["statement", "server"]].drop_duplicates().itertuples(index=False, name=None)
        return {
            (statement, version): stations(
                table[(table["statement"] == statement) & (table["server"] == version)].sort_values(
                    "position"
                )["latch"]
            )
            for statement, version in keys
        }

    engines = {order: visited(sim.table[sim.table["series"] == order]) for order in ORDERS}
    return [
        {
            "statement": statement,
            "version": version,
            "server": its,
            **{order: of[statement, version] for order, of in engines.items()},
        }
        for (statement, version), its in visited(live.table).items()
        if all((statement, version) in of for of in engines.values())
    ]


def _seen(
    server: Server, client: Client, load: LiveLoad, transactions: int
) -> Mapping[Key, Counter[tuple[Event, ...]]]:
    seen: dict[Key, Counter[tuple[Event, ...]]] = defaultdict(Counter)
    stream = load.transactions(seed=1)
    for _ in asked(itertools.islice(stream, 10), client.ask):  # statements prepared, pages read
        pass
    with Events(server, client.id) as events:
        for key, _ in asked(itertools.islice(stream, transactions), client.ask):
            seen[key][events.taken()] += 1
    return seen


def most_common(seen: Mapping[Key, Counter[tuple[Event, ...]]]) -> Iterator[dict[str, Any]]:
    """A row per event of each statement's most common sequence; of two as common, the one that came first."""
    for (transaction, statement), sequences in seen.items():
        ((events, n),) = sequences.most_common(1)
        executions = sequences.total()
        for position, (latch, operation) in enumerate(events, 1):
            yield {
                "transaction": transaction,
                "statement": statement,
                "position": position,
                "latch": latch,
                "operation": operation,
                "share": n / executions,
                "executions": executions,
            }


class Events:
    """The events of one connection's thread on InnoDB's latches, as they come."""

    def __init__(self, server: Server, client: int) -> None:
        self._server, self._client = server, client

    def __enter__(self) -> Self:
        self._switch("YES")
        ((self._thread,),) = self._server.query(
            f"SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {self._client}"
        )
        self._connection = self._server.connect()
        self._cursor = self._connection.cursor()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()
        self._switch("NO")

    def taken(self) -> tuple[Event, ...]:
        """What the thread took since this was asked before."""
        self._cursor.execute(
            "SELECT EVENT_NAME, OPERATION FROM performance_schema.events_waits_history_long"
            f" WHERE THREAD_ID = {self._thread} AND EVENT_NAME LIKE 'wait/synch/%/innodb/%' ORDER BY EVENT_ID"
        )
        events = tuple((str(name).rpartition("/")[2], str(how)) for name, how in self._cursor.fetchall())
        self._cursor.execute("TRUNCATE performance_schema.events_waits_history_long")
        return events

    def _switch(self, enabled: str) -> None:
        names = ", ".join(f"'{name}'" for name in _CONSUMERS)
        self._server.execute(
            f"UPDATE performance_schema.setup_consumers SET ENABLED = '{enabled}' WHERE NAME IN ({names})",
            f"UPDATE performance_schema.setup_instruments SET ENABLED = '{enabled}', TIMED = 'NO'"
            " WHERE NAME LIKE 'wait/synch/%/innodb/%'",
            "TRUNCATE performance_schema.events_waits_history_long",
        )
