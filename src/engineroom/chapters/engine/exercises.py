"""What the engine's exercises and its lab are made of and checked against: small loads, and engines of 5.7 with new parts."""

from __future__ import annotations

import functools
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from engineroom._native import engine as kernel
from engineroom.machine.presets import parameters

__all__ = [
    "CLIENTS",
    "GAIN",
    "LOADS",
    "MOST_CLIENTS",
    "PARTS",
    "Crowd",
    "Helps",
    "crowd",
    "simulated",
    "throughput",
    "what_helps",
]

Helps = Literal["redo", "latches", "both", "neither"]

CLIENTS = 50
# A part helps when it makes the throughput this many times as large; the short windows' noise is a few percent.
GAIN = 1.1
# What can be new in an engine of 5.7, and how `simulate_mix` is told.
PARTS: Mapping[str, Mapping[str, Any]] = {
    "redo": {"engine": {"redo": "8.0"}},
    "latches": {"trx_sys": {"latches": "8.0, sharded"}},
    "locks": {"lock_design": "9.7"},
}
_OLD: Mapping[str, Any] = {"engine": {"redo": "5.7"}, "trx_sys": {"latches": "5.7"}, "lock_design": "5.7"}
_MS = 1_000_000


def _statement(access: str, *, mtrs: int = 0, **options: int) -> dict[str, Any]:
    return {"access": access, "mtrs_permille": 1000 * mtrs, "mtr_bytes": 150, **options}


def _alone(statement: Mapping[str, Any], *, rows: int = 1_000_000) -> list[dict[str, Any]]:
    """Transactions of one statement that commits by itself."""
    return [
        {
            "draws": [{"rows": rows}],
            "statements": [dict(statement)],
            "commit": {"computing_ns": 0},
            "sends_commit": False,
        }
    ]


_CHANGE = _statement("changes", mtrs=2, computing_ns=10_000)
LOADS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "small": _alone(_CHANGE),
    "hot": _alone(_CHANGE, rows=1),
    "reads": _alone(_statement("reads", computing_ns=20_000)),
    "bulk": [
        {
            "draws": [{"rows": 1_000_000}],
            "statements": [_statement("changes", mtrs=20, computing_ns=40_000, rows=20)],
            "commit": {"computing_ns": 5_000, "mtrs_permille": 1_000, "mtr_bytes": 100},
        }
    ],
}


def simulated(
    mix: Sequence[Mapping[str, Any]],
    new: Collection[str] = (),
    *,
    clients: int = CLIENTS,
    fsync_us: int = 10,
    seed: int = 1,
) -> dict[str, Any]:
    """Transactions of an engine of 5.7 of which some parts are new, for 10 ms of virtual time behind 5 ms of warm-up.

    An fsync takes 10 us, as where the device answers from a cache that survives a power cut: else it hides the latches.
    """
    design = dict(_OLD)
    for part in new:
        design |= PARTS[part]
    return kernel.simulate_mix(
        parameters={**parameters("four_sockets_176"), "disk_fsync_quantiles_ps": [1_000_000 * fsync_us]},
        mix=mix,
        load={"clients": clients, "away_ns": 33_000},
        run_ns=10 * _MS,
        warmup_ns=5 * _MS,
        seed=seed,
        **design,
    )


def throughput(
    mix: Sequence[Mapping[str, Any]], new: Collection[str] = (), *, clients: int = CLIENTS, seed: int = 1
) -> float:
    """Transactions per second of virtual time."""
    seen = simulated(mix, new, clients=clients, seed=seed)
    return float(seen["transactions"] / seen["window_ns"] * 1e9)


@functools.cache
def what_helps(load: str, *, seed: int = 1) -> Helps:
    """Which of two new parts helps at 50 clients: one of them alone, only both together, or neither of them.

    The row locks are those of 9.7 already.
    """
    mix = LOADS[load]
    before = throughput(mix, ["locks"], seed=seed)

    def gains(*new: str) -> bool:
        return throughput(mix, ["locks", *new], seed=seed) >= GAIN * before

    redo, latches = gains("redo"), gains("latches")
    if redo and latches:
        raise ValueError(f"each part helps alone under the load {load}, so the question has two answers")
    if redo or latches:
        return "redo" if redo else "latches"
    return "both" if gains("redo", "latches") else "neither"


MOST_CLIENTS = 1024


@dataclass(frozen=True)
class Crowd:
    """A server with one latch: each thread that waits for it slows its holder, as spinning and handing over do."""

    held_us: float  # by a holder for whom nobody waits
    away_us: float
    slowed: float  # the share by which each waiter makes it longer

    def throughput(self, clients: int) -> float:
        """Transactions per second in the long run, for times that vary as exponential ones: solved by the number of clients at the latch."""
        if clients < 1:
            raise ValueError(f"a run needs a client, not {clients}")
        there = np.arange(1, clients + 1)
        served = 1 / (self.held_us * (1 + self.slowed * (there - 1)))
        weights = np.cumsum(np.log((clients - there + 1) / self.away_us / served))
        shares = np.exp(weights - max(0.0, weights.max()))
        nobody = np.exp(-max(0.0, weights.max()))
        return float(1_000_000 * (shares * served).sum() / (nobody + shares.sum()))

    @functools.cached_property
    def most(self) -> float:
        """The highest throughput with any number of clients that may be tried: it rises up to one number and falls behind it."""
        low, high = 1, MOST_CLIENTS
        while low < high:
            middle = (low + high) // 2
            if self.throughput(middle) < self.throughput(middle + 1):
                low = middle + 1
            else:
                high = middle
        return self.throughput(low)


def crowd(draw: random.Random) -> Crowd:
    """A server whose latch is full with 2 to some 500 clients, and whose crowd costs much, little or nothing."""
    held_us = draw.randint(5, 50)
    return Crowd(held_us, held_us * 2 ** draw.uniform(0, 9), draw.choice((0, 0.002, 0.02, 0.1)))
