from __future__ import annotations

import pandas as pd
import pytest

from engineroom.chapters.hash_join import figures
from engineroom.runs import Run


def test_a_partner_costs_the_slope_of_its_plan() -> None:
    cost_s = {"index_nested_loop": (0.010, 0.005), "hash_join": (0.020, 0.001)}
    rows = [
        (w, plan, w * (base + w * each), 1000 * w) for plan, (base, each) in cost_s.items() for w in (1, 2, 4)
    ]
    table = pd.DataFrame(rows, columns=["warehouses", "series", "server_cpu_s", "rows_read"]).assign(repeat=0)
    run = Run("own-hash-join-warehouses", "live", table, {}, summary="min")
    cost_us = figures.partner_cost_us(figures.own_hash_join_warehouses.rows(run))
    assert [cost_us[plan] for plan in cost_s] == pytest.approx([5.0, 1.0])


def test_quadratic_work_grows_with_a_slope_of_two() -> None:
    rows = [(500, "5.7.22", 0.1), (1000, "5.7.22", 0.4), (500, "9.7.4", 0.001), (1000, "9.7.4", 0.002)]
    table = pd.DataFrame(rows, columns=["rows_per_table", "series", "server_cpu_s"]).assign(repeat=0)
    run = Run("own-hash-join-no-index", "live", table, {}, summary="min")
    growth = figures.growth(figures.own_hash_join_no_index.rows(run))
    assert [growth["5.7.22"], growth["9.7.4"]] == pytest.approx([2.0, 1.0])
