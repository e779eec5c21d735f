"""How long a thread is in the functions that take a part's latches and let them go: of live servers by samples of their stacks, of the
engine by its own clock.

One client runs SysBench's read-write transactions. Its thread's CPU time is read, and sampled a thousand times a second. A sample counts
for a part when one of the part's functions is anywhere on its stack. A function that has a latch for only a part of its time counts
whole. Functions that a binary does not name are in no part, though some of them hold latches, as of a transaction's start and end.

The simulated engine runs the same load with one client. In it nothing is computed under a latch: its time is that of cache lines, copies
and atomics. Its clock has names for asking for row locks and for the ends of mini-transactions; all else that it reads and writes in
memory is its third part, which has more in it than the server's.

Expected before it was recorded: in each part the engine takes between half and twice what its server takes (`CLAIMS`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from engineroom.chapters.engine.experiments.beside_servers import FSYNC_US, SERVERS, Rows, computer
from engineroom.chapters.engine.experiments.clients import OPTIONS
from engineroom.errors import EngineRoomError
from engineroom.measuring import probes
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.thread_clock import ThreadClock
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.runs.summary import several
from engineroom.simulating.activities import ON_CPU, time_by
from engineroom.simulating.engine import run
from engineroom.simulating.experiment import Given
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["CLAIMS", "COLUMNS", "LOAD", "PARTS", "WINDOW", "factors", "hold_times_live", "part_of"]

SECONDS, REPEATS = 20, 5
_AROUND_S = 3  # SysBench runs so much longer than is sampled: it connects, and perf begins
LOAD = Rows(table_rows=100_000, distribution="pareto")
WINDOW: Mapping[str, int] = {"first_ms": 5_000, "longest_ms": 5_000, "warmup_ms": 500}
_CLIENT = "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_DB = %s AND PROCESSLIST_ID <> CONNECTION_ID()"


def _function(*names: str) -> str:
    """A mangled function by its name and those of its namespaces or classes."""
    parts = "".join(f"{len(name)}{name}" for name in names)
    return f"^_Z{'N' if len(names) > 1 else ''}{parts}(?![0-9])"


_LOCKING = (
    "lock_clust_rec_modify_check_and_lock",
    "lock_clust_rec_read_check_and_lock",
    "lock_sec_rec_modify_check_and_lock",
    "lock_sec_rec_read_check_and_lock",
    "lock_rec_insert_check_and_lock",
    "lock_table",
)
_OF_MTR = (
    "execute",
    "prepare_write",
    "finish_write",
    "release_blocks",
    "add_dirty_blocks_to_flush_list",
)
_OF_LOG = (
    "log_reserve_and_open",
    "log_close",
    "log_buffer_reserve",
    "log_buffer_write",
    "log_buffer_write_completed",
)
# Part -> its functions, of which a version has some: asking for row and table locks; the end of a mini-transaction that has redo; views,
# and what lets row locks go.
PARTS: Mapping[str, re.Pattern[str]] = {
    "row and table locks": re.compile("|".join(_function(name) for name in _LOCKING)),
    "mini-transactions with redo": re.compile(
        "|".join(
            [
                *(_function("mtr_t", "Command", name) for name in _OF_MTR),
                *(_function(name) for name in _OF_LOG),
            ]
        )
    ),
    "views and letting locks go": re.compile(
        "|".join(
            [
                _function("MVCC", "view_open"),
                _function("MVCC", "view_close"),
                _function("lock_trx_release_locks"),
            ]
        )
    ),
}
COLUMNS = {
    "series": "server: measured; engine: simulated",
    "server": "version",
    "part": "functions that take a part's latches and let them go",
    "cpu_us": "CPU time in them per transaction, microseconds",
    "samples": "of the thread's stack that have one of them; of an engine none",
    "thread_cpu_us": "CPU time of the session's thread per transaction, microseconds",
    "transactions": "committed meanwhile",
}


def hold_times_live(
    *,
    versions: Sequence[str] = tuple(SERVERS),
    seconds: int = SECONDS,
    repeats: int = REPEATS,
    load: Rows = LOAD,
    window: Mapping[str, int] = WINDOW,
) -> Run:
    """Sample each server's thread in turns, then simulate the engine that stands for it. EngineRoomError where nothing can be sampled."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting, ExitStack() as stack:
        stack.enter_context(preloaded(FSYNC_US))
        servers = []
        for name in versions:
            options = {**OPTIONS, **SERVERS[name].options}
            server = stack.enter_context(sitting.server(SERVERS[name].version, options=options))
            if reason := probes.why_no_samples(server, _function("lock_table")):
                raise EngineRoomError(
                    f"the stacks of MySQL {server.version} cannot be sampled: {reason}",
                    remedy="look at the recorded run",
                )
            client = Sysbench(
                server,
                database="hold_times",
                table_rows=load.table_rows,
                options=load.options(),
            )
            client.prepare()
            servers.append((name, server, client))
        for repeat, (name, server, client) in in_turns(repeats, servers, desc="samples"):
            seen = _sampled(server, client, seconds=seconds, seed=repeat + 1)
            rows += [{"series": "server", "server": name, "repeat": repeat, **row} for row in seen]
    for name in versions:
        rows += [
            {"series": "engine", "server": name, "repeat": seed - 1, **row}
            for seed in (1, 2, 3)
            for row in _simulated(name, load, seed, window)
        ]
    return sitting.run(
        "own-hold-times",
        rows,
        columns=COLUMNS,
        fsync_us=FSYNC_US,
        load=f"{load.described}, one client, READ COMMITTED, {seconds} s a run",
        drawn=load.said(),
        designs={name: SERVERS[name].design.__dict__ for name in versions},
    )


