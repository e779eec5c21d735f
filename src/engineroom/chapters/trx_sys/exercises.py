"""What the transaction system's exercises are made of and checked against: a second of a server, by seed, and the latches it takes."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engineroom._native import read_views as kernel

__all__ = ["LATCHES", "Second", "latches_taken", "second"]

# By what the exercises call the versions: the design in the kernel.
LATCHES = {"5.7": "5.7", "8.0": "8.0", "8.0, split": "8.0, split", "9.7": "8.0, sharded"}


@dataclass(frozen=True)
class Second:
    """What the clients of a server do in a second, all of it in autocommit mode and without a binary log."""

    updates: int
    selects_behind_a_write: int
    other_selects: int


def second(seed: int = 0) -> Second:
    """Thousands of statements, not round."""
    dice = random.Random(f"second-{seed}")
    return Second(dice.randint(1_001, 9_999), dice.randint(1_001, 9_999), dice.randint(20_001, 90_000))


def latches_taken(version: str, load: Second) -> tuple[int, int]:
    """How often trx_sys_mutex is taken, and how often all latches of the transaction system together, as the kernel counts them."""
    mutex = every = 0.0
    for statement, times in (
        ("update", load.updates),
        ("select_behind_a_write", load.selects_behind_a_write),
        ("select", load.other_selects),
    ):
        cost = kernel.statement_cost(
            latches=LATCHES[version],
            views="kept",
            statement=statement,
            level="REPEATABLE READ",
            has_binlog=False,
        )
        mutex += times * cost["mutex"]
        every += times * (cost["mutex"] + cost["serialisation"] + cost["shards"])
    return round(mutex), round(every)
