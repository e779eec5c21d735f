"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

import pandas as pd

from engineroom.facts import lock_sys
from engineroom.facts.lock_sys import (
    Checked,
    Conflicts,
    Counted,
    DeadlockLog,
    HeldLonger,
    Latches,
    NextQueue,
    OnThreads,
    Predicted,
    Price,
    two_digits,
)


def test_what_readers_predict_is_asked_of_the_kernel():
    seen = Predicted.now()
    assert (seen.behind_the_range_5_7, seen.behind_the_range_9_7) == ("waits", "ok")
    assert (seen.objects_after_insert, seen.objects_when_asked) == (0, 1)
    assert (seen.freed_5_7, seen.freed_9_7) == ("B", "B and D")


def test_one_row_takes_three_latches_in_5_7_and_seven_in_9_7():
    price = Price.now()
    assert (price.latches_5_7, price.latches_9_7) == (3, 7)


def test_random_runs_without_a_mistake_break_nothing():
    checked = Checked.now()
    assert checked.runs == 3 * lock_sys.RANDOM_RUNS
    assert checked.waits > 0
    assert checked.deadlocks > 0
    assert checked.broken == 0


def test_a_gain_is_over_the_mutex_with_the_most_clients(made):
    rates = {
        "one_mutex": (10, 40, 20),
        "sharded": (9, 80, 200),
        "sharded_one_shard": (9, 30, 10),
        "sharded_one_part": (9, 5, 4),
    }
    run = made(
        "own-lock-latches",
        "sim",
        "series clients repeat row_locks_per_second latches_per_transaction",
        *[
            (series, clients, 0, rate, 12 if series == "one_mutex" else 36)
            for series, each in rates.items()
            for clients, rate in zip((1, 16, 64), each, strict=True)
        ],
    )
    seen = Latches.of(run)
    assert (seen.clients, seen.gain_ratio, seen.one_shard_ratio, seen.one_part_ratio) == (64, 10, 0.5, 0.2)
    assert (seen.mutex_best_per_s, seen.mutex_best_clients, seen.mutex_many_per_s) == (40, 16, 20)
    assert seen.latches_ratio == 3


def test_latches_of_a_server_are_counted_over_the_statements_of_a_transaction(made):
    rows = [
        ("5.7.22", "sysbench_read_write", "lock_mutex", 4.0),
        ("5.7.22", "sysbench_read_write", "lock_mutex", 1.5),
        ("5.7.22", "sysbench_read_write", "trx_mutex", 9.0),
        ("5.7.22", "tpcc_1", "lock_mutex", 50.0),
        ("9.7.4", "sysbench_read_write", "lock_sys_page_mutex", 6.0),
        ("9.7.4", "sysbench_read_write", "lock_sys_global_rw_lock", 5.0),
    ]
    latches = pd.DataFrame(rows, columns=["series", "load", "latch", "acquisitions"])
    seen = Counted.of(made("own-demands", "live", "series x", ("5.7.22", 1), tables={"latches": latches}))
    assert (seen.latches_per_transaction_5_7, seen.latches_per_transaction_9_7) == (5.5, 11)


def test_a_rate_is_printed_to_two_digits():
    assert two_digits(2_599_500) == "2,600,000"
    assert two_digits(371_786) == "370,000"


def test_a_script_that_differs_is_told_up_to_its_statement(made):
    rows = [
        (number, "9.7", 4, 2, 10, int(number != 3), "+lock" if number == 3 else "", "", "9.7.4")
        for number in range(5)
    ]
    script = next(iter(lock_sys.scripts(4, seed=1)))
    rows[3] = (*rows[3][:7], f"{script.statements[1].session}: {script.statements[1].sql('t')}", "9.7.4")
    rows = [(0 if row[0] == 3 else row[0] + 10, *row[1:]) for row in rows]
    run = made(
        "own-lock-conflicts",
        "live",
        "script series statements waits locks equal difference sql server",
        *rows,
        provenance={"scripts": 5, "seed": 1},
    )
    seen = Conflicts.of([run])
    assert (seen.compared, seen.equal, seen.statements, seen.waits, seen.locks) == (5, 4, 20, 10, 50)
    assert seen.servers == "9.7.4"
    ((_, _, told, difference),) = seen.different.rows.itertuples(index=False)
    assert difference == "+lock"
    assert told.splitlines()[-1].endswith(script.statements[1].sql("t"))


