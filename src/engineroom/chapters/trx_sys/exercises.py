"""What the transaction system's exercises are made of and checked against: a second of a server, by seed, and the latches it takes."""

from __future__ import annotations

import random
from collections.abc import Mapping

from engineroom._native import read_views as kernel

__all__ = ["LATCHES", "latches_taken", "second"]

# By version: the design in the kernel.
LATCHES = {"5.7.22": "5.7", "8.0.15": "8.0", "9.7.4": "8.0, sharded"}
STATEMENTS = {
    "updates": "update",
    "selects_behind_a_write": "select_behind_a_write",
    "other_selects": "select",
}


def second(seed: int = 0) -> dict[str, int]:
    """What the clients of a server do in a second, in autocommit mode and without a binary log: thousands of statements, not round."""
    dice = random.Random(f"second-{seed}")
    return {
        "updates": dice.randint(1_001, 9_999),
        "selects_behind_a_write": dice.randint(1_001, 9_999),
        "other_selects": dice.randint(20_001, 90_000),
    }


def latches_taken(version: str, load: Mapping[str, int]) -> tuple[int, int]:
    """How often trx_sys_mutex is taken, and how often all latches of the transaction system together, as the kernel counts them."""
    mutex = every = 0.0
    for name, times in load.items():
        cost = kernel.statement_cost(
            latches=LATCHES[version],
            views="kept",
            statement=STATEMENTS[name],
            level="REPEATABLE READ",
            has_binlog=False,
        )
        mutex += times * cost["mutex"]
        every += times * (cost["mutex"] + cost["serialisation"] + cost["shards"])
    return round(mutex), round(every)
