"""
The redo log of 5.6, 5.7 and 8.0.
"""

import collections.abc
import typing

import engineroom._native

__all__: list[str] = [
    "append",
    "call_ns",
    "commit_cost",
    "commit_counts",
    "crash_runs",
    "designs",
    "group_commit",
    "load_options",
    "log_options",
    "make_group",
    "mistakes",
    "recover",
    "run_on_host",
    "seal_ns",
    "simulate",
    "write_file",
]

def append(
    *,
    threads: typing.SupportsInt | typing.SupportsIndex = 1,
    appends_per_thread: typing.SupportsInt | typing.SupportsIndex,
    group_bytes: typing.SupportsInt | typing.SupportsIndex = 100,
    bare: bool = False,
) -> int:
    """
    Elapsed ns while threads append to our own log, which writes nothing; `bare`: one fetch_add and one memcpy each.
    """

def call_ns(*, appends: typing.SupportsInt | typing.SupportsIndex = 400) -> float:
    """
    What a call of a task takes in 8.0's appends of 64 KiB on a real thread, with what it does to shared words, ns: the time of `appends` of them beyond that of their copies, over the calls.
    """

def commit_cost(
    design: str,
    *,
    threads: typing.SupportsIndex = 1,
    commits_per_thread: typing.SupportsIndex = 1,
    mtr_bytes: typing.SupportsIndex = 100,
    work_ns: typing.SupportsIndex = 0,
    log_buffer_bytes: typing.SupportsIndex = 16777216,
) -> dict[typing.Any, typing.Any]:
    """
    Commits mini-transactions on real threads without a disk, by the design of 5.7, 8.0 or 8.0 with its writer threads off. Returns elapsed_ns of all, cpu_ns of the committing threads, both of the same work without commits (work_elapsed_ns, work_cpu_ns), and counts.

    threads: that commit at the same time; at least 1, default 1
    commits_per_thread: how many mini-transactions each commits; at least 1, default 1
    mtr_bytes: redo of a mini-transaction, at most a sixteenth of the log buffer; at least 1, default 100
    work_ns: computed before each commit: the mean, drawn evenly between half and one and a half times as much; default 0
    log_buffer_bytes: innodb_log_buffer_size, 16 MiB by default in 5.7 and 8.0: what is written to a smaller one is in a cache of the processor; 65536 to 1073741824, default 16777216
    """

def commit_counts(
    design: str,
    *,
    threads: typing.SupportsIndex = 1,
    commits_per_thread: typing.SupportsIndex = 1,
    mtr_bytes: typing.SupportsIndex = 100,
    work_ns: typing.SupportsIndex = 0,
    log_buffer_bytes: typing.SupportsIndex = 16777216,
) -> dict[typing.Any, typing.Any]:
    """
    Commits `commits_per_thread` mini-transactions on the calling thread, as commit_cost does, and counts what they do to words that threads share: locked_ops, the locked instructions, and atomic_stores, those without a lock.

    threads: that commit at the same time; at least 1, default 1
    commits_per_thread: how many mini-transactions each commits; at least 1, default 1
    mtr_bytes: redo of a mini-transaction, at most a sixteenth of the log buffer; at least 1, default 100
    work_ns: computed before each commit: the mean, drawn evenly between half and one and a half times as much; default 0
    log_buffer_bytes: innodb_log_buffer_size, 16 MiB by default in 5.7 and 8.0: what is written to a smaller one is in a cache of the processor; 65536 to 1073741824, default 16777216
    """

def crash_runs(
    *,
    design: str,
    mistake: str = "none",
    seed: typing.SupportsIndex = 1,
    runs: typing.SupportsIndex = 1,
    crashes_per_run: typing.SupportsIndex = 20,
    is_kill: bool = False,
) -> dict[typing.Any, typing.Any]:
    """
    Crashes simulated runs at random events and recovers. Returns counts; lost_commits, wrong_groups, wrong_checkpoints, disorders and hangs are 0 in a log without a mistake. Which `mistake` is possible depends on the design.

    seed: of the first run; each has the next one; default 1
    runs: how many servers run and crash; at least 1, default 1
    crashes_per_run: about so many, at random events; at least 1, default 20
    is_kill: whether the process dies and the system goes on: all that was written stays; default False
    """

def designs() -> list[str]:
    """
    The names of the designs.
    """

def group_commit(
    *,
    clients: typing.SupportsInt | typing.SupportsIndex,
    fsync_ns: typing.SupportsInt | typing.SupportsIndex,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    group_bytes: typing.SupportsInt | typing.SupportsIndex = 100,
) -> dict[typing.Any, typing.Any]:
    """
    Clients that append to our own log and wait until it is durable, over a disk whose fsync takes `fsync_ns`.
    """

def load_options() -> list[engineroom._native.Option]:
    """
    What a load consists of.
    """

def log_options() -> list[engineroom._native.Option]:
    """
    What can be set of a log.
    """

def make_group(
    client: typing.SupportsInt | typing.SupportsIndex,
    sequence: typing.SupportsInt | typing.SupportsIndex,
    data_bytes: typing.SupportsInt | typing.SupportsIndex,
) -> bytes:
    """
    A record group whose bytes follow from its arguments.
    """

def mistakes() -> list[str]:
    """
    The names of the mistakes that can be planted.
    """

def recover(file: bytes) -> typing.Any:
    """
    Reads a log file after a crash: a dict of checkpoint_lsn, groups (start LSN, end LSN, bytes), end_lsn and why it stopped; None when the file has no header or checkpoint.
    """

def run_on_host(
    *,
    design: str,
    load: dict[str, typing.Any],
    log: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    fsync_ns: typing.SupportsInt | typing.SupportsIndex = 100000,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    profile: bool = True,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    The same clients on real threads, over a disk in memory whose fsync takes `fsync_ns`. Times are wall times; what the log's code takes is what it takes here, not the `log`'s `seal_ns` and its like. `profile` charges each thread's time to what it does, at two looks at the clock a wait.
    """

def seal_ns(*, blocks: typing.SupportsInt | typing.SupportsIndex = 32768) -> float:
    """
    Wall nanoseconds that the header and the checksum of one log block take here, over so many blocks.
    """

def simulate(
    *,
    design: str,
    parameters: dict[typing.Any, typing.Any],
    load: dict[str, typing.Any],
    log: dict[str, typing.Any] = {},
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    longest_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Clients against one design of the redo log, in virtual time.

    design: "5.6", "5.7", "8.0" or "8.0, writer threads off".
    parameters: the machine's. load and log: see load_options() and log_options(); what is left out has its default.
    run_ns, warmup_ns: virtual time; the warm-up is not counted. With load["transactions"] the run goes on to their end and
    run_ns bounds it. longest_ns: the window grows from run_ns up to this until it is settled: five transactions per client, and
    half of the throughput's interval of 95 % at most 2 % of it.

    Returns a dict: transactions, mtrs, fsyncs, writes, written_bytes, log_waits, cpu_ns and window_ns of the window, is_settled,
    half_width (of that interval, over the throughput), and what a run is asked anyway.
    Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.
    """

def write_file(
    groups: collections.abc.Sequence[bytes], *, capacity_bytes: typing.SupportsInt | typing.SupportsIndex
) -> bytes:
    """
    The log file that holds these record groups.
    """
