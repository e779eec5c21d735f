"""What many clients would do to each other: the engine of three versions under the measured demands, and which queue forms first.

A queue has formed where at least one thread waits in the mean: at a latch, for rows, or for a processor when nearly all are taken. Waiting
for the redo log to be on the disk is told too but is no queue, since clients share an fsync. Each point is also simulated on machines
whose uncertain numbers are all drawn anew, between half and one and a half of their value, with the CPU times drawn between the least
of their batches and as far above the median. The range of those is the interval.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from engineroom.ask.whatif.demands import MEDIAN, Demands
from engineroom.machine.presets import Preset, middle_of
from engineroom.simulating.activities import time_by
from engineroom.simulating.engine import COUNTS, EACH, LINES, Design, held, holds
from engineroom.simulating.settling import settled
from engineroom.simulating.sweep import cross, sweep

__all__ = ["DESIGNS", "Point", "Prediction", "designed", "predicted"]

DESIGNS: Mapping[str, Design] = {
    "5.7.22": Design(lock_design="5.7", latches="5.7", redo="5.7", locks=EACH),
    "8.0.15": Design(lock_design="8.0.15", latches="8.0", locks=COUNTS),
    "9.7.4": Design(locks=COUNTS),
}
# innodb_log_writer_threads of 9.7 is on from so many logical CPUs, with a binary log and without (the manual of 9.5, "What Is New").
_LOG_THREADS_FROM = {True: 32, False: 5}
# What waits that are no latch are called, by the names of the simulated waits and activities.
ROWS, DISK, PROCESSORS = "row locks", "redo log on disk", "processors"
_OF_DISK = ("log_flush_event", "log_flush_events", "log_write_events")
_LATCHES = ("_mutex", "_rw_lock", "_lock")
_WINDOW: Mapping[str, int] = {"first_ms": 40, "longest_ms": 320, "warmup_ms": 100}
_LEAST_WAITING, _FEW_WAITING = 1.0, 0.01
# Below this share of its processors busy a machine makes nobody wait for one: what is left is the time of waking up.
_BUSY = 0.9
_FACTORS = (0.5, 1.5)


@dataclass(frozen=True)
class Point:
    """A version with so many clients: transactions per second, their range over the varied machines, and threads that wait in the mean."""

    version: str
    clients: int
    tps: float
    lowest_tps: float
    highest_tps: float
    waiting: Mapping[str, float]
    is_settled: bool
    varied: Sequence[Mapping[str, float]] = field(default=(), repr=False)  # `waiting` on each varied machine

    @property
    def queue(self) -> str | None:
        """Where most wait, if there at least one does."""
        return longest(self.waiting)


def longest(waiting: Mapping[str, float]) -> str | None:
    """The longest queue, None where nowhere anybody waits in the mean."""
    queues = {name: mean for name, mean in waiting.items() if name != DISK and mean >= _LEAST_WAITING}
    return max(queues, key=lambda each: queues[each], default=None)


@dataclass(frozen=True)
class Prediction:
    """All points, in the order of versions and clients."""

    demands: Demands
    machine: str
    points: Sequence[Point]

    def of(self, version: str) -> list[Point]:
        return [point for point in self.points if point.version == version]

    @property
    def versions(self) -> list[str]:
        return list(dict.fromkeys(point.version for point in self.points))

    def first(self, version: str) -> Point | None:
        """The point of the fewest clients at which a queue has formed."""
        return next((point for point in self.of(version) if point.queue), None)

    def agree(self, point: Point) -> int:
        """On how many of the varied machines the same queue is the longest there."""
        return sum(longest(each) == point.queue for each in point.varied)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "machine": self.machine,
            "measured_on": self.demands.server,
            "points": [
                {name: value for name, value in asdict(point).items() if name != "varied"}
                | {"queue": point.queue}
                for point in self.points
            ],
            "first_queue": {version: self._first(version) for version in self.versions},
            "not_known": not_known(self.demands),
        }

    def _first(self, version: str) -> dict[str, Any] | None:
        point = self.first(version)
        if point is None:
            return None
        return {
            "queue": point.queue,
            "clients": point.clients,
            "machines_that_agree": self.agree(point),
            "machines": len(point.varied),
        }


def predicted(
    demands: Demands,
    machine: Preset,
    *,
    clients: Sequence[int],
    versions: Iterable[str] = tuple(DESIGNS),
    away_us: float = 100.0,
    client_us: float = 0.0,
    varied: int = 6,
    executor: Executor | None = None,
) -> Prediction:
    """Simulate each version with each number of clients on the machine, and on so many varied ones.

    Before each statement a client is away for `away_us` in the mean, and computes `client_us` on the server's own processors.
    """
    grid = cross(version=versions, clients=sorted(set(clients)))
    points = [{**each, "draw": draw} for each in grid for draw in range(varied + 1)]
    seen = iter(
        sweep(partial(_seen, demands, machine, away_us, client_us), points, executor=executor, desc="what if")
    )
    made = []
    for each in grid:
        usual, *others = [next(seen) for _ in range(varied + 1)]
        rates = [one["tps"] for one in (usual, *others)]
        made.append(
            Point(
                **each,
                tps=usual["tps"],
                lowest_tps=min(rates),
                highest_tps=max(rates),
                waiting=usual["waiting"],
                is_settled=usual["is_settled"],
                varied=[one["waiting"] for one in others],
            )
        )
    return Prediction(demands, machine.name, made)


def designed(version: str, *, processors: int, has_binlog: bool) -> Design:
    """The engine of a version; 9.7 itself chooses by its machine and its binary log who writes the redo log."""
    design = DESIGNS[version]
    chooses_sessions = version == "9.7.4" and processors < _LOG_THREADS_FROM[has_binlog]
    return replace(design, redo="8.0, writer threads off") if chooses_sessions else design


def _seen(
    demands: Demands,
    machine: Preset,
    away_us: float,
    client_us: float,
    /,
    *,
    version: str,
    clients: int,
    draw: int,
) -> dict[str, Any]:
    """One run: draw 0 is the machine as it is."""
    from engineroom._native import engine

    slower = MEDIAN
    if draw:
        drawn = random.Random(draw)
        slower = drawn.uniform(0, 2 * MEDIAN)
        for name in machine.uncertain():
            machine = machine.varied(name, drawn.uniform(*_FACTORS))
    of = machine.values()
    processors = math.prod(
        int(middle_of(of.get(name, 1))) for name in ("sockets", "cores_per_socket", "threads_per_core")
    )
    design = held(designed(version, processors=processors, has_binlog=demands.has_binlog), holds())
    simulate = partial(
        engine.simulate_mix,
        parameters=of,
        mix=demands.mix(slower),
        load={"clients": clients, "away_ns": round(1000 * away_us), "client_ns": round(1000 * client_us)},
        seed=1 + draw,
        engine={
            "redo": design.redo,
            "durable_first": demands.has_binlog,
            "flush_every": int(demands.flushes_each_commit),
        },
        lock_design=design.lock_design,
        locks={**LINES["locks"], **design.locks},
        trx_sys={"latches": design.latches, **LINES["trx_sys"], **design.trx_sys},
        log=dict(design.log),
    )
    run = settled(simulate, **_WINDOW)
    return {
        "tps": run["transactions"] / run["window_ns"] * 1e9,
        "waiting": waiting(run, processors=processors),
        "is_settled": bool(run["is_settled"]),
    }


def waiting(run: Mapping[str, Any], *, processors: int) -> dict[str, float]:
    """Threads that wait at each place of a run, in the mean, the most first; places where hardly anybody does are left out."""
    window_ns = run["window_ns"]
    found = {ROWS: run["lock_wait_ns"] / window_ns}
    for wait in run["waits"]:
        name = DISK if wait["name"] in _OF_DISK else wait["name"]
        if name == DISK or name.endswith(_LATCHES):
            found[name] = found.get(name, 0.0) + wait["total_ns"] / window_ns
    if run["cpu_ns"] >= _BUSY * processors * window_ns:
        found[PROCESSORS] = (
            time_by(run["activities"], _client, states=("runnable",)).get("client", 0) / 1000 / window_ns
        )
    ranked = sorted(found.items(), key=lambda each: -each[1])
    return {name: round(mean, 3) for name, mean in ranked if mean >= _FEW_WAITING}


def _client(path: Sequence[str]) -> str | None:
    return path[0] if path[0] == "client" else None


def not_known(demands: Demands) -> list[str]:
    """What the prediction leaves out, as sentences."""
    said = [
        f"All versions are given what statements asked of MySQL {demands.server} with one client: CPU times of others differ.",
        "The ranges hold what other numbers of the machine would change, not what the model itself has wrong.",
        "The machine's processors compute as fast as the one on which was measured, when that did nothing else.",
        "The buffer pool is warm and never too small: pages that are read from a disk, purge and checkpoints are not in it.",
        "Locks are on the rows that a statement names. Gaps, secondary indexes, foreign keys and metadata locks are not in it.",
    ]
    if demands.isolation.upper().replace("_", "-") != "READ-COMMITTED":
        said.append(f"Measured at {demands.isolation}, simulated at READ COMMITTED: there no gap is locked.")
    if demands.has_binlog:
        said.append(
            "The binary log only holds row locks until a commit is durable: its own fsyncs and mutexes are not in it."
        )
    if unread := [kind.name for kind in demands.kinds if all(each.value is None for each in kind.statements)]:
        said.append(f"Nothing in {', '.join(unread)} is drawn, so that all clients mean the same rows.")
    return said
