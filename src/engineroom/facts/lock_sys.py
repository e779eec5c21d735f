"""The facts of `book/lock_sys.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from engineroom._native import lock_sys as kernel
from engineroom.chapters.lock_sys.experiments.scripts import scripts
from engineroom.facts import Facts, Range, fact, fall_percent, listed, span
from engineroom.ledger import sensitivity
from engineroom.runs import Run, newest, published, recorded
from engineroom.runs.summary import paired_ratio, values
from engineroom.servers.catalogue import release
from engineroom.show.table import Table

__all__ = ["LockSysFacts", "facts"]

OLD, NEW = "5.7", "9.7"
# What guards the queues, up to 8.0.20 and since.
LATCHES = ("lock_mutex", "lock_sys_global_rw_lock", "lock_sys_page_mutex", "lock_sys_table_mutex")
# What is run at random while the page is made, of each design.
RANDOM_RUNS = 30
# Of a report of random runs what is 0 without a mistake.
BROKEN = (
    "conflicts", "disorders", "waits_for_nobody", "wrong_blockers", "phantoms", "lost_updates", "intruders",
    "needless_victims", "stale_weights", "hangs", "leftovers",
)  # fmt: skip
LETTERS = "ABCDE"
GAINS = 1.2  # a ratio of throughputs that is a gain


def table(design: str, sessions: int) -> kernel.Playground:
    """The page's table: ids 10, 20 and 30."""
    return kernel.Playground(
        design=design, reads_committed=[False] * sessions, columns=2, rows=[[10, 0], [20, 0], [30, 0]]
    )


@dataclass(frozen=True, kw_only=True)
class Predicted(Facts):
    """The answers to what the page asks its readers to predict, by the kernel while the page is made."""

    behind_the_range_5_7: str = fact()
    behind_the_range_9_7: str = fact()
    objects_after_insert: int = fact()
    objects_when_asked: int = fact()
    freed_5_7: str = fact()
    freed_9_7: str = fact()

    @classmethod
    def now(cls) -> Predicted:
        behind = {}
        for design in (OLD, NEW):
            two = table(design, 2)
            two.read(0, low=15, high=25)
            behind[design] = two.update(1, 1, 1, low=30, high=30)
        inserted = table(NEW, 2)
        inserted.insert(0, [40, 0])
        before = _objects(inserted, 0)
        inserted.read(1, low=40, high=40)
        return cls(
            behind_the_range_5_7=behind[OLD],
            behind_the_range_9_7=behind[NEW],
            objects_after_insert=before,
            objects_when_asked=_objects(inserted, 0),
            freed_5_7=_freed(OLD),
            freed_9_7=_freed(NEW),
        )


def _objects(of: kernel.Playground, session: int) -> int:
    """Locks on records that a session has."""
    return sum(owner == session and index >= 0 for owner, index, *_ in of.locks())


def _freed(design: str) -> str:
    """The sessions that go on when A lets a row go for which B (reads), C (writes) and D (reads) wait."""
    four = table(design, 4)
    four.update(0, 1, 1, low=20, high=20)
    four.read(1, for_share=True, low=20, high=20)
    four.update(2, 1, 1, low=20, high=20)
    four.read(3, for_share=True, low=20, high=20)
    four.commit(0)
    return listed([LETTERS[session] for session in (1, 2, 3) if four.result(session) == "ok"])


@dataclass(frozen=True, kw_only=True)
class Checked(Facts):
    """Random runs of each design without a mistake, made while the page is."""

    runs: int = fact("{:,}")
    transactions: int = fact("{:,}")
    waits: int = fact("{:,}")
    deadlocks: int = fact("{:,}")
    broken: int = fact()

    @classmethod
    def now(cls) -> Checked:
        reports = [kernel.random_runs(design=design, seed=1, runs=RANDOM_RUNS) for design in kernel.designs()]
        return cls(
            runs=sum(each["runs"] for each in reports),
            transactions=sum(each["transactions"] for each in reports),
            waits=sum(each["waits"] for each in reports),
            deadlocks=sum(each["deadlocks"] for each in reports),
            broken=sum(each[name] for each in reports for name in BROKEN),
        )