def test_the_cost_of_telling_is_of_the_newest_server_and_lines_are_of_all(made):
    rows = [
        (
            setting,
            server,
            server,
            repeat,
            lines * (setting == "on"),
            60 * lines * (setting == "on"),
            cpu * (1 + (setting == "on")),
        )
        for server, lines, cpu in (("5.7.22", 51, 600), ("9.7.4", 46, 250), ("8.0.15", 37, 500))
        for setting in ("off", "on")
        for repeat in (0, 1)
    ]
    run = made(
        "fig-7-16", "live", "innodb_print_all_deadlocks series server repeat lines bytes teller_cpu_us", *rows
    )
    seen = DeadlockLog.of(run)
    assert seen.texts() == {
        "lines_per_deadlock": "37 to 51 lines",
        "bytes_per_deadlock": "2,220 to 3,060 bytes",
        "teller_added_us": "250 us",
    }


def test_the_next_queue_is_the_longest_wait_for_a_latch_behind_the_mutex(made):
    latches = pd.DataFrame(
        [
            (300, series, 0, latch, us)
            for series, waits in (("before", (12_000, 40, 600)), ("after", (0, 160, 200)))
            for latch, us in zip(("lock_mutex", "trx_sys_mutex", "log_flush_events"), waits, strict=True)
        ]
        + [(50, "before", 0, "lock_mutex", 9e9)],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    rows = [
        (
            n,
            series,
            0,
            int(n < 250 or series == "after"),
            {50: 10.0, 250: 40.0, 300: 30.0 if series == "after" else 8.0}[n],
        )
        for n in (50, 250, 300)
        for series in ("before", "after")
    ]
    told = NextQueue.of(
        made(
            "fig-7-07", "sim", "concurrency series repeat is_settled tpmC", *rows, tables={"latches": latches}
        )
    )
    assert (told.clients, told.mutex_wait_ms) == (300, 12.0)
    assert (told.shards_latch, told.shards_wait_ms, told.flush_wait_ms) == ("trx_sys_mutex", 0.16, 0.2)
    assert (told.mutex_runs, told.unsettled_mutex_runs) == (1, 1)
    assert (told.mutex_fall_percent, told.shards_fall_percent, told.shards_best_clients) == (80, 25, 250)


def test_the_gain_of_shards_is_told_where_the_published_one_begins(made):
    own = made(
        "fig-7-07",
        "sim",
        "concurrency series repeat tpmC",
        *(
            (n, series, 0, 2.0 if series == "after" else 1.6)
            for n in (100, 150)
            for series in ("before", "after")
        ),
    )
    sampled = own.table.assign(held="as sampled", tpmC=[1.0, 2.0, 0.9, 2.7])
    half = own.table.assign(held="half", tpmC=1.0)
    held = made(
        "own-engine-holds",
        "sim",
        "series held",
        ("fig-7-07", "half"),
        tables={"fig-7-07": pd.concat([half, sampled])},
    )
    assert HeldLonger.of(own, held).texts() == {
        "clients": "150",
        "ratio": "1.25",
        "sampled_ratio": "3.00",
        "published_ratio": "1.57",
        "fewer": "100",
        "sampled_mutex_percent": "-10 %",
        "sampled_shards_percent": "+35 %",
        "published_mutex_percent": "-62 %",
        "published_shards_percent": "-40 %",
    }


def test_a_second_thread_is_told_by_locks_per_second_over_those_of_one(made):
    def lock(per_s, cpu_ns):
        return {"per_s": per_s, "cpu_ns": cpu_ns}

    locks = {
        "one mutex, 1 thread(s)": lock(100, 200),
        "one mutex, 2 thread(s)": lock(80, 500),
        "shards, 1 thread(s)": lock(50, 400),
        "shards, 2 thread(s)": lock(90, 440),
    }
    run = made("own-bench-lock-sys", "kernel", "series repeat", ("x", 0), provenance={"of a row lock": locks})
    told = OnThreads.of(run)
    assert (told.mutex_cpu_ns, told.shards_cpu_ns) == (200, 400)
    assert (told.mutex_ratio, told.shards_ratio) == (0.8, 1.8)
