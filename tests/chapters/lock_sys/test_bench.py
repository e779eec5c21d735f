"""Row locks on real threads are held against their goals, and against the latches that they take."""

from __future__ import annotations

import pytest

from engineroom.bench import Sitting
from engineroom.chapters.lock_sys import bench as lock_sys_bench


def test_a_small_sitting_judges_both_designs_on_a_quiet_machine_and_none_on_a_busy_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lock_sys_bench, "REPEATS", 2)
    monkeypatch.setattr(lock_sys_bench, "RUN_NS", 30_000_000)
    for load, judged in ((0.0, True), (9.0, False)):
        sitting = Sitting("lock_sys", load_before=load)
        rows = lock_sys_bench.bench(sitting)
        assert [(each.goal, each.holds is not None) for each in rows] == [
            (">= 1.8", judged),
            ("<= 1", judged),
        ]
        assert sitting.notes["latches of a transaction of one row"] == {"one mutex": 3, "shards": 7}
        locks = sitting.notes["of a row lock"]
        ratios = [
            locks[f"{design}, 2 thread(s)"]["per_s"] / locks[f"{design}, 1 thread(s)"]["per_s"]
            for design in ("shards", "one mutex")
        ]
        assert [each.ratio for each in rows] == pytest.approx(ratios, abs=1e-3)