@dataclass(frozen=True, kw_only=True)
class Price(Facts):
    """Latches of the lock system that a transaction of one row takes, counted in the kernel while the page is made."""

    latches_5_7: int = fact()
    latches_9_7: int = fact()

    @classmethod
    def now(cls) -> Price:
        return cls(latches_5_7=_latches(OLD), latches_9_7=_latches(NEW))


def _latches(design: str) -> int:
    """Whole transactions of a window that begins and ends in one, so that the mean is off a whole number by little."""
    seen = kernel.simulate(
        design=design, parameters={}, load={"rows": 1}, run_ns=5_000_000, warmup_ns=100_000
    )
    taken = sum(seen[f"{kind}_latches"] for kind in ("global", "page", "table"))
    return round(float(taken / seen["transactions"]))


def two_digits(value: float) -> str:
    """2,600,000: a simulated rate is not known to more."""
    return f"{float(f'{value:.2g}'):,.0f}"


@dataclass(frozen=True, kw_only=True)
class Counted(Facts):
    """Latches over the locks that SysBench's read-write transaction takes on servers, by performance_schema (own-demands, live)."""

    latches_per_transaction_5_7: float = fact("{:.0f}")
    latches_per_transaction_9_7: float = fact("{:.0f}")

    @classmethod
    def of(cls, run: Run) -> Counted:
        taken = run.tables["latches"].query("load == 'sysbench_read_write'")
        over_locks = taken[taken["latch"].isin(LATCHES)]
        # Each statement that locks anything is there once per transaction.
        of = over_locks.groupby("series")["acquisitions"].sum()
        old, new = (next(name for name in of.index if name.startswith(f"{series}.")) for series in (OLD, NEW))
        return cls(latches_per_transaction_5_7=float(of[old]), latches_per_transaction_9_7=float(of[new]))


@dataclass(frozen=True, kw_only=True)
class Latches(Facts):
    """Clients on rows of their own on the simulated machine (own-lock-latches, sim)."""

    clients: int = fact()  # the most that were tried
    gain_ratio: float = fact("{:.0f}")  # of the shards over the one mutex, with so many
    one_shard_ratio: float = fact("{:.2f}")  # of one shard over the one mutex
    one_part_ratio: float = fact("{:.2f}")  # of the shards with a global latch in one part over the one mutex
    mutex_many_per_s: float = fact(two_digits)
    mutex_best_per_s: float = fact(two_digits)
    mutex_best_clients: int = fact()
    latches_ratio: float = fact("{:.1f}")  # of latches per transaction, of the shards over the mutex

    @classmethod
    def of(cls, run: Run) -> Latches:
        rate = run.values("series", "clients", y="row_locks_per_second")
        latches = run.values("series", "clients", y="latches_per_transaction")
        most = int(run.table["clients"].max())
        mutex = rate["one_mutex"]
        return cls(
            clients=most,
            gain_ratio=rate["sharded", most] / mutex[most],
            one_shard_ratio=rate["sharded_one_shard", most] / mutex[most],
            one_part_ratio=rate["sharded_one_part", most] / mutex[most],
            mutex_many_per_s=mutex[most],
            mutex_best_per_s=mutex.max(),
            mutex_best_clients=int(mutex.idxmax()),
            latches_ratio=latches["sharded", 1] / latches["one_mutex", 1],
        )


@dataclass(frozen=True, kw_only=True)
class Conflicts(Facts):
    """Scripts on servers and in the kernel (own-lock-conflicts, live)."""

    compared: int = fact()
    equal: int = fact()
    servers: str = fact()
    statements: int = fact("{:,}")
    waits: int = fact("{:,}")
    locks: int = fact("{:,}")
    different: Table  # of all recordings

    @classmethod
    def of(cls, every: Sequence[Run]) -> Conflicts:
        """The newest run, and of all of them what differed."""
        rows = every[-1].table
        shown = [
            {
                "run": run.n,
                "server": row["server"],
                "the script so far": _so_far(made[row["script"]].text(), row["sql"]),
                "only the kernel (+), only the server (-)": row["difference"],
            }
            for run in every
            for made in [list(scripts(int(run.provenance["scripts"]), seed=int(run.provenance["seed"])))]
            for row in run.table[run.table["equal"] == 0].to_dict("records")
        ]
        return cls(
            compared=len(rows),
            equal=int(rows["equal"].sum()),
            servers=listed(sorted(rows["server"].unique())),
            statements=int(rows["statements"].sum()),
            waits=int(rows["waits"].sum()),
            locks=int(rows["locks"].sum()),
            different=Table(
                pd.DataFrame(shown), "Scripts after which server and kernel did not show the same."
            ),
        )


