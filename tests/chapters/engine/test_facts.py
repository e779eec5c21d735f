"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from engineroom import show as figures
from engineroom.chapters.engine.experiments import hold_times, tpcc_beside
from engineroom.facts import engine as engine_facts
from engineroom.facts.engine import (
    Beside,
    BesideBefore,
    BinaryLog,
    BinaryLogBeside,
    BufferPool,
    Convoy,
    Demands,
    DemandsAgain,
    Held,
    HoldTimes,
    LatchOrder,
    NextQueue,
    Purge,
    Scheduler,
    Switches,
    TpccBeside,
    Varied,
    Warehouses,
    WhatIf,
)
from engineroom.runs import newest
from engineroom.simulating.variations import SEED

DURING = {"during": {"load_before": 2.0}}


def test_demands_are_summed_over_the_executions_of_a_transaction(made):
    columns = "series server load transaction statement per_transaction cpu_us lock_sys_acquisitions trx_sys_acquisitions mtrs redo_bytes executions cpu_us_iqr"
    rows = [
        (
            server,
            server,
            load,
            transaction,
            statement,
            n,
            50.0,
            locks * n,
            1.0,
            2.0,
            100.0,
            7 * n * len(load),
            5.0,
        )
        for server, locks in (("5.7.22", 1.0), ("9.7.4", 2.0))
        for load, transaction, statement, n in (
            ("sysbench_read_write", "read_write", "select_point", 10.0),
            ("sysbench_read_write", "read_write", "commit", 1.0),
            ("tpcc_1", "delivery", "commit", 1.0),
        )
    ]
    before = [
        ("9.7.4", "9.7.4", load, transaction, statement, us)
        for load, transaction, statement, us in (
            ("sysbench_read_write", "read_write", "select_point", 30.0),
            ("sysbench_read_write", "read_write", "commit", 80.0),
            ("tpcc_1", "delivery", "commit", 60.0),
            ("tpcc_1", "delivery", "asked by nobody now", 900.0),
        )
    ]
    told = Demands.of(
        made("own-demands", "live", columns, *rows, provenance=DURING),
        made("own-demands", "live", "series server load transaction statement cpu_us_least", *before),
    )
    assert (told.statements, told.others_load, told.apart_percent) == (3, 2.0, 10.0)
    # 380 us of 550 for SysBench, and 60 of 50 for TPC-C.
    assert (told.earlier_percent.least, told.earlier_percent.most) == pytest.approx((69.09, 120.0), abs=0.01)
    assert (told.read_write_executions, told.seldomest_executions) == (7 * 19, 7 * 6)
    # Ten executions of 10 acquisitions each, and a commit of 1; twice as many on the newer server.
    assert (told.old_lock_latches_per_transaction, told.new_lock_latches_per_transaction) == (101.0, 202.0)
    assert (told.old_trx_latches_per_transaction, told.new_trx_latches_per_transaction) == (11.0, 11.0)
    assert (told.old_cpu_us, told.new_cpu_us) == (550.0, 550.0)
    shown = told.table.rows.set_index("transaction")
    assert shown.index.tolist() == ["SysBench read-write", "Delivery"]
    assert shown.loc["SysBench read-write", "lock latches, 9.7.4"] == "202"
    assert shown.loc["SysBench read-write", "redo bytes, 5.7.22"] == "1,100"


def test_what_seldom_statements_leave_open_is_told_of_the_frequent_ones(made):
    columns = "series server load transaction statement cpu_us executions"

    def run(figure, *rows):
        return made(figure, "live", columns, *(("9.7.4", "9.7.4", *row) for row in rows), provenance=DURING)

    told = DemandsAgain.of(
        run(
            "own-demands",
            ("tpcc_1", "new_order", "commit", 100.0, 40),
            ("tpcc_1", "delivery", "commit", 100.0, 4),
            ("tpcc_1", "delivery", "never again", 1.0, 4),
            ("sysbench_read_write", "read_write", "commit", 7.0, 1),
        ),
        run(
            "own-demands-again",
            ("tpcc_1", "new_order", "commit", 80.0, 60_000),
            ("tpcc_1", "delivery", "commit", 200.0, 6),
        ),
    )
    assert (told.executions, told.others_load) == (10, 2.0)
    # 25 % and 100 %; the second one has too little of the time to be named.
    assert told.apart_percent == pytest.approx(62.5)
    assert told.most_apart_percent == pytest.approx(25.0)
    assert told.most_apart == "commit of new_order on 9.7.4"


