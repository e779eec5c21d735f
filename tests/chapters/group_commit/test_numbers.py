"""What the group commit page computes, on rows made by hand."""

from __future__ import annotations

import math

import pandas as pd

from engineroom.chapters.group_commit.experiments.crashes import DURABILITIES
from engineroom.chapters.group_commit.numbers import (
    MEASURES,
    against_live,
    crashed,
    risks_table,
    servers_table,
)
from engineroom.runs import Run


def test_a_setting_that_loses_nothing_says_never_and_another_the_share_of_its_crashes():
    rows = [
        {
            "series": "5.7.6", "durability": name, "crash": crash, "crashes": 10_000, "lost": 0 if name == "1/1" else 50,
            "only_in_binlog": 20 if name == "2/1" else 0, "only_in_engine": 0, "crashes_with_loss": 0 if name == "1/1" else 2500,
        }
        for name in DURABILITIES
        for crash in ("power loss", "kill")
    ]  # fmt: skip
    table = risks_table(pd.DataFrame(rows)).rows.set_index("flush/sync")
    assert list(table.index) == list(DURABILITIES)
    assert table.loc["1/1", "power loss: loses"] == "never"
    assert table.loc["2/1", "power loss: loses"] == "25 %"
    assert table.loc["2/1", "only in the binlog"] == "2"
    assert table.loc["1/0", "only in the binlog"] == "none"


def live_rows(factor=1.0):
    rows = [
        {
            "clients": n, "series": server, "setting": setting, "repeat": 0,
            "redo_fsyncs_per_commit": 1 / n, "binlog_fsyncs_per_commit": factor / n,
            "flush_groups_per_commit": 1 / n, "sync_groups_per_commit": 0.5 / n,
            "latency_ms_p50": 2.0 + n, "latency_ms_p99": 9.0, "cpu_us_per_commit": 300 / n,
        }
        for n in (1, 4, 64)
        for server in ("5.6", "9.7")
        for setting in ("1/1", "1/1, delay 5 ms", "2/1000")
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_size_of_a_group_is_commits_over_acquisitions_of_the_most_clients():
    row = servers_table(live_rows()).rows.iloc[0]
    assert (row["server"], row["SYNC group"], row["FLUSH group"]) == ("5.6", "128.0", "64.0")


def test_the_model_is_judged_from_four_clients_on_the_worst_first():
    live, sim = (Run("own-gc-groups", "live", live_rows(factor), {}) for factor in (1.0, 1.5))
    table = against_live(live, sim)
    assert set(table["clients"]) == {4, 64}
    # The group of 128 with 64 clients is below the least.
    assert len(table) == 2 * 3 * 2 * len(MEASURES) - 6
    assert math.isclose(table.loc[0, "off_percent"], 50)
    assert table.loc[0, "measure"] == "binlog_fsyncs_per_commit"


def test_what_is_crashed_for_the_page_loses_nothing():
    assert crashed()["crashes"] > 1000
    assert crashed()["lost"] == 0
    assert crashed()["prepared_and_committed"] > 0
