"""What the page of the transaction system computes, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engineroom.chapters.trx_sys.numbers import (
    beyond_noise,
    fall_percent,
    statements_table,
    waiting_share,
    waits_us,
)
from engineroom.runs import Run


def test_a_statement_shows_the_latches_of_each_server_and_the_shared_one_alone_where_it_is_the_only_one():
    rows = [
        ("5.7", "REPEATABLE READ", "two_selects", 1, 0, 0),
        ("5.7", "REPEATABLE READ", "begin_commit", 4, 0, 0),
        ("9.7", "REPEATABLE READ", "two_selects", 1, 0, 0),
        ("9.7", "REPEATABLE READ", "begin_commit", 2, 2, 2),
    ]
    columns = ["series", "level", "statement", "mutex", "serialisation", "shards"]
    assert statements_table(pd.DataFrame(rows, columns=columns)).rows.to_dict("records") == [
        {"statement": "two selects", "level": "REPEATABLE READ", "5.7": "1", "9.7": "1"},
        {"statement": "begin commit", "level": "REPEATABLE READ", "5.7": "4", "9.7": "2 + 2 + 2"},
    ]


@pytest.fixture
def run():
    columns = ["concurrency", "series", "repeat", "tpmC", "latency_ms", "half_width_percent"]
    rows = [
        (n, series, repeat, rate, 4.0, 1.5)
        for series, rates in (("before", {200: 1000, 300: 1500}), ("after", {200: 1000, 300: 1200}))
        for n, rate in rates.items()
        for repeat in (0, 1)
    ]
    waits = [
        (300, "before", "trx_sys_mutex", 90.0),
        (300, "before", "trx_sys_mutex", 110.0),
        (300, "before", "log_flush_events", 999.0),
        (300, "after", "trx_sys_mutex", 95.0),
        (200, "after", "trx_sys_mutex", 999.0),
    ]
    latches = pd.DataFrame(waits, columns=["concurrency", "series", "latch", "wait_us"])
    return Run("fig-7-09", "sim", pd.DataFrame(rows, columns=columns), {}, {"latches": latches})


def test_waits_are_those_of_the_largest_crowd_and_their_share_is_of_its_response(run):
    assert list(waits_us(run, "before", "trx_sys_mutex")) == [90, 110]
    assert list(waits_us(run, "after", "trx_sys_mutex")) == [95]
    assert waiting_share(run) == pytest.approx(0.025)


def test_a_difference_within_the_noise_of_both_designs_is_none(run):
    assert beyond_noise(run) == [300]
    wide = run.table.assign(half_width_percent=12.0)  # together a quarter
    assert beyond_noise(replace(run, table=wide)) == []


def test_a_fall_is_from_the_highest_throughput_to_that_of_the_most_clients(run):
    assert fall_percent(run, "after") == 0
    lower = run.table.assign(tpmC=run.table["tpmC"].where(run.table["concurrency"] == 200, 500.0))
    assert fall_percent(replace(run, table=lower), "after") == 50
