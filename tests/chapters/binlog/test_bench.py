"""A small sitting of the binary log's bench."""

from __future__ import annotations

import pytest


@pytest.mark.slow
@pytest.mark.live  # the unpacked server brings mysqlbinlog
def test_a_small_sitting_of_the_bench_measures_every_goal(monkeypatch):
    """Which goals hold is not for a test to say."""
    pytest.importorskip("pymysqlreplication")
    from engineroom.bench import Sitting
    from engineroom.chapters.binlog import bench

    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "TRANSACTIONS", 200)
    monkeypatch.setattr(bench, "COMPRESSED", 50)
    rows = bench.bench(Sitting("binlog"))
    assert len(rows) == 5
    assert all(row.ours > 0 for row in rows)
    assert [row.goal for row in rows] == [">= 0.95", ">= 0.95", ">= 0.95", ">= 2", ">= 20"]