def _so_far(script: str, sql: str) -> str:
    """The lines of a script up to the statement after which something differed."""
    lines = script.splitlines()
    ends = [i for i, line in enumerate(lines) if sql.partition(": ")[2].split(" FORCE")[0] in line]
    return "\n".join(lines[: ends[0] + 1] if ends else lines)


@dataclass(frozen=True, kw_only=True)
class DeadlockLog(Facts):
    """What one deadlock adds to the error log with innodb_print_all_deadlocks (fig-7-16, live)."""

    lines_per_deadlock: Range = fact(span("{:,.0f}", "lines"))
    bytes_per_deadlock: Range = fact(span("{:,.0f}", "bytes"))
    teller_added_us: float = fact("{:,.0f} us")  # of CPU time on the newest server, by the thread that tells

    @classmethod
    def of(cls, run: Run) -> DeadlockLog:
        by = ("innodb_print_all_deadlocks", "server")
        cpu = run.values(*by, y="teller_cpu_us")
        newest_one = max(set(run.table["server"]), key=release)
        on = run.table[run.table["innodb_print_all_deadlocks"] == "on"]
        lines, size = (values(on, "server", y=y, how=run.summary) for y in ("lines", "bytes"))
        return cls(
            lines_per_deadlock=Range(lines.min(), lines.max()),
            bytes_per_deadlock=Range(size.min(), size.max()),
            teller_added_us=cpu["on", newest_one] - cpu["off", newest_one],
        )


@dataclass(frozen=True, kw_only=True)
class NextQueue(Facts):
    """What the most clients of the whole simulated engine wait for, with one mutex and with shards (fig-7-07, sim)."""

    clients: int = fact()
    mutex_wait_ms: float = fact("{:.0f} ms")  # per transaction, as all waits here
    shards_latch: str = fact()
    shards_wait_ms: float = fact("{:.2f} ms")
    flush_wait_ms: float = fact("{:.2f} ms")  # for the commit's own fsync, with shards
    mutex_runs: int = fact()
    unsettled_mutex_runs: int = fact()
    flips: str = fact()  # the verdict, of the varied machines and loads
    # From the highest throughput to that of the most clients.
    mutex_fall_percent: float = fact("{:.0f} %")
    shards_fall_percent: float = fact("{:.0f} %")
    shards_best_clients: int = fact()

    @classmethod
    def of(cls, run: Run) -> NextQueue:
        most = int(run.table["concurrency"].max())
        rates = run.values("series", "concurrency", y="tpmC")

        waits = run.tables["latches"]
        crowd = values(waits[waits["concurrency"] == most], "series", "latch", y="wait_us", how="median")
        after = crowd["after"]
        latches = after[after.index.str.endswith(("_mutex", "_rw_lock"))]
        mutex = run.table[(run.table["series"] == "before") & (run.table["concurrency"] == most)]
        return cls(
            clients=most,
            mutex_wait_ms=crowd["before", LATCHES[0]] / 1000,
            shards_latch=str(latches.idxmax()),
            shards_wait_ms=float(latches.max()) / 1000,
            flush_wait_ms=after["log_flush_events"] / 1000,
            mutex_runs=len(mutex),
            unsettled_mutex_runs=int((mutex["is_settled"] == 0).sum()),
            flips=sensitivity.flips(run),
            mutex_fall_percent=fall_percent(rates.xs("before"), most),
            shards_fall_percent=fall_percent(rates.xs("after"), most),
            shards_best_clients=int(str(rates.xs("after").idxmax())),
        )


