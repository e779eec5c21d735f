"""A small sitting of the machine's bench."""

from __future__ import annotations

import pytest

MS = 1_000_000


@pytest.mark.slow
def test_a_small_sitting_of_the_bench_measures_every_goal(monkeypatch):
    """Which goals hold is not for a test to say."""
    pytest.importorskip("simpy")
    from engineroom.bench import Sitting
    from engineroom.validation import bench

    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "QUEUE_RUN_NS", 20_000 * MS)
    rows = bench.bench(Sitting("machine"))
    assert len(rows) == 6
    assert all(row.ours > 0 for row in rows)
    assert any(row.peer and row.peer.startswith("simpy") for row in rows)
