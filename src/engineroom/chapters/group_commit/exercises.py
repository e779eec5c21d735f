"""What the group commit exercises are made of and checked against: logs after a crash, servers with a deadline, by seed."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass

from engineroom import _native

__all__ = ["DELAYS_US", "Arrivals", "CrashedPair", "SloCase", "crashed_pair", "meets", "slo_cases"]

DELAYS_US = (0, 200, 500, 1000, 2000, 5000)
MS = 1_000_000


@dataclass(frozen=True)
class CrashedPair:
    """Both logs behind a crash: the bytes of the last binlog file, and what the redo log says of each XID."""

    binlog: bytes
    states: dict[int, str]
    acknowledged: list[int]


def crashed_pair(seed: int = 0) -> CrashedPair:
    """A crash of a server with sync_binlog=0: the end of the binlog is missing, and some of what it held was acknowledged.

    Half of them have transactions that are committed in the engine and gone from the binlog.
    """
    dice = random.Random(f"pair-{seed}")
    first = dice.randint(100, 900)
    xids = list(range(first, first + 12))
    whole = _native.group_commit.write_binlog(xids)
    kept = dice.randint(5, 8)
    end = _native.group_commit.read_binlog(_native.group_commit.write_binlog(xids[:kept]))["end"]
    binlog = whole[: end + dice.randint(20, 200)]
    # The engine commits in the binlog's order. Its commit records reach the disk some time later, with the redo log's next fsync,
    # and so may those of transactions whose events were still in the system's memory.
    flushed = dice.choice((dice.randint(1, kept - 2), kept + dice.randint(1, 2)))
    states = {xid: "committed" if i < flushed else "prepared" for i, xid in enumerate(xids)}
    states[first + 12] = states[first + 13] = "active"
    return CrashedPair(binlog, states, xids[: max(kept, flushed) + dice.randint(1, 3)])


@dataclass(frozen=True)
class SloCase:
    """A server, and how long 99 of 100 commits may take."""

    clients: int
    fsync_us: int
    p99_ms: float


def slo_cases(seed: int = 0) -> dict[str, SloCase]:
    """Four servers. C could spare half of its fsyncs by waiting, and its deadline does not allow that."""
    dice = random.Random(f"slo-{seed}")
    return {
        name: SloCase(clients, fsync_us, p99_ms)
        for name, clients, fsync_us, p99_ms in (
            ("A", 1, 500, dice.choice((2.0, 2.2))),
            ("B", 16, 500, dice.choice((4.0, 4.5))),
            ("C", 32, 1000, dice.choice((4.5, 4.7))),
            ("D", 32, 100, dice.choice((3.0, 3.3))),
        )
    }


@functools.cache
def meets(case: SloCase, delay_us: int) -> tuple[bool, float]:
    """Whether the deadline is met with this delay on the simulated machine, and fsyncs of the binlog per commit."""
    seen = _native.group_commit.simulate(
        design="5.7.6",
        parameters={"cores_per_socket": 16, "disk_fsync_quantiles_ps": [case.fsync_us * 1_000_000]},
        load={"clients": case.clients, "statement_ns": 50_000, "away_ns": 100_000},
        commit={"delay_us": delay_us},
        run_ns=400 * MS,
        warmup_ns=50 * MS,
    )
    return seen["latency_ns_p99"] <= case.p99_ms * MS, seen["binlog_fsyncs"] / seen["transactions"]


class Arrivals:
    """A queue, a redo log and a binlog that note what a leader does with them; somebody joins whenever it asks how far the redo log reaches or waits."""

    def __init__(self, waiting: list[str]) -> None:
        self.queue = list(waiting)
        self.did: list[str] = []
        self.binlog: list[str] = []
        self.durable = 0
        self._prepared = len(waiting)
        self._late = 0

    def fetch(self) -> list[str]:
        """All that wait, in order; the queue is empty behind it."""
        self.did.append("fetch")
        taken, self.queue = self.queue, []
        return taken

    def end_of_redo(self) -> int:
        """The LSN behind the last prepare. Before the caller has gone on, somebody else prepares and joins the queue."""
        end = self._prepared
        self._join()
        return end

    def flush_redo(self, lsn: int) -> None:
        """Makes the redo durable up to there. It takes a while, and somebody else prepares and joins the queue."""
        self.did.append("flush")
        self.durable = max(self.durable, lsn)
        self._join()

    def _join(self) -> None:
        self._late += 1
        self._prepared += 1
        self.queue.append(f"late {self._late}")

    def write(self, transactions: list[str]) -> None:
        """Appends their events to the binlog, in this order."""
        self.did.append("write")
        self.binlog += transactions