def test_statements_with_ten_warehouses_are_told_over_those_with_one(made):
    columns = "series server load transaction statement cpu_us executions"

    def run(figure, load, *rows):
        return made(
            figure, "live", columns, *(("9.7.4", "9.7.4", load, *row) for row in rows), provenance=DURING
        )

    told = Warehouses.of(
        run("own-demands", "tpcc_1", ("new_order", "commit", 100.0, 40), ("delivery", "commit", 100.0, 4)),
        run(
            "own-demands-warehouses",
            "tpcc_10",
            ("new_order", "commit", 80.0, 60_000),
            ("delivery", "commit", 150.0, 6),
        ),
    )
    assert told.texts() == {
        "ratio": "1.15",
        "apart_percent": "37.5 %",
        "most_ratio": "0.80",
        "most": "commit of new_order on 9.7.4",
        "others_load": "2.0",
    }


def test_figures_with_latches_held_longer_are_judged_as_their_own_recordings_are(made):
    ways = ("as sampled", "half", "locks alone")
    own = newest("fig-7-07", "sim").table
    shards_stop = own.assign(
        **{y: own[y].where(own["series"] == "before", own[y] / 1000) for y in ("tps", "tpmC")}
    )
    tables = [(shards_stop if way == "as sampled" else own).assign(held=way) for way in ways]
    given = pd.DataFrame(
        [
            (server, part, ns)
            for server, times in (("5.7.22", (1700, 180, 230)), ("9.7.4", (1400, 260, 310)))
            for part, ns in zip(hold_times.PARTS, times, strict=True)
        ],
        columns=["server", "part", "added_ns"],
    )
    in_order = [own.assign(held=way) for way in ("in a server's order", "and as sampled")]
    told = Held.of(
        *(
            made(
                figure,
                "sim",
                "series held points",
                ("fig-7-07", "half", 1),
                tables={"given": given, "fig-7-07": pd.concat(each, ignore_index=True)},
            )
            for figure, each in (("own-engine-holds", tables), ("own-engine-order", in_order))
        )
    )
    assert told.order_changed == "none"
    assert told.order_told == "Of 2 expectations that we had written down, 2 came out."
    assert told.figures == 1
    assert (told.lock_us.least, told.redo_us.most, told.view_us.most) == (1.4, 0.26, 0.31)
    verdicts = told.table.rows.iloc[0]
    assert verdicts["half"] == verdicts["locks alone"] == verdicts["recorded"]
    assert verdicts["as sampled"] != verdicts["recorded"]
    assert told.changed == f"7-7 ({verdicts['recorded']} becomes {verdicts['as sampled']})"
    assert told.told.startswith("Of 3 expectations that we had written down, 1 came out")


def test_the_time_in_a_parts_functions_is_told_with_its_spread_beside_the_engines(made):
    parts = list(hold_times.PARTS)
    rows = [
        (series, "9.7.4", part, repeat, us, 500.0)
        for series, part, *all_us in (
            ("server", parts[0], 10.0, 12.0, 11.0),
            ("engine", parts[0], 6.0, 6.0, 6.0),
            ("server", parts[1], 40.0, 40.0, 40.0),
            ("engine", parts[1], 10.0, 10.0, 10.0),
        )
        for repeat, us in enumerate(all_us)
    ]
    told = HoldTimes.of(
        made("own-hold-times", "live", "series server part repeat cpu_us thread_cpu_us", *rows)
    )
    assert told.told.startswith(f"Of {len(parts)} expectations that we had written down, 1 came out")
    assert f"{parts[1]} within a factor of two" in told.told
    assert told.all_percent.least == told.all_percent.most == pytest.approx(10.2)
    assert told.engine_percent.least == pytest.approx(3.2)
    assert told.locks_percent.most == pytest.approx(100 * 6 / 11)
    shown = told.table.rows.set_index("part")
    assert shown.loc[parts[0], "server's"] == "11.0 (10.0 to 12.0)"
    assert shown.loc[parts[1], "engine's"] == "10.0"


