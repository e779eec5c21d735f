"""The capstone's servers can be told by their counters, and a cause is one: mended alone it may give nothing, left alone it is slow."""

from __future__ import annotations

import pytest

from engineroom.teach import capstone

FAST = capstone.counters({})


@pytest.mark.parametrize("seed", range(3))
def test_the_counters_show_which_three_causes_were_planted(seed):
    planted = capstone.causes(seed)
    slow = capstone.counters(planted)
    seen = {
        "commits": slow["commits_per_order"] > FAST["commits_per_order"],
        "counter": slow["row_lock_ms_per_order"] > slow["ms_per_order"] / 8,
        "disk": slow["ms_per_fsync"] > 2 * FAST["ms_per_fsync"],
        "index": slow["rows_examined_per_order"] > 2 * FAST["rows_examined_per_order"],
        "pool": slow["connections"] < FAST["connections"],
        "processors": slow["processors"] < FAST["processors"],
    }
    assert {name for name, is_seen in seen.items() if is_seen} == set(planted)
    assert len(planted) == 3


def test_each_cause_that_is_left_makes_the_server_slow():
    planted = capstone.causes(0)
    for name, value in planted.items():
        assert capstone.orders_per_s({}) > 1.4 * capstone.orders_per_s({name: value})
    found = capstone.gains(planted)
    assert set(found) == {*planted, "all"}
    assert found["all"] == capstone.orders_per_s({}) / capstone.orders_per_s(planted)
    assert all(found["all"] > found[name] for name in planted)


def test_what_a_server_shows_agrees_with_itself():
    # Connections that wait or work, and those that are away 200 us for each of an order's nine round trips, are all there are.
    busy = FAST["orders_per_s"] * FAST["ms_per_order"] / 1000
    assert busy == pytest.approx(FAST["connections_busy"], rel=0.02)
    away = FAST["orders_per_s"] * 9 * 200e-6
    assert busy + away == pytest.approx(FAST["connections"], rel=0.05)
    assert FAST["processors_busy"] <= FAST["processors"]
    assert FAST["ms_per_fsync"] == pytest.approx(0.1, rel=0.1)
