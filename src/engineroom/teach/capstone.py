"""The capstone: a slow server with three causes planted by seed, simulated by the whole engine, its counters, and what changes give.

The application writes orders: it looks rows up, changes six rows, adds to a counter, and commits.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Mapping
from typing import Any

from engineroom._native import engine as kernel
from engineroom.machine.presets import parameters

__all__ = ["CAUSES", "causes", "counters", "gains", "orders_per_s"]

_MS = 1_000_000
_RUN_NS, _WARMUP_NS = 150 * _MS, 50 * _MS
# By cause: the value of a healthy server, and the range of an ill one's.
CAUSES: Mapping[str, tuple[int, tuple[int, int]]] = {
    "commits": (1, (8, 8)),  # per order: each of its statements may commit by itself
    "counter": (1_024, (1, 1)),  # rows over which the counter is spread
    "disk": (100, (900, 3_000)),  # microseconds per fsync
    "index": (20, (1_500, 5_000)),  # rows that the lookup examines
    "pool": (48, (2, 4)),  # connections of the application
    "processors": (16, (1, 2)),
}
OF_STATEMENTS = {"commits", "counter", "index"}
_EXAMINED_ROW_NS = 400
_CHANGES = 6


@functools.cache
def causes(seed: int = 0) -> dict[str, int]:
    """The three causes and their values. Each of them alone would make the server slow again, and their gains do not just multiply.

    A counter that is a cause is waited for. They are never those of statements alone: whoever blames these would be right without a look.
    """
    dice = random.Random(f"capstone-{seed}")
    every = list(itertools.combinations(CAUSES, 3))
    dice.shuffle(every)
    for names in every:
        if set(names) == OF_STATEMENTS:
            continue
        planted = {name: dice.randint(*CAUSES[name][1]) for name in names}
        shown = counters(planted)
        is_waited_for = shown["row_lock_ms_per_order"] > shown["ms_per_order"] / 8
        if is_waited_for != ("counter" in planted) or any(
            orders_per_s({}) < 1.4 * orders_per_s({name: value}) for name, value in planted.items()
        ):
            continue
        found = gains(planted)
        if abs(math.log(math.prod(found[name] for name in planted) / found["all"])) > math.log(1.6):
            return planted
    raise AssertionError("no server of this kind")


@functools.cache
def _simulated(ill: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    value = {name: healthy for name, (healthy, _) in CAUSES.items()} | dict(ill)
    look_up = {"access": "reads", "computing_ns": 20_000 + _EXAMINED_ROW_NS * value["index"]}
    change = {"access": "changes", "computing_ns": 10_000, "mtrs_permille": 2_000}
    count = {**change, "draw": _CHANGES}
    statements = [look_up, *({**change, "draw": i} for i in range(_CHANGES)), count]
    whole: dict[str, Any] = {
        "draws": [*[{"rows": 1_000_000}] * _CHANGES, {"rows": value["counter"]}],
        "commit": {"computing_ns": 5_000, "mtrs_permille": 1_000},
    }
    if value["commits"] == 1:
        mix = [{**whole, "statements": statements}]
    else:
        mix = [{**whole, "statements": [each], "sends_commit": False} for each in statements]
    return kernel.simulate_mix(
        parameters={
            **parameters("four_sockets_176"),
            "sockets": 1,
            "threads_per_core": 1,
            "cores_per_socket": value["processors"],
            "disk_fsync_quantiles_ps": [1_000_000 * value["disk"]],
        },
        mix=mix,
        load={"clients": value["pool"], "away_ns": 200_000},
        run_ns=_RUN_NS,
        warmup_ns=_WARMUP_NS,
        engine={"redo": "8.0"},
        trx_sys={"latches": "8.0, sharded"},
    )


def orders_per_s(ill: Mapping[str, int]) -> float:
    """Orders per second of a server with these parts ill and all others healthy."""
    seen = _simulated(tuple(sorted(ill.items())))
    return float(seen["transactions"] / ill.get("commits", 1) / seen["window_ns"] * 1e9)


def gains(ill: Mapping[str, int]) -> dict[str, float]:
    """How many times as many orders each change alone gives, and `all` of them together."""
    before = orders_per_s(ill)
    alone = {
        name: orders_per_s({other: value for other, value in ill.items() if other != name}) / before
        for name in ill
    }
    return alone | {"all": orders_per_s({}) / before}


def counters(ill: Mapping[str, int]) -> dict[str, float]:
    """What such a server shows, as counted in the simulated window."""
    seen = _simulated(tuple(sorted(ill.items())))
    spent_ps = {
        what: sum(ps for path, kind, ps in seen["activities"] if path[0] == who and kind in kinds)
        for what, who, kinds in (
            ("busy", "client", {"work", "memory", "spin", "runnable", "parked", "io"}),
            ("fsync", "log_flusher", {"io"}),
        )
    }
    orders = seen["transactions"] / ill.get("commits", 1)
    shown = {
        "orders_per_s": orders_per_s(ill),
        "commits_per_order": seen["transactions"] / orders,
        "rows_examined_per_order": ill.get("index", CAUSES["index"][0]) + _CHANGES + 1,
        "connections": ill.get("pool", CAUSES["pool"][0]),
        "connections_busy": spent_ps["busy"] / 1_000 / seen["window_ns"],
        "ms_per_order": spent_ps["busy"] / 1e9 / orders,
        "row_lock_ms_per_order": seen["lock_wait_ns"] / _MS / orders,
        "processors": ill.get("processors", CAUSES["processors"][0]),
        "processors_busy": seen["cpu_ns"] / seen["window_ns"],
        "fsyncs_per_s": seen["fsyncs"] / seen["window_ns"] * 1e9,
        "ms_per_fsync": spent_ps["fsync"] / 1e9 / seen["fsyncs"],
    }
    return {name: float(f"{value:.3g}") for name, value in shown.items()}
