"""
The simulated machine and its models; design and validation: the page on the machine.
"""

import collections.abc
import typing

import numpy
import numpy.typing

import engineroom._native

__all__: list[str] = [
    "Stalled",
    "check_parameters",
    "closed_loop",
    "closed_loop_on_host",
    "copy_beside_write",
    "crowd",
    "crowd_on_host",
    "interruptions",
    "line_transfer",
    "open_loop",
    "parameters",
    "primitives",
]

class Stalled(RuntimeError):
    """
    Nothing could happen any more while threads still waited. The message names them.
    """

def check_parameters(parameters: dict[str, typing.Any]) -> None:
    """
    Raises ValueError for a parameter that is unknown and for a value that does not fit.
    """

def closed_loop(
    *,
    parameters: dict[typing.Any, typing.Any],
    clients: typing.SupportsInt | typing.SupportsIndex,
    think_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    work_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    hold_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    latch: bool = False,
    fsyncs: typing.SupportsInt | typing.SupportsIndex = 0,
    append_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
    exponential: bool = True,
    spin_rounds: typing.SupportsInt | typing.SupportsIndex = 30,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    samples: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Clients that think, compute, hold a latch and wait for the disk, in virtual time.

    parameters: the machine's, by their names in SimConfig; what is left out has its default.
    clients, think_ns, work_ns, hold_ns: how many, and the mean times of a turn: asleep, computing, computing under one latch.
    latch: whether the latch is taken, also when hold_ns is 0. spin_rounds: how long it spins before it sleeps.
    fsyncs, append_bytes: fsyncs per turn, and the bytes written before each.
    exponential: whether the times are drawn; else they are constant.
    run_ns, warmup_ns: virtual time; turns that end in the warm-up are not counted.
    samples: how often, evenly over the run after the warm-up, the clients in the system are counted.
    progress: called with the virtual time in ns.

    Returns a dict: turns, response times, in_system (the samples), core_ps (after the warm-up) and what a run is asked anyway.
    Raises ValueError for a bad argument, RuntimeError for a simulation that stalled.
    """

def closed_loop_on_host(
    *,
    clients: typing.SupportsInt | typing.SupportsIndex,
    think_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    work_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    hold_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    latch: bool = False,
    fsyncs: typing.SupportsInt | typing.SupportsIndex = 0,
    append_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
    exponential: bool = True,
    spin_rounds: typing.SupportsInt | typing.SupportsIndex = 30,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    fsync_ns: typing.SupportsInt | typing.SupportsIndex = 100000,
    trace_intervals: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    The same clients on real threads; `fsync_ns` is the emulated disk's. Times are wall times; core_ps is of the whole run. `trace_intervals`: so many intervals a thread are kept for a trace.
    """

def copy_beside_write() -> tuple[float, float]:
    """
    How long one CPU takes to copy 64 KiB into one half of a log buffer, and another to write as much of the other half to a file in memory, ns each. Raises RuntimeError on one CPU.
    """

def crowd(
    *,
    parameters: dict[typing.Any, typing.Any],
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    warmup_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    operation: str = "add",
    threads: typing.SupportsIndex = 1,
    hold_ns: typing.SupportsIndex = 0,
    outside_ns: typing.SupportsIndex = 0,
    exponential: bool = False,
    words: typing.SupportsIndex = 1,
    data_lines: typing.SupportsIndex = 0,
    on_one_line: bool = False,
    pauses: typing.SupportsIndex = 1,
    yields: bool = False,
    attempt_ns: typing.SupportsIndex = 0,
    backoff_most_ns: typing.SupportsIndex = 0,
    cpus: collections.abc.Sequence[typing.SupportsIndex] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Threads that change one word, or take one lock, again and again, in virtual time.

    parameters: the machine's, by their names in SimConfig; what is left out has its default.
    run_ns, warmup_ns: virtual time; turns that end in the warm-up are not counted.

    Returns a dict: turns (one entry per thread), window_ns, intrusions (threads that came in while another was under the lock) and
    what a run is asked anyway. Raises ValueError for a bad argument.

    operation: what a turn is: an atomic operation, or a lock taken and given back; 'add', 'swap', 'compare_and_swap', 'turns', 'blind_turns', 'test_and_set', 'test_and_test_and_set', 'ticket', 'mcs', 'futex' or 's_latch', default 'add'
    threads: threads that take turns without end; 1 to 4096, default 1
    hold_ns: computing under the lock; default 0
    outside_ns: computing between two turns; default 0
    exponential: whether these times are drawn, and that between two attempts; default False
    words: so many words, for atomic operations: thread i changes word i modulo this; parts, for s_latch; 1 to 4096, default 1
    data_lines: lines that are written under the lock; 0 to 4096, default 0
    on_one_line: whether both words of a ticket lock lie on one line; default False
    pauses: PAUSE instructions between two looks; default 1
    yields: whether a look in vain gives the processor away instead; default False
    attempt_ns: computing between two attempts that write; default 0
    backoff_most_ns: up to here that time doubles, and a random part of it is taken; 0: it is constant; default 0
    cpus: where each thread runs; none: from the first CPU on; default None
    """

def crowd_on_host(
    *,
    run_ns: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    operation: str = "add",
    threads: typing.SupportsIndex = 1,
    hold_ns: typing.SupportsIndex = 0,
    outside_ns: typing.SupportsIndex = 0,
    exponential: bool = False,
    words: typing.SupportsIndex = 1,
    data_lines: typing.SupportsIndex = 0,
    on_one_line: bool = False,
    pauses: typing.SupportsIndex = 1,
    yields: bool = False,
    attempt_ns: typing.SupportsIndex = 0,
    backoff_most_ns: typing.SupportsIndex = 0,
    cpus: collections.abc.Sequence[typing.SupportsIndex] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    The same on real threads, from the first moment; where they run is the system's choice.

    operation: what a turn is: an atomic operation, or a lock taken and given back; 'add', 'swap', 'compare_and_swap', 'turns', 'blind_turns', 'test_and_set', 'test_and_test_and_set', 'ticket', 'mcs', 'futex' or 's_latch', default 'add'
    threads: threads that take turns without end; 1 to 4096, default 1
    hold_ns: computing under the lock; default 0
    outside_ns: computing between two turns; default 0
    exponential: whether these times are drawn, and that between two attempts; default False
    words: so many words, for atomic operations: thread i changes word i modulo this; parts, for s_latch; 1 to 4096, default 1
    data_lines: lines that are written under the lock; 0 to 4096, default 0
    on_one_line: whether both words of a ticket lock lie on one line; default False
    pauses: PAUSE instructions between two looks; default 1
    yields: whether a look in vain gives the processor away instead; default False
    attempt_ns: computing between two attempts that write; default 0
    backoff_most_ns: up to here that time doubles, and a random part of it is taken; 0: it is constant; default 0
    cpus: where each thread runs; none: from the first CPU on; default None
    """

def interruptions(
    *, run_ns: typing.SupportsInt | typing.SupportsIndex
) -> tuple[numpy.typing.NDArray[numpy.float64], float]:
    """
    How long something else ran, each time, while two CPUs (or the only one) computed for `run_ns`, and the computing time between two, ns. 0 where nothing interrupted.
    """

def line_transfer(*, hand_overs: typing.SupportsInt | typing.SupportsIndex = 20000) -> float:
    """
    How long two CPUs take to hand a cache line over, once, ns: the mean of `hand_overs` each way. Raises RuntimeError on one CPU.
    """

def open_loop(
    *,
    parameters: dict[typing.Any, typing.Any],
    jobs: typing.SupportsInt | typing.SupportsIndex,
    first_counted: typing.SupportsInt | typing.SupportsIndex = 0,
    interval_ns: typing.SupportsInt | typing.SupportsIndex,
    work_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    durable: bool = False,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[..., typing.Any] | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    Jobs that arrive at random, compute and leave, in virtual time.

    jobs, first_counted: how many arrive, and the first one that is counted. interval_ns, work_ns: means, exponential.
    durable: a job ends with an fsync that it shares with those who wait at the same time.

    Returns a dict: counted, sojourn_ns_total, fsyncs, and what a run is asked anyway.
    """

def parameters() -> list[engineroom._native.Option]:
    """
    What a simulated machine can be told: names, defaults and ranges.
    """

def primitives(
    *, samples: typing.SupportsInt | typing.SupportsIndex = 5, folder: str
) -> dict[typing.Any, typing.Any]:
    """
    Measures the machine at hand: for each primitive `samples` times in ns. Files are made in `folder`.
    """