def test_latches_that_come_again_at_once_are_one_line(made):
    columns = "series server statement position latch operation share"
    old, new = ["trx_mutex", "trx_mutex", "lock_mutex"], ["lock_sys_global_rw_lock"]
    rows = [
        (server, server, statement, place, latch, "lock", share)
        for server, latches, share in (("5.7.22", old, 0.5), ("9.7.4", new, 1.0))
        for statement in ("update_non_index", "commit")
        for place, latch in enumerate(latches, 1)
    ]
    engines = [
        (order, server, "commit", place, latch)
        for order, latches in (
            ("its own", ["lock_mutex", "log_reservation"]),
            ("a server's", ["trx_mutex", "lock_mutex"]),
        )
        for server in ("5.7.22", "9.7.4")
        for place, latch in enumerate(latches, 1)
    ]
    told = LatchOrder.of(
        made("own-latch-order", "live", columns, *rows),
        made("own-engine-latch-order", "sim", "series server statement position latch", *engines),
    )
    assert (told.compared, told.same, told.same_in_servers) == (2, 0, 2)
    assert told.beside.rows.iloc[0].to_dict() == {
        "statement": "commit",
        "version": "5.7.22",
        "stations of the server": "row locks",
        "of its engine": "row locks, redo",
    }
    assert (told.old_events, told.new_events) == (3, 1)
    assert (told.old_share_percent, told.new_share_percent) == (50.0, 100.0)
    assert told.table.rows.to_dict("list") == {
        "5.7.22": ["trx_mutex, 2 times", "lock_mutex"],
        "9.7.4": ["lock_sys_global_rw_lock", ""],
    }


