"""What each statement of the loads asks of a server that has one client: CPU time, redo, locks, latches, pages, and the client's wait.

The composed engine is given nothing else of the servers: what many clients do to each other has to come out of the model.

Two passes on each server. In the first SysBench is the client, with one thread, and the server notes for each command what its thread
has used (`measuring.command_clock`): SysBench runs its own script, and replays for TPC-C what a terminal asked before on the same rows.
The servers take turns, so that a busy minute of the machine is nobody's alone. The mean of a batch of transactions is one value, the
median of the batches counts. TPC-C's kinds come in the standard's mix, so a rare one has a tenth of what a frequent one has. The client is
kept on one processor and the thread that serves it on another; nothing else should run meanwhile. In the second pass InnoDB's latches are instrumented, and the counters are read after each statement over
another connection, while an old snapshot keeps purge from adding to them.

Only what the connection's own thread does is CPU time here: from 8.0 on, log threads write and sync the redo log.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import statistics
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.measuring.command_clock import CommandClock, clocked
from engineroom.measuring.counters import Counters, moved
from engineroom.measuring.processors import apart, on_processor
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.servers.catalogue import measured
from engineroom.workloads import sysbench
from engineroom.workloads.one_client import DISTRIBUTION, OPTIONS, Client, Key, LiveLoad, asked
from engineroom.workloads.requests import ENDS, Request, Rows, in_text
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

Step = tuple[Key, int]  # and the place in the transaction, from 1

VERSIONS = measured(since="5.7")
LOADS = ("sysbench_read_write", "tpcc_1")
WAREHOUSES = "tpcc_10"
TABLE_ROWS = 1_000_000  # as the sources' figures have
FSYNC_US = 100
BATCHES = 25
RUN_S = 1  # of SysBench's own script; a run is a batch
WARM = 20  # transactions at the beginning of such a run, which are left out
SYSBENCH_BATCH = 400  # transactions at least: ten thousand in all
# TPC-C's rare kinds are four in a hundred: two thousand in all, and twenty thousand of what Delivery asks for each district. A run replays several batches.
TPCC_BATCH, BATCHES_PER_REPLAY = 2_000, 5
# Of TPC-C asked again with other transactions.
AGAIN_BATCHES, AGAIN_SEED = 40, 11
COUNTED_TRANSACTIONS: Mapping[str, int] = {"sysbench": 200, "tpcc": 300}
FIRST = "DO 0"  # what a replay begins with, so that its connection is known
LOCK_SYS = ("lock_mutex", "lock_sys_page_mutex", "lock_sys_table_mutex", "lock_sys_global_rw_lock")
TRX_SYS = ("trx_sys_mutex", "trx_sys_serialisation_mutex", "trx_sys_shard_mutex")
# Column -> what is counted under it.
_COUNTED: Mapping[str, Sequence[str]] = {
    "mtrs": ("mtrs",),
    "redo_bytes": ("lsn",),
    "row_locks": ("row_locks",),
    "lock_objects": ("lock_objects",),
    "lock_sys_acquisitions": LOCK_SYS,
    "trx_sys_acquisitions": TRX_SYS,
    "page_requests": ("page_requests",),
}
# Latches that a further table lists one by one: of locks, transactions, logs, undo and what a commit orders.
_LISTED = re.compile(
    r"(lock_(?!objects)|trx_|log_|rw_trx|redo_rseg|undo_|rseg|flush_list|purge_sys|fil_system|dict_sys|autoinc)"
)
COLUMNS = {
    "series": "version of the server",
    "server": "version of the server",
    "load": "sysbench_read_write: SysBench's oltp_read_write, prepared statements but for BEGIN, as SysBench sends them; tpcc_<warehouses>: "
    "TPC-C's transactions in the standard's mix, statements in text",
    "transaction": "kind of transaction",
    "statement": "kind of statement; `commit` and `rollback` end a transaction",
    "order": "place of its first execution in the transaction, from 1",
    "per_transaction": "executions per transaction of this kind",
    "cpu_us": "CPU time of the connection's thread per execution, microseconds: median of the batches' means",
    "cpu_us_iqr": "distance between the quartiles of the batches' means, microseconds",
    "round_trip_us": "from the server's receiving the statement to its receiving the client's next command, microseconds: median of the "
    "executions; an fsync takes 100",
    "mtrs": "mini-transactions that put something into the log buffer, per execution: Innodb_log_write_requests; in 5.7, which does not count "
    "all of them, acquisitions of log_sys_mutex by the thread less those of log_sys_write_mutex",
    "redo_bytes": "by which the log sequence number grew per execution",
    "row_locks": "row locks that the transaction holds after an execution and did not before; at its end none",
    "lock_objects": "the same of lock structures, on rows and tables",
    "lock_sys_acquisitions": "of lock_mutex, or of lock_sys_page_mutex, lock_sys_table_mutex and lock_sys_global_rw_lock, by the "
    "connection's thread per execution",
    "trx_sys_acquisitions": "of trx_sys_mutex, trx_sys_serialisation_mutex and trx_sys_shard_mutex, by the thread per execution",
    "page_requests": "Innodb_buffer_pool_read_requests per execution",
    "batches": "batches that had the statement",
    "executions": "whose CPU time was measured",
    "executions_counted": "of which everything else was counted",
    "latch": "InnoDB's latch, by the name of its instrument",
    "acquisitions": "by the connection's thread per execution of the statement",
}


@dataclass
class Demands:
    """What was seen of the statements of one load on one server, by (transaction, statement)."""

    first_place: dict[Key, int] = field(default_factory=dict)
    transactions: Counter[str] = field(default_factory=Counter)
    batches: list[dict[Key, list[int]]] = field(default_factory=list)  # CPU time of each execution, ns
    round_trips_ns: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    counted: Counter[Key] = field(default_factory=Counter)
    counts: dict[Key, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, steps: Sequence[Step], commands: npt.NDArray[Any]) -> None:
        """A batch: which statement each command was, and what it took. ValueError when they are not as many."""
        batch: dict[Key, list[int]] = defaultdict(list)
        for (key, place), command in zip(steps, commands, strict=True):
            self.first_place.setdefault(key, place)
            self.transactions[key[0]] += place == 1
            self.round_trips_ns[key].append(int(command["wall_ns"]))
            batch[key].append(int(command["cpu_ns"]))
        self.batches.append(batch)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row per statement, in the order of the transactions and of the places in them."""
        for key in sorted(self.first_place, key=lambda key: (key[0], self.first_place[key])):
            batches = [batch[key] for batch in self.batches if key in batch]
            means_us = [statistics.fmean(cpu_ns) / 1000 for cpu_ns in batches]
            low, high = np.quantile(means_us, [0.25, 0.75])
            executions = sum(map(len, batches))
            yield {
                "transaction": key[0],
                "statement": key[1],
                "order": self.first_place[key],
                "per_transaction": executions / self.transactions[key[0]],
                "cpu_us": statistics.median(means_us),
                "cpu_us_iqr": float(high - low),
                "round_trip_us": statistics.median(self.round_trips_ns[key]) / 1000,
                **{column: self.each(key, names) for column, names in _COUNTED.items()},
                "batches": len(batches),
                "executions": executions,
                "executions_counted": self.counted[key],
            }

    def latches(self) -> Iterator[dict[str, Any]]:
        """A row per statement and latch that it takes."""
        for key in sorted(self.counts, key=lambda key: (key[0], self.first_place.get(key, 0))):
            for name in sorted(filter(_LISTED.match, self.counts[key])):
                if acquisitions := self.each(key, [name]):
                    yield {
                        "transaction": key[0],
                        "statement": key[1],
                        "latch": name,
                        "acquisitions": acquisitions,
                    }

    def each(self, key: Key, names: Iterable[str]) -> float | None:
        """What was counted under those names per execution; None for a statement that never came while it was counted."""
        return (
            sum(self.counts[key][name] for name in names) / self.counted[key] if self.counted[key] else None
        )


