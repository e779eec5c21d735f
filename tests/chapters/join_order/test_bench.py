"""A small sitting of the join order's bench."""

from __future__ import annotations

import pytest

from engineroom.bench import Sitting


def test_a_small_sitting_of_the_join_order_has_a_row_for_each_goal(monkeypatch):
    join_order = pytest.importorskip("engineroom.chapters.join_order.bench")
    monkeypatch.setattr(join_order, "REPEATS", 1)
    monkeypatch.setattr(join_order, "LEAST_CPU_S", 1e-9)
    monkeypatch.setattr(join_order, "GOALS", (("star", (5,), 17), ("chain", (5, 6), 25)))
    monkeypatch.setattr(join_order, "OTHERS", (("chain", 4),))
    monkeypatch.setattr(join_order, "LARGE", (("clique", 6),))
    rows = join_order.bench(Sitting("join_order"))
    assert len(rows) == 3 + 8 + (3 + 11 + 8) + 6 + 6
    assert {a_row.goal for a_row in rows} == {"<= 17", "<= 25", "<= 30", "<= 1.3", "<= 1.5", "<= 2"}
    alone = {name.removesuffix(", a pair"): r.ours for r in rows if (name := r.name).endswith(", a pair")}
    priced = {name.removesuffix(", with costs"): r for r in rows if (name := r.name).endswith(", with costs")}
    assert {name: priced[name].peer_value for name in alone} == alone
    across = [r for r in rows if "with costs, against" in r.name]
    assert [r.peer_value for r in across] == [priced[r.peer].ours for r in across], "a case has one number"
