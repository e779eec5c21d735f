"""What the group commit exercises are made of and checked against: logs behind a crash, by seed, and a log that others use meanwhile."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["Arrivals", "crashed_pair"]


def crashed_pair(seed: int = 0) -> dict[str, Any]:
    """Both logs behind a crash of a server with sync_binlog=0: the end of the binlog is missing, and some of what it held was acknowledged.

    Half of them have transactions that are committed in the engine and gone from the binlog.
    """
    dice = random.Random(f"pair-{seed}")
    first = dice.randint(100, 900)
    xids = dice.sample(range(first, first + 40), dice.randint(9, 14))  # by when they come to the commit
    kept = dice.randint(4, len(xids) - 4)
    bytes_of = [dice.randint(150, 900) for _ in range(kept + 1)]
    there = [*bytes_of[:kept], dice.randint(1, bytes_of[kept] - 1)]
    # The engine commits in the binlog's order. Its commit records reach the disk some time later, with the redo log's next fsync,
    # and so may those of transactions whose events were still in the system's memory.
    flushed = dice.choice((dice.randint(1, kept - 2), kept + dice.randint(1, 2)))
    states = {xid: "committed" if i < flushed else "prepared" for i, xid in enumerate(xids)}
    states |= dict.fromkeys(dice.sample(range(first + 40, first + 60), 2), "active")
    return {
        "binlog": list(zip(xids, bytes_of, there, strict=False)),
        "states": states,
        "acknowledged": xids[: max(kept, flushed) + dice.randint(1, 2)],
    }


class Arrivals:
    """A queue, a redo log and a binlog that note what a leader does with them; somebody joins whenever it asks how far the redo log reaches or waits."""

    def __init__(self, waiting: list[str]) -> None:
        self.queue = list(waiting)
        self.did: list[str] = []
        self.binlog: list[str] = []
        self.durable = 0
        self.needed = 8192 + 175 * len(waiting)  # the LSN up to which those who wait have prepared
        self._prepared = self.needed
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
        self._prepared += 175
        self.queue.append(f"late {self._late}")

    def write(self, transactions: list[str]) -> None:
        """Appends their events to the binlog, in this order."""
        self.did.append("write")
        self.binlog += transactions