def _sampled(server: Server, client: Sysbench, *, seconds: int, seed: int) -> list[dict[str, Any]]:
    """A row per part, of one run of SysBench."""
    with ThreadPoolExecutor(1) as beside:
        ran: Future[Any] = beside.submit(client.run, threads=1, seconds=seconds + _AROUND_S, seed=seed)
        thread = _thread_of_client(server, client.database, ran)
        clock = ThreadClock(thread)
        committed, cpu_ns = server.status()["Com_commit"], clock.read_ns()
        stacks = probes.sampled_stacks(server, lambda: time.sleep(0.1), seconds=seconds, thread=thread)
        transactions, cpu_ns = server.status()["Com_commit"] - committed, clock.read_ns() - cpu_ns
        ran.result()
    each_us = cpu_ns / max(1, transactions) / 1000
    counts = {
        part: sum(any(map(functions.search, stack)) for stack in stacks) for part, functions in PARTS.items()
    }
    return [
        {
            "part": part,
            "cpu_us": each_us * n / max(1, len(stacks)),
            "samples": n,
            "thread_cpu_us": each_us,
            "transactions": transactions,
        }
        for part, n in counts.items()
    ]


def _thread_of_client(server: Server, database: str, ran: Future[Any]) -> int:
    """The thread that serves SysBench's connection, as soon as there is one."""
    with server.connect() as connection, connection.cursor() as cursor:
        while not ran.done():
            cursor.execute(_CLIENT, (database,))
            if threads := [int(thread) for (thread,) in cursor.fetchall() if thread]:
                return threads[0]
            time.sleep(0.05)
    ran.result()  # says why it ended so soon
    raise EngineRoomError(
        f"SysBench ended before MySQL {server.version} said which thread serves it",
        remedy="run it again, for more seconds",
    )


def _simulated(name: str, load: Rows, seed: int, window: Mapping[str, int]) -> list[dict[str, Any]]:
    given = Given(machine=computer(FSYNC_US), load=load.in_engine(name), seed=seed)
    seen = run(SERVERS[name].design, given, clients=1, **window)
    done = max(1, seen["transactions"])
    spent = time_by(seen["activities"], part_of, states=("memory", "spin"))
    # What is computed and copied inside the first two is theirs; the rest is what statements compute.
    for part, ps in time_by(seen["activities"], part_of, states=("work",)).items():
        if part != "views and letting locks go":
            spent[part] = spent.get(part, 0) + ps
    whole = sum(time_by(seen["activities"], lambda _: "all", states=ON_CPU).values())
    return [
        {
            "part": part,
            "cpu_us": spent.get(part, 0) / done / 1e6,
            "samples": None,
            "thread_cpu_us": whole / done / 1e6,
            "transactions": seen["transactions"],
        }
        for part in PARTS
    ]


def part_of(path: Sequence[str]) -> str | None:
    """The part of which an engine's client does something, by its call path; None for other threads and for waiting until the log is written."""
    locking, ending, rest = PARTS
    if path[0] != "client" or "log_write_up_to" in path:
        return None
    return locking if "row_lock" in path else ending if "mtr_commit" in path else rest


def factors(run: Run) -> dict[tuple[str, str], float]:
    """The engine's time over its server's, medians, by server and part; without what was in no sample."""
    medians = several(run.table, "server", "part", "series", ys=["cpu_us"], how="median")["cpu_us"]
    keys = {(server, part) for server, part, _ in medians.index}
    return {
        key: float(medians[*key, "engine"] / medians[*key, "server"])
        for key in sorted(keys)
        if medians[*key, "server"] > 0 and medians[*key, "engine"] > 0
    }


def _within_two(part: str) -> Callable[[Run], bool]:
    def holds(run: Run) -> bool:
        mine = [factor for (_, of), factor in factors(run).items() if of == part]
        return bool(mine) and all(0.5 <= factor <= 2 for factor in mine)

    return holds


# As they were written down before the recording.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    f"{part} within a factor of two on each server": _within_two(part) for part in PARTS
}