@dataclass(frozen=True, kw_only=True)
class HeldLonger(Facts):
    """Where the published gain of shards begins, and if latches are held as long as a server's at most (fig-7-07, own-engine-holds)."""

    clients: int = fact()
    ratio: float = fact("{:.2f}")  # of the shards over the mutex
    sampled_ratio: float = fact("{:.2f}")
    published_ratio: float = fact("{:.2f}")
    fewer: int = fact()  # the number of clients before; throughput from there on:
    sampled_mutex_percent: float = fact("{:+.0f} %")
    sampled_shards_percent: float = fact("{:+.0f} %")
    published_mutex_percent: float = fact("{:+.0f} %")
    published_shards_percent: float = fact("{:+.0f} %")

    @classmethod
    def of(cls, run: Run, held: Run) -> HeldLonger:
        theirs = published.in_our_columns(run.figure).set_index(["series", "concurrency"])["tpmC"]
        gains = theirs["after"] / theirs["before"]
        clients = int(gains[gains > GAINS].index[0])
        fewer = int(gains[gains.index < clients].index[-1])
        table = held.tables[run.figure]
        sampled = table[table["held"] == "as sampled"]
        rates = values(sampled, "series", "concurrency", y="tpmC", how="median")

        def grown(of: pd.Series[float], series: str) -> float:
            return float(100 * (of[series, clients] / of[series, fewer] - 1))

        def ratio(rows: pd.DataFrame) -> float:
            crowd = rows[rows["concurrency"] == clients].sort_values("repeat").set_index("series")["tpmC"]
            return paired_ratio(crowd[["after"]], crowd[["before"]]).value

        return cls(
            clients=clients,
            ratio=ratio(run.table),
            sampled_ratio=ratio(sampled),
            published_ratio=float(gains[clients]),
            fewer=fewer,
            sampled_mutex_percent=grown(rates, "before"),
            sampled_shards_percent=grown(rates, "after"),
            published_mutex_percent=grown(theirs, "before"),
            published_shards_percent=grown(theirs, "after"),
        )


@dataclass(frozen=True, kw_only=True)
class OnThreads(Facts):
    """A lock on a row and its release on real threads that want no row of each other's (the chapter's bench)."""

    mutex_cpu_ns: float = fact("{:.0f} ns")  # with one thread
    shards_cpu_ns: float = fact("{:.0f} ns")
    mutex_ratio: float = fact("{:.2f}")  # locks per second of two threads over one
    shards_ratio: float = fact("{:.2f}")

    @classmethod
    def of(cls, run: Run) -> OnThreads:
        locks = run.provenance["of a row lock"]

        def ratio(design: str) -> float:
            return float(locks[f"{design}, 2 thread(s)"]["per_s"] / locks[f"{design}, 1 thread(s)"]["per_s"])

        return cls(
            mutex_cpu_ns=locks["one mutex, 1 thread(s)"]["cpu_ns"],
            shards_cpu_ns=locks["shards, 1 thread(s)"]["cpu_ns"],
            mutex_ratio=ratio("one mutex"),
            shards_ratio=ratio("shards"),
        )


@dataclass(frozen=True, kw_only=True)
class LockSysFacts(Facts):
    """All numbers of the page, a group for each recording."""

    predicted: Predicted
    checked: Checked
    price: Price
    counted: Counted
    latches: Latches
    conflicts: Conflicts
    deadlock_log: DeadlockLog
    queue: NextQueue
    held: HeldLonger
    threads: OnThreads


def facts() -> LockSysFacts:
    """The facts of the page."""
    return LockSysFacts(
        predicted=Predicted.now(),
        checked=Checked.now(),
        price=Price.now(),
        counted=Counted.of(newest("own-demands", "live")),
        latches=Latches.of(newest("own-lock-latches", "sim")),
        conflicts=Conflicts.of(recorded("own-lock-conflicts", "live")),
        deadlock_log=DeadlockLog.of(newest("fig-7-16", "live")),
        queue=NextQueue.of(newest("fig-7-07", "sim")),
        held=HeldLonger.of(newest("fig-7-07", "sim"), newest(sensitivity.HELD, "sim")),
        threads=OnThreads.of(newest("own-bench-lock-sys", "kernel")),
    )
