"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engineroom.facts.trx_sys import Compared, Crowd, Falls, Snapshot, Statements


def test_statements_are_told_by_latch_and_where_the_kernel_differs(made):
    columns = "series has_binlog level statement repeat mutex serialisation shards kernel_mutex kernel_serialisation kernel_shards"
    rows = [
        (series, 0, level, statement, 0, *counts, *counts)
        for level in ("REPEATABLE READ", "READ COMMITTED")
        for series, update in (
            ("5.6", (4, 0, 0)),
            ("5.7", (4, 0, 0)),
            ("8.0", (3, 0, 0)),
            ("9.7", (2, 2, 2)),
        )
        for statement, counts in (
            ("update", update),
            ("two_selects", (1 if level == "REPEATABLE READ" else 4, 0, 0)),
        )
    ]
    with_binlog = ("9.7", 1, "REPEATABLE READ", "update", 0, 3.0, 2.0, 2.0, 2, 2, 2)
    told = Statements.of(made("own-read-views-statements", "live", columns, *rows, with_binlog))
    assert (told.counts, told.differing) == (51, 1)
    assert (told.update_mutex_5_7, told.update_mutex_9_7, told.update_total_9_7) == (4, 2, 6)
    assert (told.two_selects_rr, told.two_selects_rc) == (1, 4)
    assert told.table.rows.iloc[0].to_dict() == {
        "statement": "update",
        "level": "REPEATABLE READ",
        "5.6": "4",
        "5.7": "4",
        "8.0": "3",
        "9.7": "2 + 2 + 2",
    }


def compared(made):
    rows = [
        (n, series, repeat, rate, 4.0, 1.5, 1)
        for series, rates in (("before", {200: 1000, 300: 1500}), ("after", {200: 1000, 300: 1200}))
        for n, rate in rates.items()
        for repeat in (0, 1)
    ]
    waits = pd.DataFrame(
        [
            (300, "before", 0, "trx_sys_mutex", 9.0, 90.0),
            (300, "before", 1, "trx_sys_mutex", 9.0, 110.0),
            (300, "after", 0, "trx_sys_mutex", 9.0, 95.0),
            (300, "after", 0, "trx_sys_serialisation_mutex", 0.1, 0.5),
            (300, "after", 0, "trx_sys_shard_mutex", 0.1, 0.2),
            (300, "after", 0, "log_flush_events", 1.0, 200.0),
            (200, "after", 0, "log_flush_events", 1.0, 999.0),
        ],
        columns=["concurrency", "series", "repeat", "latch", "waits", "wait_us"],
    )
    machine = {"sockets": 2, "cores_per_socket": 3, "threads_per_core": 2, "copy_ps_per_kib": 102_400}
    return made(
        "fig-7-09",
        "sim",
        "concurrency series repeat tpmC latency_ms half_width_percent is_settled",
        *rows,
        tables={"latches": waits},
        provenance={"machine": machine},
    )


def test_two_designs_are_compared_by_throughput_and_by_what_the_largest_crowd_waits_for(made):
    told = Compared.of(compared(made))
    assert told.ratio == (0.8, 1.0)
    assert told.published_ratio == pytest.approx((1.047, 1.610), abs=0.001)
    assert (told.runs, told.settled_runs, told.half_width_percent) == (8, 8, 1.5)
    assert (told.before_mutex_us, told.after_mutex_us) == ((90, 110), (95, 95))
    assert (told.after_serialisation_us, told.after_flush_us) == (0.5, 200)
    assert told.share_percent == pytest.approx(2.5)
    assert told.bound_ratio == pytest.approx(1 / 0.975)
    assert told.crowd_ratio == 0.8
    assert told.told == "Throughput is 0.8 times with 300 clients; every other difference is noise"
    assert (told.before_fall_percent, told.after_fall_percent) == (0, 0)


def test_a_difference_within_the_noise_of_both_designs_is_not_told(made):
    run = compared(made)
    wide = replace(run, table=run.table.assign(half_width_percent=12.0))  # together a quarter
    assert Compared.of(wide).told == "No difference is more than the noise"
    lower = run.table.assign(tpmC=run.table["tpmC"].where(run.table["concurrency"] == 200, 500.0))
    told = Compared.of(replace(run, table=lower))
    assert (told.before_fall_percent, told.after_fall_percent) == (50, 50)
    assert told.told == "No difference is more than the noise"
    both = run.table["tpmC"].where(run.table["series"] == "before", 2000.0)
    assert Compared.of(replace(run, table=run.table.assign(tpmC=both))).told == (
        "Throughput is 2.0 times with 200 clients and 1.3 times with 300 clients"
    )


def test_a_crowd_of_shards_is_told_with_its_growth_and_the_published_one(made):
    told = Crowd.of(compared(made))
    assert (told.clients, told.shard_us) == (300, 0.2)
    assert told.growth_percent == pytest.approx(20)
    assert told.published_growth_percent == pytest.approx(-33.7, abs=0.1)


def test_a_snapshot_copies_eight_bytes_for_each_active_id(made):
    told = Snapshot.of(compared(made))
    assert (told.ids, told.bytes, told.hardware_threads) == (300, 2400, 12)
    assert told.copy_ns == pytest.approx(240)


def test_each_varied_machine_that_falls_is_told_with_the_clients_of_both_designs(made):
    def told(**lines):
        rows = [
            {"series": series, "repeat": 0, "concurrency": n, "tps": tps, "parameter": name, "factor": 1.5}
            for name, both in lines.items()
            for series, line in zip(("before", "after"), both, strict=True)
            for n, tps in zip((200, 250, 300), line, strict=True)
        ]
        tables = {"varied": pd.DataFrame(rows)}
        return Falls.of(made("fig-7-09", "sim", "series", ("before",), tables=tables)).told

    level, early, late = (40.0, 41.0, 21.0), (40.0, 18.0, 18.0), (40.0, 45.0, 20.0)
    tried = "machines and loads that differ in one number, by one seed each. Throughput loses half on"
    assert told(load_ps=(early, late), pause_ps=(level, late), wake_ps=(level, level)) == (
        f"We also tried 3 {tried} 2: load_ps at 1.5 of its value (beyond 200 clients without shards, beyond 250 clients with them) and "
        "pause_ps at 1.5 of its value (never without shards, beyond 250 clients with them)."
    )
    assert "1: load_ps at 1.5 of its value (beyond 250 clients, with shards and without)." in told(
        load_ps=(late, late)
    )
    assert told(wake_ps=(level, level)) == f"We also tried 1 {tried} none."
    assert (
        Falls.of(made("fig-7-09", "sim", "series", ("before",))).told
        == "With these demands no other machine was tried."
    )