def demands_live(
    *,
    versions: Sequence[str] = VERSIONS,
    loads: Sequence[str] = LOADS,
    batches: int = BATCHES,
    scale: float = 1.0,
    table_rows: int = TABLE_ROWS,
    share: float = 1.0,
    options: Mapping[str, str | int] = OPTIONS,
    seed: int = 1,
    figure: str = "own-demands",
) -> Run:
    """Measure each load's statements on each server with one client.

    `tpcc_<n>` has n warehouses of `scale` times the standard's rows. `share` is of the transactions in a batch and of those of TPC-C that
    are counted. `seed` draws the transactions. ValueError for a load that is none.
    """
    made = [LiveLoad(load, table_rows=table_rows, scale=scale) for load in loads]
    sysbench.require()
    rows, latches = [], []
    for_server, for_client = apart()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-demands-")))
        stack.enter_context(preloaded(FSYNC_US))
        sitting = stack.enter_context(LiveSitting(seed=seed))
        servers = []
        for version in bar(versions, desc="servers", unit="server"):
            with clocked(folder, f"commands-{version}", processor=for_server) as clock:
                servers.append((stack.enter_context(sitting.server(version, options=options)), clock))
        for load in made:
            for server, seen in _measured(
                load, servers, folder, batches=batches, share=share, seed=seed, client=for_client
            ):
                of = {"series": server.version, "server": server.version, "load": load.name}
                rows += [of | row for row in seen.rows()]
                latches += [of | row for row in seen.latches()]
    return sitting.run(
        figure,
        rows,
        columns=COLUMNS,
        tables={"latches": latches},
        fsync_us=FSYNC_US,
        load=[load.described for load in made],
        processors={"server": for_server, "client": for_client},
    )


