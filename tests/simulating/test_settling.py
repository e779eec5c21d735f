"""A window is doubled until it is long enough."""

from __future__ import annotations

import pytest

from engineroom.simulating.settling import settled


@pytest.mark.parametrize(
    ("silent_ms", "clients", "longest_ms", "window_ms"),
    [
        (0, 1, 7680, 120),  # steady: two halves agree at once
        (0, 2000, 7680, 1920),  # but everybody is to commit five times
        (100, 1, 15360, 7680),  # nothing commits at first: the halves agree to 5 % late
        (100, 1, 3840, 3840),  # or never, in the time allowed
    ],
)
def test_a_window_is_doubled_until_it_is_long_enough(silent_ms, clients, longest_ms, window_ms):
    def simulate(*, run_ns, warmup_ns):
        assert warmup_ns == 210_000_000
        return {"transactions": 10 * max(0, run_ns // 1_000_000 - silent_ms)}

    seen = settled(simulate, clients=clients, first_ms=60, longest_ms=longest_ms)
    assert seen["window_ms"] == window_ms
    assert (seen["halves_apart_percent"] <= 5) == (window_ms < longest_ms)
