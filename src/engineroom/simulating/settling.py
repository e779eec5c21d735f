"""How long a window of virtual time must be: until its throughput is known to 2 %, or a cap is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["COLUMNS", "WINDOW", "settled", "window"]

MS = 1_000_000
WINDOW: Mapping[str, int] = {"first_ms": 60, "longest_ms": 3840}
# Long enough for the CPU usage to be sampled twice.
WARMUP_MS = 210
# What the columns of `window` mean.
COLUMNS: Mapping[str, str] = {
    "window_ms": "virtual time measured, longer until settled",
    "half_width_percent": "half of the throughput's interval of 95 %, over it",
    "is_settled": "1: that is at most 2 %, and each client has committed five times; 0: no ratio is to be quoted",
}


def settled(
    simulate: Callable[..., dict[str, Any]],
    *,
    first_ms: int = WINDOW["first_ms"],
    longest_ms: int = WINDOW["longest_ms"],
    warmup_ms: int = WARMUP_MS,
) -> dict[str, Any]:
    """What `simulate(run_ns=..., warmup_ns=..., longest_ns=...)` sees in a window that is long enough, with `window_ms`.

    The kernel lets the window of one run grow from `first_ms` on, up to `longest_ms`, until each client has committed five times in the
    mean and half of the throughput's interval of 95 % is at most 2 % of it. `is_settled` is false where the cap came first: no
    ratio is to be quoted from such a point. `half_width_percent` is what was reached.
    """
    seen = simulate(run_ns=first_ms * MS, warmup_ns=warmup_ms * MS, longest_ns=longest_ms * MS)
    return {**seen, "window_ms": seen["window_ns"] / MS, "half_width_percent": 100 * seen["half_width"]}


def window(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Of what `settled` saw, how long that took and how sure it is, as columns of a row."""
    return {
        "window_ms": seen["window_ms"],
        "half_width_percent": seen["half_width_percent"],
        "is_settled": int(seen["is_settled"]),
    }