def warehouses_live() -> Run:
    """The same of TPC-C with ten warehouses, all in memory: deeper trees, and remote customers and stock. Engines do not compute for these.

    Expected before it was recorded: the median statement takes within 10 % of what it takes with one warehouse, and none differs by more than
    25 % of those that have a hundredth of their server's CPU time.
    """
    return demands_live(
        loads=(WAREHOUSES,),
        options={**OPTIONS, "innodb_buffer_pool_size": "2G"},
        figure="own-demands-warehouses",
    )


def again_live() -> Run:
    """TPC-C with other transactions. Engines do not compute for these: they show what the few of a rare kind leave open.

    Expected before it was recorded: the median statement takes within 5 % of what it took in `own-demands`, and none differs by more than
    15 % of those that have a hundredth of their server's CPU time.
    """
    return demands_live(loads=("tpcc_1",), batches=AGAIN_BATCHES, seed=AGAIN_SEED, figure="own-demands-again")


def _measured(
    load: LiveLoad,
    servers: Sequence[tuple[Server, CommandClock]],
    folder: Path,
    *,
    batches: int,
    share: float,
    seed: int,
    client: int,
) -> Iterator[tuple[Server, Demands]]:
    seen = [Demands() for _ in servers]
    for server, _ in bar(servers, desc=f"filling for {load.name}", unit="server"):
        load.fill(server)
    if load.prepares:
        steps = list(asked(itertools.islice(load.transactions(seed=seed), 1), lambda _: []))
        for batch, i in in_turns(batches, range(len(servers)), desc=f"CPU time, {load.name}"):
            server, clock = servers[i]
            with on_processor(client):
                ran = _ran(
                    load, server, clock, steps, seed=99 + seed + batch, least=round(share * SYSBENCH_BATCH)
                )
            seen[i].add(*ran)
    else:
        per_batch = max(1, round(share * TPCC_BATCH))
        n_replays = -(-batches // BATCHES_PER_REPLAY)
        first, _ = servers[0]
        replays = _texts(
            load, first, replays=n_replays, transactions=per_batch * BATCHES_PER_REPLAY, seed=seed
        )
        load.fill(first)  # what the replays begin with, as on the others
        for n, i in in_turns(n_replays, range(len(servers)), desc=f"CPU time, {load.name}"):
            steps, texts = replays[n]
            server, clock = servers[i]
            with on_processor(client):
                commands = _replayed(load, server, clock, texts, folder)
            for part in _in_batches(steps, per_batch):
                seen[i].add(steps[part], commands[part])
    counted = max(1, round(share * COUNTED_TRANSACTIONS[load.family]))
    for i, (server, _) in enumerate(bar(servers, desc=f"counts, {load.name}", unit="server")):
        _count(server, load, counted, seen[i], seed=seed + 1)
        server.execute(f"DROP DATABASE {load.database}")
        yield server, seen[i]


def _ran(
    load: LiveLoad, server: Server, clock: CommandClock, steps: Sequence[Step], *, seed: int, least: int
) -> tuple[Sequence[Step], npt.NDArray[Any]]:
    """SysBench's own script: the statements of its whole transactions but for the first ones, so many at least, and what they took."""
    sysbench = Sysbench(
        server, database=load.database, table_rows=load.table_rows, options=[f"--rand-type={DISTRIBUTION}"]
    )
    for seconds in (RUN_S, 4 * RUN_S, 16 * RUN_S):  # longer where others have the processors
        clock.skip()
        sysbench.run(threads=1, seconds=seconds, seed=seed)
        commands = clock.taken(b"BEGIN")
        n = len(commands) // len(steps)
        begins = commands["text"][: n * len(steps) : len(steps)]
        if n > WARM + least or not all(text.startswith(b"BEGIN") for text in begins):
            break
    if n <= WARM + least or not all(text.startswith(b"BEGIN") for text in begins):
        raise EngineRoomError(
            f"SysBench sent MySQL {server.version} {len(commands)} statements in {seconds} s, not transactions of {len(steps)}",
            remedy="run it again; if it fails again, its script is another one than that of SysBench 1.0",
        )
    return [*steps] * (n - WARM), commands[WARM * len(steps) : n * len(steps)]


def _texts(
    load: LiveLoad, server: Server, *, replays: int, transactions: int, seed: int
) -> list[tuple[list[Step], list[str]]]:
    """What a terminal asks a server whose database was just filled, in parts of so many transactions: which statements, and their texts."""
    stream = load.transactions(seed=seed)
    parts = []
    with Client(server, load) as client:
        for _ in bar(range(replays), desc=f"statements of {load.name}", unit="part"):
            texts: list[str] = []

            def ask(request: Request, texts: list[str] = texts) -> Rows:
                texts.append(in_text(request))
                return client.ask(request)

            parts.append((list(asked(itertools.islice(stream, transactions), ask)), texts))
    return parts


def _replayed(
    load: LiveLoad, server: Server, clock: CommandClock, texts: Sequence[str], folder: Path
) -> npt.NDArray[Any]:
    """SysBench sends the texts: what each took."""
    file = folder / "statements.sql"
    file.write_text("\n".join([FIRST, "SET autocommit = 0", *texts]) + "\n", encoding="utf-8")
    clock.skip()
    script = str(paths.data() / "workloads" / "replay.lua")
    Sysbench(server, script, database=load.database, options=["--events=1", f"--statements={file}"]).run(
        threads=1, seconds=0
    )
    commands = clock.taken(FIRST.encode())[2:]
    if len(commands) != len(texts):
        raise EngineRoomError(
            f"MySQL {server.version} was sent {len(texts)} statements and noted {len(commands)}",
            remedy="its way of reading from a client is not the one that is known here: report it with its version",
        )
    return commands


def _in_batches(steps: Sequence[Step], transactions: int) -> Iterator[slice]:
    """The parts of a sequence of statements that have so many whole transactions."""
    begins = [i for i, (_, place) in enumerate(steps) if place == 1]
    edges = [*begins[::transactions], len(steps)]
    for first, end in itertools.pairwise(edges):
        yield slice(first, end)


def _count(server: Server, load: LiveLoad, transactions: int, seen: Demands, *, seed: int) -> None:
    stream = load.transactions(seed=seed)
    with Client(server, load) as client:
        for _ in asked(
            itertools.islice(stream, 20), client.ask
        ):  # statements prepared, views and undo logs in use
            pass
        with Counters(server, client.id) as counters:
            before = counters.settled()
            for key, _ in asked(itertools.islice(stream, transactions), client.ask):
                after = counters.read()
                seen.counted[key] += 1
                seen.counts[key].update(moved(before, after, ends=key[1] in ENDS))
                # What the server does behind a commit is nobody's statement.
                before = counters.settled() if key[1] in ENDS else after
