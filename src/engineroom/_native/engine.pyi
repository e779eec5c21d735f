"""
Row locks, transaction system, redo log and binary log as one engine, under two loads.
"""

import collections.abc
import typing

import engineroom._native

__all__: list[str] = [
    "data_pages",
    "demand_options",
    "drawn_rows",
    "engine_options",
    "latch_order",
    "load_options",
    "mix_draw_options",
    "mix_statement_options",
    "pool_options",
    "purge_options",
    "script",
    "simulate",
    "simulate_mix",
    "statements",
]

def data_pages(load: dict[str, typing.Any]) -> int:
    """
    Pages of sysbench's table, with those above its leaves.
    """

def demand_options() -> list[engineroom._native.Option]:
    """
    What a statement asks for.
    """

def drawn_rows(
    load: dict[str, typing.Any],
    *,
    n: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
) -> list[int]:
    """
    n rows of sysbench's table by the load's distribution, from 0 on.
    """

def engine_options() -> list[engineroom._native.Option]:
    """
    What can be set of an engine.
    """

def latch_order(
    load: dict[str, typing.Any],
    demands: collections.abc.Mapping[str, dict[str, typing.Any]],
    *,
    engine: dict[str, typing.Any] = {},
    lock_design: str = "9.7",
    locks: dict[typing.Any, typing.Any] = {},
    trx_sys: dict[str, typing.Any] = {},
    transactions: typing.SupportsInt | typing.SupportsIndex = 1,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
) -> list[typing.Any]:
    """
    The latches that one client's statements ask for, in their order: a list of the statement's name and the latches' names in
    performance_schema, for each execution of so many transactions. A log without a latch on its way in has log_reservation there.

    load, demands, engine, lock_design, locks and trx_sys: as of simulate. Of the load, clients and times do not count.
    Raises ValueError for a bad argument.
    """

def load_options() -> list[engineroom._native.Option]:
    """
    What a load consists of.
    """

def mix_draw_options() -> list[engineroom._native.Option]:
    """
    What a draw of a mix consists of.
    """

def mix_statement_options() -> list[engineroom._native.Option]:
    """
    What a statement of a mix consists of.
    """

def pool_options() -> list[engineroom._native.Option]:
    """
    What can be set of an engine's buffer pool.
    """

def purge_options() -> list[engineroom._native.Option]:
    """
    What can be set of an engine's purge.
    """

def script(
    load: dict[str, typing.Any], *, seed: typing.SupportsInt | typing.SupportsIndex = 1
) -> dict[typing.Any, typing.Any]:
    """
    One transaction as it is drawn: its kind, whether it rolls back by itself, and its steps with the rows that they lock.
    """

def simulate(
    *,
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any],
    demands: collections.abc.Mapping[str, dict[str, typing.Any]],
    engine: dict[str, typing.Any] = {},
    lock_design: str = "9.7",
    locks: dict[typing.Any, typing.Any] = {},
    trx_sys: dict[str, typing.Any] = {},
    log: dict[str, typing.Any] = {},
    commit: dict[str, typing.Any] = {},
    purge: dict[str, typing.Any] = {},
    pool: dict[str, typing.Any] = {},
    order: collections.abc.Callable[..., typing.Any] | None = None,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Clients that run sysbench's read-write transactions or TPC-C's through a whole engine, in virtual time.

    parameters: the machine's. load, engine, trx_sys, log, commit, purge and pool: see load_options(), engine_options(), those of the modules
    read_views, redo_log and group_commit, purge_options() and pool_options(). commit counts with engine["binlog"], and of it commit_bytes,
    commit_ns and changed_rows never do: the transactions say that. lock_design: "5.7", "8.0.15" or "9.7", and locks: what is changed of it,
    options of lock_sys.lock_options(). What is
    left out has its default.
    demands: by the name of a statement (statements(kind) has all that are needed) its options of demand_options().
    order: a policy of your own instead of the one of `locks`, best with the design of 9.7, which weighs. It is called with the waiters of a
    record in queue order, each a dict of trx, started, weight, mode and is_urgent, and returns their places, from 0 on, in the order in
    which they are tried; who is left out waits on, as long as anybody is granted.
    run_ns, warmup_ns: virtual time; the warm-up is not counted. With load["transactions"] the run goes on to their end and
    run_ns bounds it. longest_ns: the window grows from run_ns up to this until it is settled.

    Returns a dict. Of the window: transactions, begun (attempts), commits, rolled_back, deadlocks, timeouts, changes, undone, mtrs,
    lock_waits, lock_wait_ns, false_positives, rounds; acquisitions of trx_mutex, trx_serialisation, trx_shards, lock_global, lock_pages,
    lock_tables; of purge purge_committed (undo logs that entered the history), purge_removed (that left it), purge_rows, purge_batches,
    purge_latches; of the buffer pool pool_gets, pool_misses, pool_reads, pool_writes, pool_user_writes (of these by sessions), pool_evicted,
    pool_made_young, pool_free_waits; fsyncs, writes and written_bytes of the redo log, binlog_fsyncs, binlog_writes and binlog_bytes,
    flush_groups, sync_groups and commit_groups, and what a run is asked anyway: its waits by the latches' names in performance_schema.
    At its end: most_waiting, history_length.
    Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.
    """

def simulate_mix(
    *,
    parameters: dict[typing.Any, typing.Any],
    mix: collections.abc.Sequence[collections.abc.Mapping[str, typing.Any]],
    load: dict[str, typing.Any],
    engine: dict[str, typing.Any] = {},
    lock_design: str = "9.7",
    locks: dict[typing.Any, typing.Any] = {},
    trx_sys: dict[str, typing.Any] = {},
    log: dict[str, typing.Any] = {},
    commit: dict[str, typing.Any] = {},
    purge: dict[str, typing.Any] = {},
    pool: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    As simulate(), with transactions of one's own.

    mix: a list of dicts, one per kind of transaction: weight; sends_commit, whether the client sends a COMMIT; commit, a dict of
    demand_options(); draws, a list of dicts of mix_draw_options(); statements, a list of dicts of mix_statement_options().
    load: of load_options() clients, transactions and away_ns.
    """

def statements(kind: str) -> list[str]:
    """
    The statements of a load, each of which needs a demand.
    """
