"""
Read views, undo chains and purge of 5.6, 5.7 and 8.0.
"""

import collections.abc
import typing

import engineroom._native

__all__: list[str] = [
    "Database",
    "changes_visible",
    "histories",
    "history_options",
    "isolation_levels",
    "latches",
    "load_options",
    "mistakes",
    "simulate",
    "statement_cost",
    "statements",
    "trx_sys_options",
    "views",
]

class Database:
    """
    A table of numbers at one isolation level, for scripts: one statement at a time, whoever would have to wait is refused.
    """
    def __init__(self, isolation: str) -> None: ...
    def begin(self, session: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        A transaction of the session begins.
        """
    def commit(self, session: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        The session's transaction ends.
        """
    def connect(self) -> int:
        """
        A new session, by its number.
        """
    def read(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        first: typing.SupportsInt | typing.SupportsIndex,
        last: typing.SupportsInt | typing.SupportsIndex,
    ) -> typing.Any:
        """
        The (key, value) pairs of the keys from first to last that the session sees; None: it would wait.
        """
    def roll_back(self, session: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Its changes are undone.
        """
    def write(
        self,
        session: typing.SupportsInt | typing.SupportsIndex,
        key: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
    ) -> bool:
        """
        Sets a row, or inserts it. False: the session would wait.
        """

def changes_visible(
    ids: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    *,
    low_limit_id: typing.SupportsInt | typing.SupportsIndex,
    active: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    creator_id: typing.SupportsInt | typing.SupportsIndex = 0,
) -> list[bool]:
    """
    Whether a view shows what each of `ids` changed: made when the counter was at low_limit_id and `active` were active.
    """

def histories(
    config: dict[str, typing.Any] = {}, *, latches: str, views: str = "kept", mistake: str = "none"
) -> dict[typing.Any, typing.Any]:
    """
    Random histories on simulated machines whose costs and scheduling vary by seed; every read is compared with its snapshot. Returns counts; wrong_reads, missing_history, wrong_views, purge_too_far, wrongly_active and leftovers are 0 without a mistake. Which `mistake` is possible depends on the design.
    """

def history_options() -> list[engineroom._native.Option]:
    """
    What can be set of random histories.
    """

def isolation_levels() -> list[str]:
    """
    The names of the isolation levels.
    """

def latches() -> list[str]:
    """
    The names of the designs.
    """

def load_options() -> list[engineroom._native.Option]:
    """
    What a load consists of.
    """

def mistakes() -> list[str]:
    """
    The names of the mistakes that can be planted.
    """

def simulate(
    *,
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any],
    trx_sys: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Sessions that read and write single rows beside purge, in virtual time.

    parameters: the machine's. load and trx_sys: see load_options() and trx_sys_options(); what is left out has its default.
    run_ns, warmup_ns: virtual time; the warm-up is not counted. longest_ns: the window grows from run_ns up to this until it is
    settled.

    Returns a dict. Of the window: transactions, writes, response_ns (of all transactions, without the time away), views_made,
    views_reused, views_walked by purge, clones (its batches), purged undo logs, acquisitions of mutex, serialisation and shards, and
    what a run is asked anyway. At its end: views_in_list, views_closed, history_length.
    """

def statement_cost(
    *,
    latches: str,
    views: str,
    statement: str,
    level: str,
    has_binlog: bool,
    repeats: typing.SupportsInt | typing.SupportsIndex = 100,
) -> dict[typing.Any, typing.Any]:
    """
    What a statement asks of the transaction system, per repetition: acquisitions of each latch, and values of the counter with those of another session's write between.
    """

def statements() -> list[str]:
    """
    The statements whose cost is known.
    """

def trx_sys_options() -> list[engineroom._native.Option]:
    """
    What can be set of a transaction system.
    """

def views() -> list[str]:
    """
    What becomes of the view of an autocommit read, by name.
    """
