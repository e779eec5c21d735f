from __future__ import annotations

import pandas as pd

from engineroom.chapters.hash_join.numbers import rows_read_by_plan, times_by_plan, why_not_table
from engineroom.runs import Run


def test_a_plan_that_a_server_lacks_is_said_to_be_lacking() -> None:
    cpu_s = [
        ("5.7.22", "index_nested_loop", 4.0),
        ("9.7.4", "index_nested_loop", 3.0),
        ("9.7.4", "hash_join", 1.25),
    ]
    table = pd.DataFrame(cpu_s, columns=["server", "series", "server_cpu_s"]).assign(repeat=0, warehouses=2)
    read = [
        ("9.7.4", "hash_join", "Handler_read_next", 3020),
        ("9.7.4", "hash_join", "Created_tmp_files", 16),
    ]
    counters = pd.DataFrame(read, columns=["server", "series", "counter", "value"])
    run = Run("fig-7-22", "live", table, {}, {"counters": counters})
    times, read_rows = times_by_plan(run), rows_read_by_plan(run)
    assert times.rows.to_numpy().tolist() == [
        ["hash_join", "has no such plan", "1.250 s"],
        ["index_nested_loop", "4.000 s", "3.000 s"],
    ]
    assert read_rows.rows.to_numpy().tolist() == [["hash_join", "3,020"]]
    assert "2 warehouses" in times.caption
    assert "2 warehouses" in read_rows.caption


def test_what_forbids_a_hash_join_stands_before_what_does_not() -> None:
    rows = why_not_table().rows
    assert rows["hash join"].is_monotonic_increasing
    assert [join.startswith("Inner hash join") for join in rows["the plan's join"]] == list(rows["hash join"])
