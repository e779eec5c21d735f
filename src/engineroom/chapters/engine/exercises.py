"""What the engine's exercises are checked against: which of two new parts helps under a load, and servers whose crowd has a peak."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engineroom.chapters.engine.loads import LOADS, throughput

__all__ = ["GAIN", "MOST_CLIENTS", "Crowd", "Helps", "crowd", "what_helps"]

Helps = Literal["redo", "latches", "both", "neither"]

# A part helps when it makes the throughput this many times as large; the short windows' noise is a few percent.
GAIN = 1.1


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
    held_us = draw.uniform(5, 50)
    slowed = 0.0 if draw.random() < 0.25 else 0.002 * 50 ** draw.random()
    return Crowd(held_us, held_us * 2 ** draw.uniform(0, 9), slowed)
