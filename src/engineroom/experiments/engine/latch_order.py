"""The latches of one statement in the order in which it takes them: what the engine's kernel can replay.

Counts say how often a statement takes each latch, and nothing of what is taken inside what. Here performance_schema keeps every event
of the connection's thread, and the sequence that comes most often is shown, with its share of the executions.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from engineroom.experiments.engine.clients import OPTIONS, Client, Key, LiveLoad, asked
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["COLUMNS", "STATEMENTS", "VERSIONS", "latch_order_live", "most_common"]

VERSIONS = ("5.7", "8.0", "9.7")
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


def _seen(
    server: Server, client: Client, load: LiveLoad, transactions: int
) -> Mapping[Key, Counter[tuple[Event, ...]]]:
    seen: dict[Key, Counter[tuple[Event, ...]]] = defaultdict(Counter)
    stream = load.transactions(seed=1)
    for _ in asked(itertools.islice(stream, 10), client.ask):  # statements prepared, pages read
        pass
    with _Events(server, client.id) as events:
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


class _Events:
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
