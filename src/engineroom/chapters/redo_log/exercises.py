"""What the redo log exercises are made of and checked against: servers that flush, by seed."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Literal

from engineroom import _native
from engineroom.chapters.redo_log.experiments.simulated import MACHINE
from engineroom.machine.presets import parameters
from engineroom.simulating.loads import SYSBENCH

__all__ = ["FlushCase", "Flushes", "flush_cases", "flushes"]

Flushes = Literal["more", "about one", "fewer"]
DESIGNS = ("5.7", "8.0", "8.0, writer threads off")
MS = 1_000_000


@dataclass(frozen=True)
class FlushCase:
    """A server under the chapter's load."""

    design: str
    clients: int
    fsync_us: int


def flush_cases(seed: int = 0) -> dict[str, FlushCase]:
    """Six servers; each design occurs with few clients and with many."""
    dice = random.Random(f"flush-{seed}")
    chosen = [
        FlushCase(design, dice.choice(clients), 100)
        for design in DESIGNS
        for clients in ((1, 2, 3), (50, 60, 80))
    ]
    dice.shuffle(chosen)
    return dict(zip("ABCDEF", chosen, strict=True))


@functools.cache
def flushes(case: FlushCase) -> Flushes:
    """What the simulated machine counts."""
    machine = parameters(MACHINE) | {"disk_fsync_quantiles_ps": [case.fsync_us * 1_000_000]}
    seen = _native.redo_log.simulate(
        design=case.design,
        parameters=machine,
        load={**SYSBENCH, "clients": case.clients},
        run_ns=150 * MS,
        warmup_ns=150 * MS,
    )
    each = seen["fsyncs"] / seen["transactions"]
    return "more" if each > 1.2 else "fewer" if each < 0.8 else "about one"
