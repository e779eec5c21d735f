"""What the engine's page computes, on rows made by hand, and which expectations a changed recording has."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engineroom.chapters.engine import numbers
from engineroom.runs import Run
from engineroom.validation.experiments import holds

NEW = "9.7.4"


def run(figure, method, columns, *rows, **tables):
    return Run(figure, method, pd.DataFrame(rows, columns=columns.split()), {}, tables)


def test_a_combination_is_measured_by_old_parts_with_as_many_clients_and_its_longest_wait_is_for_a_latch():
    tps = {"none": (100.0, 50.0), "redo": (100.0, 20.0)}
    rows = [(n, series, tps[series][i], i + len(series)) for i, n in enumerate((50, 1000)) for series in tps]
    waits = [
        (1000, "none", "log_flush_events", 900.0),
        (1000, "none", "lock_mutex", 70.0),
        (1000, "none", "lock_sys_global_rw_lock", 1.0),
        (1000, "redo", "trx_sys_mutex", 2000.0),
        (50, "none", "lock_sys_global_rw_lock", 9e9),
    ]
    latches = pd.DataFrame(waits, columns=["concurrency", "series", "latch", "wait_us"])
    made = run("f", "sim", "concurrency series tps half_width_percent", *rows, latches=latches)
    assert numbers.over(made, "none").to_dict() == {
        ("none", 50): 1.0,
        ("none", 1000): 1.0,
        ("redo", 50): 1.0,
        ("redo", 1000): 0.4,
    }
    assert numbers.longest_waits(made, 1000, "redo", "none") == ["trx_sys_mutex", "lock_mutex"]
    assert numbers.waits_ms(made, 1000)["redo", "trx_sys_mutex"] == 2
    assert numbers.half_width_percent(made, 50) == 4
    made.table.loc[0, "half_width_percent"] = 9
    assert numbers.half_width_percent(made, 50, "redo") == 4


def test_what_engines_computed_for_before_is_weighted_by_what_a_transaction_asks_now():
    columns = ["server", "load", "transaction", "statement"]
    now = [("select_point", 10.0, 50.0), ("commit", 1.0, 50.0)]
    before = [("select_point", 30.0), ("commit", 80.0), ("asked by nobody now", 900.0)]
    where = (NEW, "sysbench_read_write", "read_write")
    percent = numbers.earlier_percent(
        pd.DataFrame([(*where, *row) for row in now], columns=[*columns, "per_transaction", "cpu_us"]),
        pd.DataFrame([(*where, *row) for row in before], columns=[*columns, "cpu_us_least"]),
    )
    assert percent.to_list() == [pytest.approx(100 * 380 / 550)]


def test_a_statement_that_is_measured_again_is_the_farthest_only_if_it_has_a_hundredth_of_the_time():
    columns = ["server", "transaction", "statement", "cpu_us", "executions"]
    first = [("new_order", "commit", 100.0, 40), ("delivery", "commit", 100.0, 4)]
    again = [("new_order", "commit", 80.0, 60_000), ("delivery", "commit", 200.0, 6)]
    found = numbers.measured_again(
        *(pd.DataFrame([(NEW, *row) for row in rows], columns=columns) for rows in (first, again))
    )
    assert found["ratio"].to_dict() == {
        (NEW, "new_order", "commit"): 0.8,
        (NEW, "delivery", "commit"): 2.0,
    }
    assert found["off"].to_list() == pytest.approx([0.25, 1.0])
    assert numbers.farthest(found) == (NEW, "new_order", "commit")


def test_the_time_in_a_parts_functions_is_shown_with_its_spread_beside_the_engines():
    part = next(iter(holds.PARTS))
    rows = [("server", NEW, part, us) for us in (10.0, 12.0, 11.0)] + [("engine", NEW, part, 6.0)]
    shown = numbers.hold_times_table(run("own-hold-times", "live", "series server part cpu_us", *rows)).rows
    assert shown.to_dict("records") == [
        {"part": part, "server": NEW, "server's": "11.0 (10.0 to 12.0)", "engine's": "6.0"}
    ]


def test_latches_that_come_again_at_once_are_one_line():
    latches = pd.Series(["trx_mutex", "trx_mutex", "lock_mutex", "trx_mutex"])
    assert numbers.together(latches) == ["trx_mutex, 2 times", "lock_mutex", "trx_mutex"]


def test_an_engine_is_beside_its_server_without_the_single_client():
    columns = "clients series server distribution tps lock_waits_per_1000 deadlocks_per_1000 lock_wait_ms"
    rows = [
        (1, "server", 100, 0, 0),
        (1, "engine", 900, 0, 0),
        (2, "server", 100, 10, 0),
        (2, "engine", 90, 5, 0),
        (8, "server", 100, 10, 3),
        (8, "engine", 130, 20, 12),
    ]
    made = run(
        "own-engine-live", "live", columns, *((n, of, NEW, "pareto", *row, 1.0) for n, of, *row in rows)
    )
    seen = numbers.beside(made)
    assert numbers.off_percent(seen["throughput"]).to_list() == pytest.approx([30, 10])
    assert numbers.either_way(seen["lock_waits"]) == pytest.approx(2), "half and double are as far"
    assert (seen["deadlocks"].count(), numbers.either_way(seen["deadlocks"])) == (1, pytest.approx(4))


def test_a_busy_run_decides_no_expectation():
    assert numbers.demands_again.why_busy
    assert numbers.came_out(numbers.demands_again) == []


@pytest.mark.parametrize(
    ("of", "series", "column", "factor", "other"),
    [
        (numbers.binlog, "5.5", "tps", 0.1, [0]),
        (numbers.binlog, "5.6", "tps", 0.9, [1]),
        (numbers.binlog, "off", "tps", 3, [0, 2]),
        (numbers.binlog, "5.7.6", "tps", 0.9, [4]),
        (numbers.pool, "none", "tps", 2, [0]),
        (numbers.pool, "all", "tps", 3, [3]),
        (numbers.pool, "tenth, one mutex", "tps", 2, [5]),
        (numbers.purge, "9.7", "tps", 0.8, [0, 1, 2, 8]),
        (numbers.purge, "5.7", "tps", 0.8, [0, 7]),
        (numbers.purge, "9.7", "purge_removed", 3, [4]),
        (numbers.purge, "9.7", "purge_cpus", 100, [5]),
        (numbers.tpcc, "engine", "tps", 2, [0, 1]),
        (numbers.tpcc, "engine", "lock_waits_per_1000", 3, [2]),
        (numbers.tpcc, "engine", "lock_wait_ms", 3, [4]),
        (numbers.whatif, "predicted", "tps", 1.2, [0, 1]),
        (numbers.whatif, "predicted", "highest_tps", 3, [2]),
        (numbers.hold_times, "engine", "cpu_us", 4, [2]),
    ],
)
def test_what_a_recording_is_expected_to_have_hangs_on_its_rows(of, series, column, factor, other):
    table = of.table.assign(
        **{column: of.table[column].mask(of.table["series"] == series, of.table[column] * factor)}
    )
    before, after = numbers.came_out(of), numbers.came_out(replace(of, table=table))
    assert [at for at, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == other


@pytest.mark.parametrize(
    ("of", "expected"), [(numbers.live_binlog, 7), (numbers.tpcc, 5), (numbers.hold_times, 3)]
)
def test_an_engine_that_is_as_its_server_has_all_that_was_expected(of, expected):
    def as_server(table):
        servers = table[table["series"] == "server"]
        return pd.concat([servers, servers.assign(series="engine")], ignore_index=True)

    tables = {name: as_server(table) for name, table in of.tables.items()}
    same = replace(of, table=as_server(of.table), tables=tables)
    assert numbers.came_out(same) == [True] * expected


def test_deadlocks_of_an_engine_that_no_server_has_are_a_miss():
    deadlocks = (numbers.tpcc.table["series"] == "engine") * 10.0
    alone = replace(numbers.tpcc, table=numbers.tpcc.table.assign(deadlocks_per_1000=deadlocks))
    assert numbers.came_out(alone) == [True, True, True, False, True]


def test_waits_that_only_servers_have_are_not_among_the_engines_longest():
    waits = numbers.live_binlog.tables["latches"]
    longer = (waits["series"] == "server") & waits["latch"].isin(["LOCK_sync", "LOCK_commit"])
    latches = waits.assign(wait_us=waits["wait_us"].mask(longer, 9e6))
    other = replace(numbers.live_binlog, tables={"latches": latches})
    assert numbers.came_out(numbers.live_binlog)[5:] == [True, True]
    assert numbers.came_out(other)[5:] == [False, False]
    of_engine = waits[(waits["series"] == "engine") & (waits["server"] == "5.7.22")]
    engines = of_engine.groupby("latch")["wait_us"].median()
    assert numbers.waits_table(other).rows.iloc[0].to_dict() == {
        "waits for": "LOCK_commit",
        "server": "5.7.22",
        "its clients": "9,000,000 us",
        "the engine's": f"{engines['LOCK_commit']:.1f} us",
    }
