"""How long a window of virtual time must be: until a convoy on a latch cannot outlast it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FIRST_WINDOW_MS", "HALVES_APART", "LONGEST_WINDOW_MS", "TURNS_A_CLIENT", "WARMUP_MS", "settled"]

MS = 1_000_000
# A window is doubled until it is long enough, up to this.
FIRST_WINDOW_MS, LONGEST_WINDOW_MS = 60, 3840
TURNS_A_CLIENT, HALVES_APART = 5, 0.05
# Long enough for the CPU usage to be sampled twice.
WARMUP_MS = 210


def settled(
    simulate: Callable[..., dict[str, Any]],
    *,
    clients: int,
    first_ms: int = FIRST_WINDOW_MS,
    longest_ms: int = LONGEST_WINDOW_MS,
) -> dict[str, Any]:
    """What `simulate(run_ns=..., warmup_ns=...)` sees in a window that is long enough, with `window_ms` and `halves_apart_percent`.

    The window is doubled until clients have committed `TURNS_A_CLIENT` of the run's `transactions` each, on the average, and the
    throughput of its second half is within `HALVES_APART` of the first's, or the next one would be longer than `longest_ms`.
    """
    window_ms = first_ms
    before = simulate(run_ns=window_ms * MS, warmup_ns=WARMUP_MS * MS)
    while True:
        window_ms *= 2
        seen = simulate(run_ns=window_ms * MS, warmup_ns=WARMUP_MS * MS)
        first, both = before["transactions"], seen["transactions"]
        apart = abs((both - first) / first - 1) if first else float("inf")
        is_long = both >= TURNS_A_CLIENT * clients
        if (is_long and apart <= HALVES_APART) or 2 * window_ms > longest_ms:
            return {**seen, "window_ms": window_ms, "halves_apart_percent": 100 * min(apart, 1.0)}
        before = seen
