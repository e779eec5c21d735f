"""How long a thread is in the functions that take a part's latches and let them go, and what changes when engines are there as long as servers.

`hold_times_live` measures live servers by samples of their stacks, and the engine by its own clock.

One client runs SysBench's read-write transactions. Its thread's CPU time is read, and sampled a thousand times a second. A sample counts
for a part when one of the part's functions is anywhere on its stack. A function that has a latch for only a part of its time counts
whole. Functions that a binary does not name are in no part, though some of them hold latches, as of a transaction's start and end.

The simulated engine runs the same load with one client. In it nothing is computed under a latch: its time is that of cache lines, copies
and atomics. Its clock has names for asking for row locks and for the ends of mini-transactions; all else that it reads and writes in
memory is its third part, which has more in it than the server's.

Expected before it was recorded: in each part the engine takes between half and twice what its server takes (`CLAIMS`).

`held_sim` makes of it what engines of the sources' server are given (`simulating.sources`). The engine holds a latch for what it reads, writes and
copies inside, and for some tens of nanoseconds of its own. A server is there longer. The time by which a server's session is longer in the functions of a
part, per transaction of SysBench, is given to what the engine does under that part's latches: to each lock that it creates, each mini-transaction
that it reserves, each view that it opens. The server's functions compute before and behind their latches, too, so this is the most that it can
be: figures vary it. From the views' part nothing is taken off: the engine's clock has no name for what it is there. The time comes on top
of what statements compute, some hundredths of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engineroom.errors import EngineRoomError
from engineroom.measuring import probes
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.thread_clock import ThreadClock
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run, recorded
from engineroom.runs.sitting import Sitting
from engineroom.runs.summary import several, values
from engineroom.simulating.activities import ON_CPU, time_by
from engineroom.simulating.engine import BESIDE, run
from engineroom.simulating.experiment import Given
from engineroom.validation.experiments.beside import FSYNC_US, SERVERS, Rows, computer
from engineroom.workloads import sysbench
from engineroom.workloads.one_client import OPTIONS
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

SECONDS, REPEATS = 20, 5
_AROUND_S = 3  # SysBench runs so much longer than is sampled: it connects, and perf begins
LOAD = Rows(table_rows=100_000, distribution="pareto")
WINDOW: Mapping[str, int] = {"first_ms": 5_000, "longest_ms": 5_000, "warmup_ms": 500}
_CLIENT = "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_DB = %s AND PROCESSLIST_ID <> CONNECTION_ID()"


def function(*names: str) -> str:
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
_OF_MTR = ("execute", "prepare_write", "finish_write", "release_blocks", "add_dirty_blocks_to_flush_list")
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
    "row and table locks": re.compile("|".join(function(name) for name in _LOCKING)),
    "mini-transactions with redo": re.compile(
        "|".join(
            [
                *(function("mtr_t", "Command", name) for name in _OF_MTR),
                *(function(name) for name in _OF_LOG),
            ]
        )
    ),
    "views and letting locks go": re.compile(
        "|".join(
            [
                function("MVCC", "view_open"),
                function("MVCC", "view_close"),
                function("lock_trx_release_locks"),
            ]
        )
    ),
}
_LOCKS, _REDO, _VIEWS = PARTS
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
            if reason := probes.why_no_samples(server, function("lock_table")):
                raise EngineRoomError(
                    f"the stacks of MySQL {server.version} cannot be sampled: {reason}",
                    remedy="look at the recorded run",
                )
            servers.append((name, server, load.on(server, "hold_times")))
        for repeat, (name, server, client) in in_turns(repeats, servers, desc="samples"):
            seen = sampled(server, client, PARTS, seconds=seconds, seed=repeat + 1)
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
        drawn=asdict(load),
        designs={name: SERVERS[name].design.__dict__ for name in versions},
    )


def sampled(
    server: Server, client: Sysbench, parts: Mapping[str, re.Pattern[str]], *, seconds: int, seed: int
) -> list[dict[str, Any]]:
    """A row per part, of one run of SysBench: the CPU time of its thread in functions that match."""
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
        part: sum(any(map(functions.search, stack)) for stack in stacks) for part, functions in parts.items()
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
    # What statements compute is none of the views' part.
    spent_us = _spent_us(seen, of_views=("memory", "spin"))
    whole = sum(time_by(seen["activities"], lambda _: "all", states=ON_CPU).values())
    return [
        {
            "part": part,
            "cpu_us": spent_us[part],
            "samples": None,
            "thread_cpu_us": whole / done / 1e6,
            "transactions": seen["transactions"],
        }
        for part in PARTS
    ]


def _spent_us(seen: Mapping[str, Any], *, of_views: Sequence[str]) -> dict[str, float]:
    """CPU time per transaction by part: what an engine computes, reads, writes and copies inside, but of the views' part these states alone."""
    inside = time_by(seen["activities"], _part_of, states=("memory", "spin", "work"))
    views = time_by(seen["activities"], _part_of, states=of_views)
    done = max(1, seen["transactions"])
    return {part: (views if part == _VIEWS else inside).get(part, 0) / done / 1e6 for part in PARTS}


