"""What the redo log exercises are made of and checked against: files after a crash, and servers that flush, by seed."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Literal

from engineroom import _native
from engineroom.chapters.redo_log.experiments.simulated import MACHINE
from engineroom.machine.presets import parameters
from engineroom.simulating.loads import SYSBENCH

__all__ = ["FlushCase", "Flushes", "crashed_file", "flush_cases", "flushes"]

Flushes = Literal["more", "about one", "fewer"]
DESIGNS = ("5.7", "8.0", "8.0, writer threads off")
MS = 1_000_000


def crashed_file(seed: int = 0) -> tuple[bytes, list[int], list[int]]:
    """A log file after a crash that tore one block, the ends of all groups, and those that had been reported durable.

    At least one durable commit is lost, as on a device that does not keep a block of 512 bytes whole.
    """
    dice = random.Random(f"crash-{seed}")
    groups = [_native.redo_log.make_group(1, i, dice.randint(20, 400)) for i in range(40)]
    file = bytearray(_native.redo_log.write_file(groups, capacity_bytes=1 << 16))
    ends = [end for _, end, _ in _native.redo_log.recover(bytes(file))["groups"]]
    block = dice.randint(3, (ends[-1] - 8192) // 512 - 2)
    file[2048 + 512 * block + 300] ^= 0xFF
    end_lsn = _native.redo_log.recover(bytes(file))["end_lsn"]
    behind = next(end for end in ends if end > end_lsn)
    durable = sorted({*dice.sample(ends, 12), end_lsn, behind})
    return bytes(file), ends, durable


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
