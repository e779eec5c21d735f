"""Recorded servers for the exercises that ask what is wrong, small enough to travel with the package."""

from __future__ import annotations

import functools
import importlib.resources
import random
import statistics
import tomllib
from typing import Any

__all__ = ["crowds", "gains", "operations", "recorded"]


@functools.cache
def recorded() -> dict[str, Any]:
    """`servers.toml`: by chapter, the rows of its recording with all repeats."""
    return tomllib.loads(importlib.resources.files(__package__).joinpath("servers.toml").read_text())


def crowds() -> dict[str, dict[int, dict[str, float]]]:
    """Four servers under a load, by number of clients: transactions per second, and how long one waits for rows."""
    made: dict[str, dict[int, dict[str, float]]] = {}
    for row in recorded()["engine"]:
        made.setdefault(row["name"], {})[row["clients"]] = {
            "clients": row["clients"],
            "tps": round(statistics.median(row["tps"]), 1),
            "lock_wait_ms": round(statistics.median(row["lock_wait_ms"]), 4),
        }
    return made


def gains(seed: int = 0) -> dict[str, tuple[str, str, float]]:
    """Five cases A to E: a load, the policy before, and how many times as many transactions CATS makes of it."""
    tps = {(row["load"], row["policy"]): statistics.median(row["tps"]) for row in recorded()["cats"]}
    dice = random.Random(f"gains-{seed}")
    loads = sorted({load for load, _ in tps})
    dice.shuffle(loads)
    before = [dice.choice(("fifo", "fcfs_5_7")) for _ in loads]
    return {
        name: (load, policy, tps[load, "cats"] / tps[load, policy])
        for name, load, policy in zip("ABCDE", loads, before, strict=True)
    }


def operations() -> dict[str, dict[str, dict[str, Any]]]:
    """Operations of recorded servers by version: CPU time of each repeat, and what the server counted per operation."""
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for row in recorded()["low_concurrency"]:
        made.setdefault(row["operation"], {})[row["version"]] = {
            "cpu_us": row["cpu_us"],
            "counters": row["counters"],
        }
    return made