def _part_of(path: Sequence[str]) -> str | None:
    """The part of which an engine's client does something, by its call path; None for other threads and for waiting until the log is written."""
    if path[0] != "client" or "log_write_up_to" in path:
        return None
    return _LOCKS if "row_lock" in path else _REDO if "mtr_commit" in path else _VIEWS


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


# A part of the engine: the option that says what one of its actions computes under its latches, and its actions per transaction.
_UNDER_LATCHES: Mapping[str, tuple[str, str]] = {
    _LOCKS: ("locks", "create_ns"),
    _REDO: ("log", "reserve_ns"),
    _VIEWS: ("trx_sys", "prepare_ns"),
}
HELD_COLUMNS = {
    "series": "version of the server",
    "part": "functions that take a part's latches and let them go",
    "engine_part": "the engine's part, whose designs get it",
    "option": "what one action of that part computes under its latches: a lock created, a mini-transaction reserved, a view opened",
    "held_ns": "its value, ns",
    "server_us": "CPU time of the server in them per transaction, median, microseconds",
    "without_us": "the same of an engine with the option's default; of views nothing is known",
    "actions": "of the engine per transaction",
    "with_us": "the engine's time with what is given",
}
# The recordings of own-hold-times: that of the computer on which the demands were measured, and the one that has 8.0.31 too.
SAMPLED = (1, 2)
_PROBE_NS = 100_000  # so much that what is drawn otherwise does not matter


def held_sim(*, executor: Executor | None = None) -> Run:  # noqa: ARG001 (a minute on one processor)
    """A row per server and part: what one action of an engine computes under that part's latches, so that it is there as long as the server."""
    servers_us = _servers_us()
    rows: list[dict[str, Any]] = []
    with Sitting("sim", seed=1) as sitting:
        for server in SERVERS:
            usual = _engine_us(server, {})
            for part, (of, option) in _UNDER_LATCHES.items():
                default = _default(of, option)
                more = _engine_us(server, {of: {option: default + _PROBE_NS}})
                actions = (more[part] - usual[part]) / _PROBE_NS * 1000
                without_us = None if part == _VIEWS else usual[part]
                missing_us = max(0.0, servers_us[server, part] - (without_us or 0.0))
                held_ns = default + round(1000 * missing_us / actions)
                held = _engine_us(server, {of: {option: held_ns}})
                rows.append(
                    {
                        "series": server,
                        "repeat": 0,
                        "part": part,
                        "engine_part": of,
                        "option": option,
                        "held_ns": held_ns,
                        "server_us": servers_us[server, part],
                        "without_us": without_us,
                        "actions": actions,
                        "with_us": None if part == _VIEWS else held[part],
                    }
                )
    return sitting.run("own-engine-holds", rows, columns=HELD_COLUMNS, sampled_in_recording=list(SAMPLED))


def _servers_us() -> dict[tuple[str, str], float]:
    """CPU time of each server in each part, on a computer as fast as that of the demands.

    A server that was sampled later, on a slower computer, takes what it took there over `BESIDE`, times what that had taken before.
    """

    def medians(run: Run) -> dict[tuple[str, str], float]:
        of_servers = run.table[run.table["series"] == "server"]
        found: Any = values(of_servers, "server", "part", y="cpu_us", how="median")
        return {key: float(us) for key, us in found.items()}

    runs = recorded("own-hold-times", "live")
    before, later = (medians(runs[n - 1]) for n in SAMPLED)
    scaled = {
        (server, part): us / later[BESIDE, part] * before[BESIDE, part]
        for (server, part), us in later.items()
    }
    return {**scaled, **before}


def _default(part: str, option: str) -> int:
    """The option's value in the figures."""
    from engineroom._native import lock_sys, read_views, redo_log

    options = {
        "locks": lock_sys.lock_options,
        "log": redo_log.log_options,
        "trx_sys": read_views.trx_sys_options,
    }
    return int(next(each.default for each in options[part]() if each.name == option))


def _engine_us(server: str, given: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """CPU time per transaction by part, of the server's engine with one client and one of its parts' options set; of views, what is computed at all."""
    load = LOAD.in_engine(server)
    design = SERVERS[server].design
    of_design = {"locks": design.lock_design, "trx_sys": design.latches, "log": design.redo}
    holds = {part: {of_design[part]: dict(options)} for part, options in given.items()}
    machine_and_load = Given(machine=computer(FSYNC_US), load={**load, "holds": holds}, seed=1)
    return _spent_us(run(design, machine_and_load, clients=1, **WINDOW), of_views=("work",))