def test_the_next_queue_is_the_latch_with_the_most_wait_and_no_event(made):
    latches = pd.DataFrame(
        [
            (300, series, repeat, latch, wait_us)
            for series, mutex, most_us in (
                ("original", "trx_sys_mutex", 12_000.0),
                ("patched", "log_sys_mutex", 450_000.0),
                ("new_redo", "trx_sys_mutex", 200.0),
            )
            for repeat in range(3)
            for latch, wait_us in (
                (mutex, most_us + repeat * 1000),
                ("lock_mutex", 5.0),
                ("lock_wait_event", 9e9),
            )
        ]
        + [(500, "original", 0, "lock_mutex", 9e9)],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    rows = [
        (300, "patched", 0, 0, 3.0),
        (300, "patched", 1, 1, 3.0),
        (300, "original", 0, 0, 60.0),
        (1000, "original", 0, 1, 40.0),
        (1000, "patched", 0, 1, 0.04),
    ]
    columns = "concurrency series repeat is_settled tps"
    told = NextQueue.of(made("fig-7-03", "sim", columns, *rows, tables={"latches": latches}))
    assert (told.clients, told.original_latch, told.original_wait_ms) == (300, "trx_sys_mutex", 13.0)
    assert (told.patched_latch, told.patched_wait_ms) == ("log_sys_mutex", 451.0)
    assert (told.new_redo_latch, told.new_redo_wait_ms) == ("trx_sys_mutex", 1.2)
    assert (told.unsettled_patched_runs, told.patched_runs) == (1, 3)
    assert told.told == "0.05 with 300 and 0.001 with 1,000"


def test_a_combination_is_measured_by_old_parts_with_as_many_clients(made):
    tps = {
        "none": (100.0, 50.0),
        "redo": (100.0, 20.0),
        "locks": (40.0, 75.0),
        "trx": (91.0, 50.0),
        "redo and locks and trx": (120.0, 200.0),
    }
    rows = [
        (clients, series, 0, tps[series][i], 4.0 if series == "locks" else 1.0 + 2 * i, i == 0)
        for i, clients in enumerate((50, 1000))
        for series in tps
    ]
    waits = [
        (1000, series, 0, latch, wait_us)
        for series in ("none", "redo and locks and trx")
        for latch, wait_us in (
            ("log_flush_events", 900.0),
            ("lock_mutex" if series == "none" else "trx_sys_mutex", 70.0),
            ("flush_list_mutex", 1.0),
        )
    ]
    latches = pd.DataFrame(waits, columns=["concurrency", "series", "repeat", "latch", "wait_us"])
    columns = "concurrency series repeat tps half_width_percent is_settled"
    told = Switches.of(made("own-engine-switches", "sim", columns, *rows, tables={"latches": latches}))
    assert (told.clients, told.runs, told.unsettled_runs) == (1000, 10, 5)
    assert (told.redo_alone_ratio, told.trx_alone_ratio, told.all_three_ratio, told.half_width_percent) == (
        0.4,
        1.0,
        4.0,
        3,
    )
    assert (told.redo_best_ratio, told.redo_best_clients) == (1.0, 50)
    # The redo log alone with many clients, the locks alone with few.
    assert (told.combinations, told.fallen, told.fallen_over_old_redo) == (4, 2, 1)
    assert (told.old_latch, told.new_latch) == ("lock_mutex", "trx_sys_mutex")


def test_a_convoy_is_told_with_the_most_clients_and_beside_what_would_be_otherwise(made):
    ways = {
        "as in 5.7": 600.0,
        "waking costs half": 9_000.0,
        "waking costs 1.5 times": 300.0,
        "waking is free": 50_000.0,
        "spins four times as long": 4_000.0,
    }
    rows = [
        (clients, series, 0, tps * (10 if clients == 150 else 1), clients / 10, clients / 4, clients / 5)
        for clients in (150, 300)
        for series, tps in ways.items()
    ]
    columns = "concurrency series repeat tps sleeps_per_mtr blocked_percent timed_out_percent"
    machine = {"pause_ps": 40_000, "wake_each_ps": 2_000_000}
    told = Convoy.of(made("own-log-convoy", "sim", columns, *rows, provenance={"machine": machine}))
    assert (told.clients, told.sleeps_per_mtr, told.blocked_percent, told.timed_out_percent) == (
        300,
        30,
        75,
        60,
    )
    assert (told.few_clients, told.few_blocked_percent, told.few_timed_out_percent) == (150, 37.5, 30)
    # 30 rounds of 0 to 300 pauses of 40 ns; waking costs 2 us.
    assert (told.spin_us, told.edge_clients) == (180, 90)
    assert (
        told.commits_per_s,
        told.half_wake_commits_per_s,
        told.dear_wake_commits_per_s,
        told.free_wake_commits_per_s,
    ) == (600, 9_000, 300, 50_000)
    assert told.longer_spin_commits_per_s == 4_000


def test_a_scheduler_is_told_with_the_fewest_clients_that_it_fails_and_by_the_range_of_the_new_log(made):
    first_come = {"old log": 800, "new log": 1000, "new log and latches": 3000}
    counted = {
        100: {"old log": 800, "new log": 1000, "new log and latches": 3000},
        300: {"old log": 40, "new log": 1010, "new log and latches": 2970},
        1000: {"old log": 200, "new log": 950, "new log and latches": 2700},
    }
    rows = [
        (clients, series, scheduler, 0, tps)
        for clients, of in counted.items()
        for series in of
        for scheduler, tps in (
            ("first come", first_come[series]),
            ("virtual run time", of[series]),
            ("nobody displaced", 0.99 * first_come[series]),
        )
    ]
    told = Scheduler.of(made("own-engine-scheduler", "sim", "concurrency series scheduler repeat tps", *rows))
    assert (told.clients, told.old_log_ratio, told.nobody_displaced_ratio) == (300, 0.05, 0.99)
    assert (told.new_log_least_ratio, told.new_log_most_ratio) == (0.9, 1.01)
    assert (told.counted_over_old_ratio, told.first_come_over_old_ratio) == (1010 / 40, 1.25)


def test_a_binary_log_is_told_with_the_most_clients_and_how_many_claims_hold(made):
    designs = {
        "off": 1000,
        "5.5": 150,
        "5.6": 700,
        "5.7.6": 900,
        "5.7.6, no order": 950,
        "5.7.6, not synced": 980,
    }
    rows = [
        (
            clients,
            series,
            0,
            tps if clients == 500 else 100,
            20.0 if clients == 500 else 1.0,
            clients / 250,
            50 / tps,
        )
        for clients in (1, 500)
        for series, tps in designs.items()
    ]
    leading = {
        "5.5": ("prepare_commit_mutex", "LOCK_log"),
        **dict.fromkeys(("5.6", "5.7.6"), ("COND_done", "LOCK_done")),
    }
    latches = pd.DataFrame(
        [
            (500, series, 0, latch, wait_us)
            for series, names in leading.items()
            for latch, wait_us in (
                *zip(names, (80_000.0, 2_000.0), strict=True),
                ("lock_wait_event", 99_000.0),
            )
        ]
        + [(500, "off", 0, "log_flush_events", 9_000.0), (500, "off", 0, "trx_sys_mutex", 3_000.0)]
        + [(500, "5.7.6", 0, "trx_sys_mutex", 800.0)],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    columns = "concurrency series repeat tps commits_per_group half_width_percent fsyncs"
    run = made("own-engine-binlog", "sim", columns, *rows, tables={"latches": latches})
    told = BinaryLog.of(run)
    assert (told.clients, told.serialised_ratio, told.stages_ratio, told.one_flush_ratio) == (
        500,
        0.15,
        0.7,
        0.9,
    )
    assert (told.no_order_ratio, told.not_synced_ratio, told.single_client_ratio) == (0.95, 0.98, 1.0)
    assert (told.serialised_wait_ms, told.told_wait_ms, told.told_mutex_wait_ms) == (80.0, 80.0, 2.0)
    assert (told.commits_per_group, told.half_width_percent) == (20.0, 2.0)
    assert (told.stages_fsyncs_per_transaction, told.one_flush_fsyncs_per_transaction) == (50 / 700, 50 / 900)
    assert (told.latch, told.off_wait_ms, told.one_flush_latch_wait_ms) == ("trx_sys_mutex", 3.0, 0.8)
    assert (told.claims, told.claims_held, told.failed) == (5, 5, "")
    # A 5.7.6 that is no faster than 5.6 is a claim that failed.
    slower = run.table.assign(tps=run.table["tps"].where(run.table["series"] != "5.6", 950))
    told = BinaryLog.of(replace(run, table=slower))
    assert (told.claims_held, told.failed) == (
        4,
        "This one did not: with the crowd, 5.7.6 has more throughput than 5.6.",
    )


def test_a_pool_is_told_where_all_pages_are_best_and_with_the_crowd(made):
    with_few = {"all": 100, "half": 80, "quarter": 70, "tenth": 50}
    with_some = {"all": 900, "half": 540, "quarter": 450, "tenth": 270, "tenth, disk in no time": 720}
    crowd = {
        "none": 410,
        "all": 400,
        "half": 360,
        "quarter": 300,
        "tenth": 100,
        "tenth, disk in no time": 390,
        "tenth, one mutex": 105,
    }
    rows = [
        (clients, series, 0, tps, 19.0 if series == "tenth" else 0.0, 20.0 if clients == 500 else 1.0)
        for clients, designs in ((1, with_few), (150, with_some), (500, crowd))
        for series, tps in designs.items()
    ]
    latches = pd.DataFrame(
        [
            (500, "all", 0, "trx_sys_mutex", 21_000.0),
            (500, "all", 0, "log_flush_events", 1_000.0),
            (500, "half", 0, "trx_sys_mutex", 500.0),
            (500, "half", 0, "innodb_data_file", 14_000.0),
            (500, "tenth", 0, "innodb_data_file", 28_000.0),
        ],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    columns = "concurrency series repeat tps pool_misses half_width_percent"
    run = made("own-engine-pool", "sim", columns, *rows, tables={"latches": latches})
    told = BufferPool.of(run)
    assert (told.clients, told.half_ratio, told.tenth_ratio, told.no_time_ratio) == (150, 0.6, 0.3, 0.8)
    assert (told.tenth_misses_per_transaction, told.single_client_ratio) == (19.0, 0.5)
    assert (told.crowd, told.crowd_share, told.crowd_ratio) == (500, "half", 0.9)
    assert told.fewer_clients_ratio == 2.25
    assert (told.all_latch, told.all_wait_ms, told.crowd_wait_ms) == ("trx_sys_mutex", 21.0, 0.5)
    assert (told.crowd_disk_wait_ms, told.half_width_percent) == (14.0, 20.0)
    assert (told.claims, told.claims_held) == (6, 6)
    # Half of the pages faster than all is a claim that failed.
    faster = run.table.assign(
        tps=run.table["tps"].mask((run.table["series"] == "half") & (run.table["concurrency"] == 500), 800)
    )
    assert BufferPool.of(replace(run, table=faster)).claims_held == 5
    is_tenth = (run.table["series"] == "tenth") & (run.table["concurrency"] == 500)
    told = BufferPool.of(replace(run, table=run.table.assign(tps=run.table["tps"].mask(is_tenth, 600))))
    assert (told.crowd_share, told.crowd_ratio) == ("a tenth", 1.5)
    assert (told.crowd_wait_ms, told.crowd_disk_wait_ms) == (0.0, 28.0)


def test_purge_is_told_with_the_most_clients_and_how_many_claims_hold(made):
    tps = {
        "5.6": (100, 400),
        "5.7": (100, 450),
        "8.0": (100, 900),
        "9.7": (100, 980),
        "5.7, views removed": (100, 460),
        "9.7, views removed": (100, 970),
    }
    rows = [
        (clients, series, 0, rate, removed, cpus, 40 * removed, 60.0, width)
        for series, of in tps.items()
        for clients, rate, removed, cpus, width in (
            (50, of[0], 0.98 if series == "5.6" else 1.0, 1.0, 9.0),
            (300, of[1], 0.5 if series == "9.7" else 0.96, 2.5, 4.0 if series == "5.7" else 2.0),
        )
    ]
    rows += [
        (clients, f"{series}, no purge", 0, rate, None, None, None, 60.0, 3.0)
        for series, of in (("5.6", 500), ("5.7", 500), ("8.0", 1000), ("9.7", 1000))
        for clients, rate in ((50, 100), (300, of))
    ]
    latches = pd.DataFrame(
        [(300, "5.7", 0, "trx_sys_mutex", 9.0), (300, "5.7, no purge", 0, "trx_sys_mutex", 8.0)],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    columns = (
        "concurrency series repeat tps purge_removed purge_cpus history_length window_ms half_width_percent"
    )
    run = made("own-engine-purge", "sim", columns, *rows, tables={"latches": latches})
    told = Purge.of(run)
    assert (told.few_clients, told.few_removed_percent, told.clients) == (50, 98.0, 300)
    assert (told.old_ratio, told.new_ratio, told.old_transactions_per_s, told.new_transactions_per_s) == (
        0.9,
        0.98,
        450,
        980,
    )
    assert (told.old_removed_percent, told.new_removed_percent) == (96.0, 50.0)
    assert (told.new_cpu_s_per_s, told.new_history, told.window_ms) == (2.5, 20, 60.0)
    assert told.half_width_percent == 4.0
    assert (told.claims, told.claims_held) == (9, 9)
    slower = run.table.assign(tps=run.table["tps"].mask(run.table["series"] == "5.7, views removed", 440))
    assert Purge.of(replace(run, table=slower)).claims_held == 8


@pytest.fixture
def binlog_run(made):
    """An engine that is 10 % too fast on one disk, with the server's order of waits."""
    rows = [
        (n, series, repeat, version, f"uniform, {disk}", 100 * n * factor, 0.5, 0.4 * factor)
        for n in (1, 64)
        for series, factor in (("server", 1.0), ("engine", 1.1 if n > 1 else 1.0))
        for version in ("5.7.22", "9.7.4")
        for disk in ("steady disk", "real disk")
        for repeat in range(2)
    ]
    latches = pd.DataFrame(
        [
            (64, series, 0, version, latch, wait_us)
            for series, waits in (("server", (900, 80, 7, 5)), ("engine", (500, 90, 0.1, None)))
            for version in ("5.7.22", "9.7.4")
            for latch, wait_us in zip(
                ("COND_done", "LOCK_log", "trx_sys_mutex", "fil_system_mutex"), waits, strict=True
            )
            if wait_us is not None
        ],
        columns=["clients", "series", "repeat", "server", "latch", "wait_us"],
    )
    columns = "clients series repeat server distribution tps redo_fsyncs binlog_fsyncs"
    about = {"provenance": {"fsync_us": 1000}, "tables": {"latches": latches}}
    return made("own-engine-live-binlog", "live", columns, *rows, **about)


def test_a_binary_log_beside_servers_is_told_once_it_is_recorded(binlog_run):
    told = BinaryLogBeside.of(binlog_run).told
    assert "takes 1 ms, throughput is off by 5 % in the median and 10 % at most, on 5.7.22 with 64" in told
    assert "0 % at most for the redo log and 10 % for the binary log" in told
    assert told.endswith("Of 7 expectations that we had written down, 7 came out.")
    assert BinaryLogBeside.of(binlog_run).waits.rows.to_dict("records")[:3:2] == [
        {"waits for": "COND_done", "server": "5.7.22", "its clients": "900 us", "the engine's": "500.0 us"},
        {"waits for": "trx_sys_mutex", "server": "5.7.22", "its clients": "7 us", "the engine's": "0.1 us"},
    ]
    # On the server the clients wait longest for what the engine hardly waits for.
    waits = binlog_run.tables["latches"]
    other = waits.assign(wait_us=waits["wait_us"].mask(waits["latch"] == "trx_sys_mutex", 9000))
    other.loc[other["series"] == "engine", "wait_us"] = waits["wait_us"]
    told = BinaryLogBeside.of(replace(binlog_run, tables={"latches": other})).told
    assert "Of 7 expectations that we had written down, 5 came out. These did not: what a server's" in told


def test_a_binary_log_beside_servers_is_drawn_with_a_panel_per_load_and_disk(binlog_run):
    module = figures.module_of("own-engine-live-binlog")
    table = module.rows(binlog_run)
    drawing = Figure()
    module.picture(table, drawing.add_subplot())
    assert [panel.get_title(loc="left") for panel in drawing.axes if panel.lines] == [
        "uniform, steady disk",
        "uniform, real disk",
    ]
    assert "1.00 to 1.10 times as fast as the server" in module.words(table).caption


def test_expectations_of_tpcc_beside_servers_are_judged_from_two_clients_on(made):
    columns = "server distribution clients series tps lock_waits_per_1000 deadlocks_per_1000 lock_wait_ms"
    rows = [
        ("9.7.4", "TPC-C, 1 warehouse", clients, series, 100.0 * factor, 10.0 * factor, 0.0, factor)
        for clients in (1, 2, 64)
        for series, factor in (("server", 1.0), ("engine", 3.0 if clients == 1 else 1.1))
    ]
    run = made("own-engine-tpcc", "live", columns, *rows)
    told = TpccBeside.of(run).told
    assert told.startswith("Throughput is off by 10 % in the median and 10 % at most")
    assert "There is no deadlock on either side." in told
    assert told.endswith("Of 5 expectations that we had written down, 5 came out.")
    assert [holds(run) for holds in tpcc_beside.CLAIMS.values()] == [True] * 5
    crowd = run.table["clients"] == 64
    far = run.table.assign(tps=run.table["tps"].mask(crowd & (run.table["series"] == "engine"), 500))
    assert [holds(replace(run, table=far)) for holds in tpcc_beside.CLAIMS.values()] == [
        *(False, False),
        *(True,) * 3,
    ]
    many = run.table.assign(deadlocks_per_1000=run.table["tps"].where(run.table["series"] == "engine", 0))
    assert [holds(replace(run, table=many)) for holds in tpcc_beside.CLAIMS.values()] == [
        *(True,) * 3,
        False,
        True,
    ], "the engine's deadlocks that no server has are a miss"
    told = TpccBeside.of(replace(run, table=many)).told
    assert told.startswith("Of 1,000 transactions up to 0 deadlock on the servers and 110 in the engine")
    both = run.table.assign(deadlocks_per_1000=run.table["tps"].where(run.table["series"] == "engine", 10.0))
    told = TpccBeside.of(replace(run, table=both)).told
    assert told.startswith("Deadlocks are off by a factor of 11.0 over 2 points")


@pytest.mark.parametrize("figure", ["own-engine-tpcc", "own-engine-tpcc-binlog"])
def test_tpcc_beside_servers_is_drawn_with_a_line_per_server(figure, made):
    rows = [
        (server, "TPC-C, 10 warehouses", clients, series, 0, 100.0 * clients**factor)
        for server in ("5.7.22", "9.7.4")
        for clients in (1, 2, 64)
        for series, factor in (("server", 0.5), ("engine", 0.6))
    ]
    run = made(figure, "live", "server distribution clients series repeat tps", *rows)
    module = figures.module_of(figure)
    table = module.rows(run)
    drawing = Figure()
    module.picture(table, drawing.add_subplot())
    (panel,) = [panel for panel in drawing.axes if panel.lines]
    assert panel.get_title(loc="left") == "TPC-C, 10 warehouses"
    assert "From two clients on it lies between 1.07 and 1.52" in module.words(table).caption


@pytest.fixture
def whatif_run(made):
    rows = [
        (n, series, 0, server, load, tps * factor, 90 * n, 105 * n, 2.0 if load == "counter" else 0.0)
        for n in (1, 64)
        for server in ("5.7.22", "9.7.4")
        for load, tps in (("shop", 100 * n), ("counter", 90 * n))
        for series, factor in (("server", 1.0), ("predicted", 1.25 if server == "5.7.22" else 1.05))
    ]
    columns = "clients series repeat server load tps lowest_tps highest_tps row_waiters"
    return made("own-whatif", "live", columns, *rows)


def test_what_if_is_told_and_drawn_once_it_is_recorded(whatif_run):
    told = WhatIf.of(whatif_run).told
    assert "off by 15 % in the median and 25 % at most, on 5.7.22 with 1 clients" in told
    assert "has 8 of 8 measured throughputs. Of 5 expectations that we had written down, 5 came out." in told
    module = figures.module_of("own-whatif")
    table = module.rows(whatif_run)
    drawing = Figure()
    module.picture(table, drawing.add_subplot())
    assert [panel.get_title(loc="left") for panel in drawing.axes if panel.lines] == ["shop", "counter"]
    assert "predicts 1.05 to 1.25 times the measured throughput" in module.words(table).caption


def test_an_engine_beside_its_server_is_told_without_the_single_client(made):
    def rows(clients, series, tps, waits, deadlocks):
        return [
            (clients, series, repeat, "5.7.22", "pareto", tps, waits, deadlocks, 1.0) for repeat in range(2)
        ]

    run = made(
        "own-engine-live",
        "live",
        "clients series repeat server distribution tps lock_waits_per_1000 deadlocks_per_1000 lock_wait_ms",
        *rows(1, "server", 100, 0, 0),
        *rows(1, "engine", 900, 0, 0),
        *rows(2, "server", 100, 10, 0),
        *rows(2, "engine", 90, 5, 0),
        *rows(8, "server", 100, 10, 3),
        *rows(8, "engine", 130, 20, 12),
    )
    seen = Beside.of(run)
    assert seen.throughput_off_percent == pytest.approx(20)
    assert (seen.farthest_percent, seen.farthest_server, seen.farthest_clients) == (
        pytest.approx(30),
        "5.7.22",
        8,
    )
    assert (seen.waits_ratio, seen.waits_points) == (pytest.approx(2), 2), "half and double are as far"
    assert (seen.waits_least_ratio, seen.waits_most_ratio, seen.fewest_waits_at) == (0.5, 2, "pareto")
    assert (seen.deadlocks_ratio, seen.deadlocks_points) == (pytest.approx(4), 1)
    assert seen.most_deadlocks_per_1000 == 3
    assert (seen.wait_time_ratio, seen.most_clients) == (pytest.approx(1), 8)
    assert BesideBefore.of(run).told == (
        "Throughput was off by 20 % in the median and 30 % at most, and waits for a row were 0.50 to 2.00 times the server's, "
        'the fewest under "pareto".'
    )


def test_varied_figures_are_told_with_the_runs_that_flip_them_and_the_others_by_name(made, monkeypatch):
    asked = []

    def moves(runs):
        asked.extend(run.figure for run in runs)
        rows = [("fig-7-01", "wake_ps", 0.5, True, -75.0), ("fig-7-01", "wake_ps", 1.5, False, 50.0)]
        rows += [("fig-7-01", SEED, 1.0, True, 900.0), ("fig-7-09", "wake_ps", 0.5, False, 20.0)]
        rows += [("fig-7-09", "wake_ps", 1.5, False, -100.0)]
        return pd.DataFrame(rows, columns=["figure", "parameter", "factor", "flips", "moved_percent"])

    monkeypatch.setattr(engine_facts.sensitivity, "sensitivity", moves)
    monkeypatch.setattr(engine_facts.sensitivity, "farthest", lambda found: found)
    with_machines = {"tables": {"varied": pd.DataFrame({"factor": [0.5]})}}
    one, other = (
        made(figure, "sim", "series", ("a",), **with_machines) for figure in ("fig-7-01", "fig-7-09")
    )
    bare, second = made("fig-7-03", "sim", "series", ("a",)), made("fig-7-07", "sim", "series", ("a",))
    every = "Each number of machine and load was tried at half and at one and a half of its value, by one seed. Another verdict comes "
    both = (
        "for 7-1 from 1 of 2 such runs (and 1 of 1 other seeds of the usual machine), and a ratio moves by a factor of up to 4.0; "
        "for 7-9 from none of 2 such runs, and a ratio moves by a factor of up to 1.2, and to nothing in 1."
    )
    assert Varied.of([one, bare, second, other]).told == f"{every}{both} 7-3 and 7-7 were not varied."
    assert asked == ["fig-7-01", "fig-7-09"]
    assert Varied.of([one, other]).told == f"{every}{both}"
    assert Varied.of([bare]).told == "7-3 was not varied."
