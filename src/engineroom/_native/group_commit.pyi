"""
Commits with a binlog of 5.5, 5.6 and 5.7.6.
"""

import collections.abc
import typing

import engineroom._native

__all__: list[str] = [
    "commit_options",
    "crash_runs",
    "designs",
    "is_possible",
    "load_options",
    "mistakes",
    "read_binlog",
    "risks",
    "simulate",
    "steps",
    "trace",
    "write_binlog",
]

def commit_options() -> list[engineroom._native.Option]:
    """
    What can be set of a commit.
    """

def crash_runs(
    *,
    design: str,
    redo: str | None = None,
    sync_binlog: typing.SupportsInt | typing.SupportsIndex = 1,
    flush_log_at_trx_commit: typing.SupportsInt | typing.SupportsIndex = 1,
    order_commits: bool = True,
    mistake: str = "none",
    seed: typing.SupportsIndex = 1,
    runs: typing.SupportsIndex = 1,
    crashes_per_run: typing.SupportsIndex = 20,
    is_kill: bool = False,
) -> dict[typing.Any, typing.Any]:
    """
    Crashes simulated runs at random events and recovers from both logs. Returns counts: crashes, what acknowledged transactions were `lost`, what is `only_in_binlog` or `only_in_engine`, and `outcomes` by how far a transaction had come; impossible, wrong_outcomes, disorders and hangs are 0 without a mistake. Which `mistake` is possible depends on the design.

    seed: of the first run; each has the next one; default 1
    runs: how many servers run and crash; at least 1, default 1
    crashes_per_run: about so many, at random events; at least 1, default 20
    is_kill: whether the process dies and the system goes on: all that was written stays; default False
    """

def designs() -> list[str]:
    """
    The names of the designs.
    """

def is_possible(design: str, mistake: str) -> bool:
    """
    Whether the commit of this design can make this mistake.
    """

def load_options() -> list[engineroom._native.Option]:
    """
    What a load consists of.
    """

def mistakes() -> list[str]:
    """
    The names of the mistakes that can be planted.
    """

def read_binlog(file: bytes) -> dict[typing.Any, typing.Any]:
    """
    The whole transactions of a binlog file up to its first damage: a dict of is_in_use, end (behind the last of them), xids and gtids.
    """

def risks(
    *,
    design: str = "5.7.6",
    sync_binlog: typing.SupportsInt | typing.SupportsIndex,
    flush_log_at_trx_commit: typing.SupportsInt | typing.SupportsIndex,
    is_kill: bool = False,
) -> dict[typing.Any, typing.Any]:
    """
    What a crash can do under these settings: a dict of bools, lost, only_in_binlog and only_in_engine.
    """

def simulate(
    *,
    design: str,
    redo: str | None = None,
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any],
    commit: dict[str, typing.Any] = {},
    log: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Clients that commit with both logs, in virtual time.

    design: "5.5", "5.6" or "5.7.6" of the commit; redo: the design of the redo log, by default the one it came with.
    parameters: the machine's. load, commit and log: see load_options(), commit_options() and redo_log.log_options(); what is left
    out has its default. run_ns, warmup_ns, longest_ns: as in redo_log.simulate.

    Returns a dict: transactions, redo_fsyncs, redo_writes, redo_bytes, binlog_fsyncs, binlog_writes, binlog_bytes, flush_groups,
    sync_groups, commit_groups, rotations, latency_ns_p50 and latency_ns_p99, cpu_ns and window_ns of the window, is_settled,
    half_width, and what a run is asked anyway.
    Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.
    """

def steps() -> list[str]:
    """
    How far a transaction comes, in order.
    """

def trace(
    *,
    design: str,
    redo: str | None = None,
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any],
    commit: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
) -> list[typing.Any]:
    """
    What the stages do in the first `run_ns`: tuples of ns, happening, its step or stage, and the XIDs of the transactions, which count from 1 on.
    """

def write_binlog(xids: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> bytes:
    """
    The binlog file of a server that has committed these transactions and goes on.
    """
