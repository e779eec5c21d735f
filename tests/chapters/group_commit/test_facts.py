"""The facts of the group commit page, on rows made by hand."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import pytest

from engineroom.chapters.group_commit.experiments.crashes import DURABILITIES
from engineroom.chapters.group_commit.experiments.model import MEASURES, against_live
from engineroom.facts import group_commit
from engineroom.runs import Run


def run(figure, rows, method="live", **provenance):
    return Run(
        figure=figure, method=method, table=pd.DataFrame(rows), provenance={"fsync_us": 1000, **provenance}
    )


def crash_rows():
    return [
        {
            "series": "5.7.6", "durability": name, "crash": crash, "repeat": 0, "crashes": 10_000, "commits": 1,
            "lost": 0 if name == "1/1" else 50, "only_in_binlog": 20 if name == "2/1" else 0, "only_in_engine": 0,
            "crashes_with_loss": 0 if name == "1/1" else 2500,
        }
        for name in DURABILITIES
        for crash in ("power loss", "kill")
    ]  # fmt: skip


def test_a_setting_that_loses_nothing_says_never_and_another_the_share_of_its_crashes():
    risks = group_commit.Risks.of(run("own-gc-crashes", crash_rows(), "kernel"))
    assert (risks.durable_crashes, risks.fewest, risks.durable_lost) == (20_000, 10_000, 0)
    table = risks.table.rows.set_index("flush/sync")
    assert table.loc["1/1", "power loss: loses"] == "never"
    assert table.loc["2/1", "power loss: loses"] == "25 %"
    assert table.loc["2/1", "only in the binlog"] == "2"
    assert table.loc["1/0", "only in the binlog"] == "none"


def live_rows(factor=1.0):
    return [
        {
            "clients": n, "series": server, "setting": setting, "repeat": 0,
            "redo_fsyncs_per_commit": 1 / n, "binlog_fsyncs_per_commit": factor / n,
            "flush_groups_per_commit": 1 / n, "sync_groups_per_commit": 0.5 / n, "commit_groups_per_commit": 0.5 / n,
            "latency_ms_p50": 2.0 + n, "latency_ms_p99": 9.0, "cpu_us_per_commit": 300 / n,
            "transactions_per_second": 100.0 * n * (2 if "delay" in setting else 1),
        }
        for n in (1, 4, 64)
        for server in ("5.6", "9.7")
        for setting in ("1/1", "1/1, delay 5 ms", "2/1000")
    ]  # fmt: skip


def test_groups_are_one_over_acquisitions_and_the_gain_is_of_the_delay():
    live = group_commit.Live.of(run("own-gc-groups", live_rows()))
    assert live.clients == 64
    assert live.commits_per_sync_group_many == 128
    assert live.commits_per_flush_group_many == live.commits_per_flush_group_many_delayed == 64
    assert live.texts()["binlog_fsyncs_per_commit_one"] == "1.00"
    assert live.texts()["redo_fsyncs_per_commit_one"] == "1.00"
    assert live.binlog_fsyncs_per_commit_many_delayed == live.binlog_fsyncs_per_commit_many_new == 1 / 64
    assert live.commits_per_flush_group_relaxed == (64, 64)
    assert live.gain_delay_ratio == 2
    assert live.texts()["fsync_ms"] == "1 ms"
    assert live.table.rows.loc[0, "SYNC group"] == "128.0"


def test_the_model_is_judged_from_four_clients_on_the_worst_first():
    table = against_live(run("own-gc-groups", live_rows()), run("own-gc-groups", live_rows(1.5), "sim"))
    assert set(table["clients"]) == {4, 64}
    assert (
        len(table) == 2 * 3 * 2 * len(MEASURES) - table["live"].lt(0.01).sum() - 6
    )  # one of 64 is below the least
    assert math.isclose(table.loc[0, "off_percent"], 50)
    assert table.loc[0, "measure"] == "binlog_fsyncs_per_commit"
    model = group_commit.Model.of(
        run("own-gc-groups", live_rows()), run("own-gc-groups", live_rows(1.5), "sim")
    )
    assert model.within < model.compared


def gain_rows(columns):
    return [
        {
            "threads": n, "series": series, "repeat": 0, "transactions_per_second": 100.0 * n * gain,
            "redo_writes_per_transaction": 1 / gain, "fsyncs_per_transaction": 2 / gain,
        }
        for n in columns
        for series, gain in (("serialised", 1), ("original", 2), ("modified", 3))
    ]  # fmt: skip


def test_a_gain_is_the_modified_over_the_original():
    usual = run("tab-gc-1", gain_rows((32, 64, 128, 256)), "sim")
    halved = usual.table.assign(parameter="pause_ps", factor=0.5)
    slower = halved["transactions_per_second"].mask(halved["series"] == "modified", 1.0)
    raised = halved.assign(factor=1.5, transactions_per_second=slower)
    gain = group_commit.Gain.of(dataclasses.replace(usual, tables={"varied": pd.concat([halved, raised])}))
    assert gain.ratio[256] == pytest.approx(1.5)
    assert gain.published_ratio[32] == pytest.approx(1.055, abs=0.001)
    assert (gain.varied, gain.flips) == (2, 1)
    assert gain.varied_ratio == pytest.approx((1 / (100 * 256 * 2), 1.5))
    durable = group_commit.Durable.of(run("own-gc-durable", gain_rows((1, 256)), "sim"))
    assert durable.fsyncs_per_transaction_5_5[1] == 2
    assert durable.gain_over_5_5_ratio == 3
    assert durable.gain_before_ratio == pytest.approx(1.5)


def test_what_is_crashed_for_the_page_loses_nothing():
    crashed = group_commit.Crashed.now()
    assert crashed.crashes > 1000
    assert crashed.lost == 0
    assert crashed.prepared_and_committed > 0
