"""
Row locks: queues, conflicts, deadlocks and who is granted first.
"""

import collections.abc
import typing

import engineroom._native

__all__: list[str] = [
    "Playground",
    "deadlocks",
    "designs",
    "grant_order",
    "load_options",
    "lock_options",
    "mistakes",
    "on_threads",
    "policies",
    "random_runs",
    "schedule_weights",
    "simulate",
]

class Playground:
    """
    A table and sessions whose statements run one after the other.

    design: "5.7", "8.0.15" or "9.7". reads_committed: a session each, whether it runs READ COMMITTED, else REPEATABLE READ.
    columns: how many, all integers; column 0 is the primary key. secondary: of each secondary index its column and whether it is
    unique. rows: what the table holds. Index 0 is the primary key, the others follow in their order.
    Raises ValueError for a row of another length and for what is not there.
    """
    def __init__(
        self,
        *,
        design: str,
        reads_committed: collections.abc.Sequence[bool],
        columns: typing.SupportsInt | typing.SupportsIndex,
        secondary: collections.abc.Sequence[tuple[typing.SupportsInt | typing.SupportsIndex, bool]] = [],
        rows: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]],
    ) -> None: ...
    def blocker(self, session: typing.SupportsInt | typing.SupportsIndex) -> int | None:
        """
        The session that a waiting one notes as its blocker; None in a version that notes none.
        """
    def commit(self, session: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def delete(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        *,
        index: typing.SupportsInt | typing.SupportsIndex = 0,
        low: typing.SupportsInt | typing.SupportsIndex | None = None,
        high: typing.SupportsInt | typing.SupportsIndex | None = None,
        has_low: bool = True,
        has_high: bool = True,
    ) -> str:
        """
        Deletes the rows of a range.
        """
    def insert(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        row: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> str:
        """
        Inserts a row; 'duplicate' when a unique index has its value.
        """
    def locks(self) -> list[typing.Any]:
        """
        Each lock on a record or the table: session, index (-1: the table), mode and data as performance_schema.data_locks has them, and whether it waits.
        """
    def read(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        *,
        index: typing.SupportsInt | typing.SupportsIndex = 0,
        low: typing.SupportsInt | typing.SupportsIndex | None = None,
        high: typing.SupportsInt | typing.SupportsIndex | None = None,
        has_low: bool = True,
        has_high: bool = True,
        for_share: bool = False,
    ) -> str:
        """
        A locking read of a range of an index. What it came to: 'ok', 'waits', 'deadlock', 'timed out'.
        """
    def records(self, index: typing.SupportsInt | typing.SupportsIndex = 0) -> list[typing.Any]:
        """
        The records of an index in its order: the key, and whether it is deleted, which leaves it there, marked.
        """
    def result(self, session: typing.SupportsInt | typing.SupportsIndex) -> str:
        """
        What the last statement of a session came to by now.
        """
    def rollback(self, session: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def update(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        column: typing.SupportsInt | typing.SupportsIndex,
        more: typing.SupportsInt | typing.SupportsIndex,
        *,
        index: typing.SupportsInt | typing.SupportsIndex = 0,
        low: typing.SupportsInt | typing.SupportsIndex | None = None,
        high: typing.SupportsInt | typing.SupportsIndex | None = None,
        has_low: bool = True,
        has_high: bool = True,
    ) -> str:
        """
        Adds `more` to a column of the rows of a range.
        """
    def waits(self) -> list[typing.Any]:
        """
        Pairs of sessions: who waits, and whom it has to wait for.
        """
    def weight(self, session: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        How many wait for a session that waits, itself included; 0 in a version that does not weigh.
        """

def deadlocks(
    edges: collections.abc.Sequence[
        tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ]
    ],
    *,
    rows_changed: collections.abc.Mapping[
        typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
    ] = {},
) -> list[typing.Any]:
    """
    The cycles among waiters, each with its victim; rows_changed: by transaction, what makes it heavy.
    """

def designs() -> list[str]:
    """
    The names of the versions.
    """

def grant_order(
    policy: str,
    waiters: collections.abc.Sequence[dict[str, typing.Any]],
    *,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
) -> list[int]:
    """
    The order in which a policy tries waiters that are given in queue order, each a dict of trx, started, weight, age, mode and is_urgent. Who is missing keeps waiting.
    """

def load_options() -> list[engineroom._native.Option]:
    """
    What can be set of the clients.
    """

def lock_options() -> list[engineroom._native.Option]:
    """
    What can be set of a lock system.
    """

def mistakes() -> list[str]:
    """
    The names of the mistakes that can be planted.
    """

def on_threads(
    *,
    design: str,
    threads: typing.SupportsInt | typing.SupportsIndex = 1,
    rows: typing.SupportsInt | typing.SupportsIndex = 10,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
) -> dict[typing.Any, typing.Any]:
    """
    Sessions on real threads, each in a loop over transactions that lock `rows` rows of its own table and let them go. Returns a dict: row_locks, transactions, latches of the lock system that were taken, elapsed_ns, and cpu_ns of all threads. Raises ValueError for a number out of range.
    """

def policies() -> list[str]:
    """
    The names of the policies.
    """

def random_runs(
    *,
    design: str = "9.7",
    changed: dict[typing.Any, typing.Any] = {},
    mistake: str = "none",
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    runs: typing.SupportsInt | typing.SupportsIndex = 1,
) -> dict[typing.Any, typing.Any]:
    """
    Transactions at random over few records, under random schedules. Returns counts; from conflicts on all are 0 in a lock system without a mistake. changed: options of lock_options().
    """

def schedule_weights(
    edges: collections.abc.Sequence[
        tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ]
    ],
    *,
    reservations: typing.SupportsInt | typing.SupportsIndex = 0,
) -> dict[int, int]:
    """
    The weights that the background thread publishes. edges: for each waiter (number, for whom it waits, its reservation); reservations: how many waits there were so far. Waiters on a cycle have none.
    """

def simulate(
    *,
    design: str = "9.7",
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any] = {},
    locks: dict[typing.Any, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Clients that lock rows of their own and let them go, in virtual time.

    design: "5.7", "8.0.15" or "9.7". parameters: the machine's. load and locks: see load_options() and lock_options(); what is left
    out has its default, of the design in locks. run_ns, warmup_ns, longest_ns: as in redo_log.simulate.

    Returns a dict: transactions, waits (for a row: none), and per kind the latches of the lock system that were taken, global_latches,
    page_latches (in 5.7 the one mutex) and table_latches; latency_ns_p50 and latency_ns_p99, cpu_ns and window_ns of the window,
    is_settled, half_width, and what a run is asked anyway.
    Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.
    """
