"""Engines beside live servers: how rows are paired, what engines are given, and small runs on live servers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engineroom import paths, runs
from engineroom.errors import EngineRoomError
from engineroom.simulating import engine
from engineroom.validation import predicted
from engineroom.validation.experiments import (
    beside,
    hash_index,
    holds,
    latch_order,
    published,
    sixteen,
    whatif,
)
from engineroom.validation.experiments.beside import HELD_OUT, LOADS, SERVERS, Rows, factors, with_client
from engineroom.validation.experiments.latch_order import most_common
from engineroom.validation.sixteen import factors as factors_of_crowd

KEY = ("t", "update")
SHORT = {"first_ms": 100, "longest_ms": 100, "warmup_ms": 50}


def test_the_sequence_that_comes_most_often_is_shown_with_its_share():
    short, long = (
        (("trx_sys_mutex", "lock"),),
        (("lock_mutex", "lock"), ("index_tree_rw_lock", "shared_lock")),
    )
    rows = list(most_common({KEY: Counter({short: 1, long: 3})}))
    assert [(row["position"], row["latch"], row["operation"]) for row in rows] == [
        (1, "lock_mutex", "lock"),
        (2, "index_tree_rw_lock", "shared_lock"),
    ]
    assert {(row["statement"], row["share"], row["executions"]) for row in rows} == {("update", 0.75, 4)}


@pytest.mark.parametrize(
    ("part", "mangled"),
    [
        ("row and table locks", "_Z10lock_tablemP12dict_table_t9lock_modeP9que_thr_t"),
        ("row and table locks", "_Z36lock_clust_rec_modify_check_and_lockmPK11buf_block_tPKhP12dict_index_t"),
        ("mini-transactions with redo", "_ZN5mtr_t7Command7executeEv"),
        ("mini-transactions with redo", "_Z16log_buffer_writeR5log_tPKhmm"),
        ("views and letting locks go", "_ZN4MVCC9view_openERP8ReadViewP5trx_t"),
        (None, "_Z16lock_table_namesP3THDP9Table_ref"),
        (None, "_Z24log_buffer_flush_to_diskR5log_tb"),
        (None, "_ZN4MVCC17clone_oldest_viewEP8ReadView"),
    ],
)
def test_a_function_is_found_by_its_whole_name(part, mangled):
    found = [name for name, functions in holds.PARTS.items() if functions.search(mangled)]
    assert found == ([part] if part else [])


@pytest.mark.live
def test_what_a_session_does_under_latches_is_a_part_of_its_time_on_9_7():
    try:
        run = holds.hold_times_live(
            versions=["9.7.4"], seconds=4, repeats=1, load=Rows(table_rows=1_000), window=SHORT
        )
    except EngineRoomError as error:
        if "cannot be sampled" in str(error):
            pytest.skip(str(error))
        raise
    rows = run.table.set_index(["series", "part"]).sort_index()
    assert (rows.loc["server", "transactions"] > 50).all()
    # Some three of a thousand samples are in each part.
    assert rows.loc["server", "samples"].sum() > 0
    assert (rows.loc["engine", "cpu_us"] > 0).all()
    assert (rows.groupby("series")["cpu_us"].sum() < rows.groupby("series")["thread_cpu_us"].max()).all()


def test_an_engine_in_a_servers_order_visits_the_stations_as_the_servers_do():
    sim, live = latch_order.latch_order_sim(), runs.newest("own-latch-order", "live")
    both = latch_order.beside_engines(live, sim)
    assert len(both) == len(latch_order.STATEMENTS) * len(SERVERS)
    own, servers = latch_order.ORDERS
    for each in both:
        assert each["server"] == each[servers], f"{each['statement']} on {each['version']}"
    # Without more than one piece of redo there is one order.
    same = {each["statement"] for each in both if each["server"] == each[own]}
    assert same == {"select_point", "update_non_index"}


def test_stations_are_told_from_latches_that_the_engine_has_not():
    latches = [
        "trx_mutex",
        "lock_mutex",
        "lock_mutex",
        "fil_system_mutex",
        "log_sys_mutex",
        "trx_sys_shard_mutex",
    ]
    assert latch_order.stations(latches) == ["row locks", "redo", "transactions"]
    assert latch_order.stations(["log_flush_order_mutex", "lock_sys_page_mutex_of_nobody"]) == ["row locks"]
    assert latch_order.stations([]) == []


def test_an_engine_is_given_the_time_by_which_its_server_is_longer_under_its_latches():
    run = holds.held_sim()
    assert run.provenance["sampled_in_recording"] == list(holds.SAMPLED)
    assert len(run.table) == 3 * len(SERVERS)
    assert (run.table["held_ns"] >= 10).all()
    known = run.table.dropna(subset=["with_us"])
    assert len(known) == 2 * len(SERVERS)
    assert (known["without_us"] < known["server_us"]).all()
    # With what it was given an engine is there as long as its server.
    assert known["with_us"].to_numpy() == pytest.approx(known["server_us"].to_numpy(), rel=0.02)


def test_engines_of_the_sources_server_hold_their_latches_as_long_as_a_server_does():
    table = runs.newest("own-engine-holds", "sim").table.set_index(["series", "engine_part"])["held_ns"]
    found = engine.holds()
    assert found["locks"]["9.7"] == {"create_ns": table["9.7.4", "locks"]}
    assert found["log"]["5.7"] == {"reserve_ns": table["5.7.22", "log"]}
    assert found["trx_sys"]["8.0, split"] == found["trx_sys"]["8.0, sharded"]


@pytest.mark.live
def test_an_update_latches_its_table_before_its_row_on_9_7():
    run = latch_order.latch_order_live(versions=["9.7"], transactions=5, statements=["update_index"])
    taken = run.table["latch"].tolist()
    assert run.table["position"].tolist() == list(range(1, len(taken) + 1))
    table, page = taken.index("lock_sys_table_mutex"), taken.index("lock_sys_page_mutex")
    assert table < page
    assert taken[table - 1] == taken[page - 1] == "lock_sys_global_rw_lock"


@pytest.mark.parametrize("server", ["5.7.22", "8.0.15", "9.7.4"])
def test_a_crowd_on_two_processors_waits_for_rows_about_as_often_as_the_live_one(server):
    """Of the recording that was held out, under the load where an engine without turns waited 1/40 as often at most."""
    from engineroom.machine.presets import parameters
    from engineroom.runs import recorded
    from engineroom.simulating.engine import observed
    from engineroom.simulating.experiment import Given

    name, clients = "special, 100,000 rows", 64
    table = recorded("own-engine-held-out", "live")[0].table
    mine = table[
        (table["series"] == "server") & (table["server"] == server) & (table["distribution"] == name)
    ]
    waits = mine.groupby("clients")["lock_waits_per_1000"].median()[clients]
    cpu_us = mine.groupby("clients")["client_cpu_us"].median()[1]
    machine = {**parameters("laptop"), "disk_fsync_quantiles_ps": [100_000_000], "disk_is_timer": True}
    given = Given(machine=machine, load=with_client(LOADS[name], server, cpu_us), seed=1)
    window = {"first_ms": 1_000, "longest_ms": 5_000, "warmup_ms": 500}
    seen, _ = observed(SERVERS[server].design, given, clients=clients, **window)
    assert waits / 2.5 < 1000 * seen["lock_waits"] < 2.5 * waits


@pytest.mark.live
def test_the_engine_beside_a_live_server_has_a_row_for_each_row_of_the_server():
    window = {"first_ms": 50, "longest_ms": 50, "warmup_ms": 10}
    comparison = replace(
        beside.against_live,
        loads={"pareto": LOADS["pareto"]},
        clients=(1, 4),
        seconds=1,
        repeats=1,
        versions=("5.7.22",),
    )
    servers = comparison()
    assert set(servers.table["series"]) == {"server"}
    table = predicted.pair(servers, comparison.engines(servers, **window)).table
    assert table.groupby("series")["clients"].agg(list).to_dict() == {"server": [1, 4], "engine": [1, 4]}
    assert (table["transactions"] > 0).all()
    crowd = table[table["clients"] == 4].set_index("series")
    assert (crowd["lock_waits_per_1000"] > 0).all()


@pytest.mark.live
def test_the_loads_that_are_held_out_run_on_a_server_and_in_its_engine():
    window = {"first_ms": 50, "longest_ms": 50, "warmup_ms": 10}
    comparison = replace(beside.held_out_live, clients=(1, 4), seconds=1, repeats=1, versions=("8.0.15",))
    servers = comparison()
    run = predicted.pair(servers, comparison.engines(servers, **window))
    assert run.figure == "own-engine-held-out"
    assert set(run.table["distribution"]) == set(HELD_OUT)
    assert not set(HELD_OUT.values()) & set(LOADS.values())
    assert len(run.table) == 2 * 2 * len(HELD_OUT)
    assert (run.table["transactions"] > 0).all()


@pytest.mark.live
def test_the_loads_that_are_held_out_with_a_binary_log_were_never_used_before():
    window = {"first_ms": 50, "longest_ms": 50, "warmup_ms": 10}
    held_out = {"special, 3,000 rows": beside.BINLOG_HELD_OUT["special, 3,000 rows"]}
    comparison = replace(
        beside.held_out_binlog_live,
        loads=held_out,
        clients=(1, 4),
        latch_clients=(4,),
        seconds=1,
        repeats=1,
        versions=("8.0.15",),
    )
    servers = comparison()
    run = predicted.pair(servers, comparison.engines(servers, **window))
    assert run.figure == "own-engine-held-out-binlog"
    assert set(run.table["distribution"]) == {f"{name}, steady disk" for name in held_out}
    assert not set(beside.BINLOG_HELD_OUT.values()) & {*LOADS.values(), *HELD_OUT.values()}
    assert set(run.tables["latches"]["series"]) == {"server", "engine"}
    assert len(beside.ratios(run)) == 2


def test_every_server_that_is_held_against_an_engine_has_demands() -> None:
    from engineroom.simulating.engine import load_of

    for name in SERVERS:
        assert load_of(name, "sysbench_read_write")["demands"]


def test_factors_are_the_engine_over_the_server_and_the_farthest_comes_first() -> None:
    def row(clients: int, series: str, tps: float, waits: float, deadlocks: float) -> dict[str, object]:
        return {
            "server": "9.7.4",
            "distribution": "pareto",
            "clients": clients,
            "series": series,
            "tps": tps,
            "lock_waits_per_1000": waits,
            "deadlocks_per_1000": deadlocks,
            "lock_wait_ms": 1.0,
        }

    seen = factors(
        pd.DataFrame(
            [
                row(2, "server", 100, 10, 0),
                row(2, "engine", 110, 15, 3),
                row(4, "server", 100, 20, 2),
                row(4, "server", 300, 40, 4),
                row(4, "engine", 100, 30, 6),
            ]
        )
    )
    assert seen.index.get_level_values("clients").tolist() == [4, 2]
    assert seen["throughput"].tolist() == [0.5, 1.1]
    assert seen["lock_waits"].tolist() == [1, 1.5]
    assert seen["deadlocks"].isna().tolist() == [False, True], "a server without one has no factor"


def test_a_client_of_tpcc_computes_before_each_statement_of_the_engines_programs() -> None:
    # New-Order 46 with ten lines, Payment 8.7, Order-Status 4.6, Delivery 71, Stock-Level 3.
    by_hand = 0.45 * 46 + 0.43 * 8.7 + 0.04 * (4.6 + 71 + 3)
    load = beside.TPCC_TEN["TPC-C, 10 warehouses"]
    assert load.statements() == pytest.approx(by_hand, rel=0.01)
    given = with_client(load, "9.7.4", 550.0)
    assert given["client_ns"] == round(550_000 / load.statements())
    assert (given["kind"], given["warehouses"], given["away_ns"]) == ("tpcc", 10, 0)


def test_a_latch_is_no_event_on_which_a_thread_of_the_server_sleeps() -> None:
    waits = {
        "COND_done": 5.0,
        "LOCK_log": 4.0,
        "trx_sys_mutex": 3.0,
        "log_writer_event": 9.0,
        "row_lock": 1.0,
    }
    kept = beside._only_latches(waits)
    assert [wait["latch"] for wait in kept] == ["COND_done", "LOCK_log", "trx_sys_mutex"]


def test_the_loads_beside_what_if_are_sent_as_they_are_predicted() -> None:
    kinds = whatif.loads()["shop"]
    script = whatif.lua(kinds)
    assert "local weights = {1, 9}" in script
    assert script.count("v = {item = sysbench.rand.pareto(1, 100000)}") == 1
    assert script.count("v = {item = sysbench.rand.uniform(1, 100000)}") == 1
    assert script.count("COMMIT") == 1, "the other kind commits by itself"
    # An order sends three statements and its COMMIT, a look one.
    assert whatif._statements(kinds) == pytest.approx((4 + 9) / 10)
    assert list(whatif.loads()) == list(whatif.LOADS)


def test_the_clients_cpu_time_comes_before_the_statements_that_it_sends():
    with_it = with_client(LOADS["pareto"], "9.7.4", 400.0)
    alone = LOADS["pareto"].in_engine("9.7.4")
    assert with_it == {**alone, "client_ns": 20_000}, "a transaction has twenty statements"


def test_an_engine_stands_beside_curves_that_were_published():
    curves = pd.read_csv(paths.data() / "published" / "more.csv")
    drawn = {f"{figure} {series}" for figure, series in zip(curves["figure"], curves["series"], strict=True)}
    assert set(published.CURVES) <= drawn


def test_engines_beside_a_crowd_are_given_what_one_client_took_there() -> None:
    given = sixteen.loads(held=None)
    assert set(given) == set(sixteen.LOADS)
    measured = runs.newest("own-crowd-demands", "live").table.set_index(["series", "load", "statement"])[
        "cpu_us"
    ]
    for server in sixteen.DESIGNS:
        point = given[sixteen.UNIFORM][server]["demands"]["read_write.select_point"]
        assert point["computing_ns"] == round(1000 * measured[server, sixteen.UNIFORM, "select_point"])
        (kind,) = given[sixteen.HOT][server]["mix"]
        (update,) = kind["statements"]
        assert update["computing_ns"] == round(1000 * measured[server, sixteen.HOT, "update_non_index"])
        assert (kind["commit"]["computing_ns"], kind["sends_commit"]) == (0, False)
        # SysBench computes some microseconds per statement.
        assert 3_000 < given[sixteen.HOT][server]["away_ns"] < 30_000


def test_what_statements_compute_in_the_hash_index_is_taken_out_of_what_they_compute_elsewhere() -> None:
    for held in (1, 0.5):
        with_index, without = sixteen.loads(held=held), sixteen.loads(held=None)
        for server in sixteen.DESIGNS:
            given = with_index[sixteen.UNIFORM][server]
            options = given["engine"]
            assert ("hash_index" in options) == (server in sixteen.HASH_INDEX)
            if server not in sixteen.HASH_INDEX:
                assert given == without[sixteen.UNIFORM][server]
                continue
            assert options["hash_index"] == {"5.7.22": "waits", "8.0.31": "tries"}[server]
            for name, asked in given["demands"].items():
                inside_ns = (
                    asked["hash_searches_permille"] * options["hash_search_ns"]
                    + asked["hash_changes_permille"] * options["hash_change_ns"]
                ) / 1000
                whole = without[sixteen.UNIFORM][server]["demands"][name]
                assert asked["computing_ns"] + inside_ns == pytest.approx(whole["computing_ns"], abs=1)
                assert asked["root_searches_permille"] <= whole["root_searches_permille"]


def test_nobody_waits_for_a_hash_index_that_is_off() -> None:
    window = {"first_ms": 20, "longest_ms": 20, "warmup_ms": 10}
    run = sixteen.hash_index_sim(clients=(64, 256), series=("5.7.22",), seeds=(1,), **window)
    waits = run.tables["latches"]
    waiting = waits[waits["latch"] == "btr_search_latch"]
    assert set(waiting["hash_index"]) == {"on", "on, held half as long"}
    # Servers without it were measured at these points.
    assert set(sixteen.without_hash_index(run).index) == {
        (sixteen.HOT, "5.7.22", 64),
        (sixteen.UNIFORM, "5.7.22", 64),
        (sixteen.UNIFORM, "5.7.22", 256),
    }
    assert {type(is_so(run)) for is_so in sixteen.HASH_INDEX_CLAIMS.values()} <= {bool, np.bool_}


@pytest.mark.live
def test_the_hash_index_spares_searches_from_a_root_on_9_7() -> None:
    try:
        run = hash_index.hash_index_live(
            versions=["9.7.4"], loads=["sysbench_read_write"], warm=300, share=0.1, seconds=3, repeats=1
        )
    except EngineRoomError as error:
        if "cannot be sampled" in str(error):
            pytest.skip(str(error))
        raise
    on, off = (hash_index.per_transaction(run, "9.7.4", setting) for setting in ("ON", "OFF"))
    assert (off["hash_searches"], off["hash_changes"]) == (0, 0)
    assert 29 <= off["root_searches"] <= 34
    assert on["hash_searches"] > 5
    assert on["root_searches"] < off["root_searches"] - 3
    assert set(run.tables["inside"]["part"]) == set(hash_index.INSIDE)


def test_a_crowd_of_engines_has_a_row_and_waits_at_each_of_the_servers_points() -> None:
    window = {"first_ms": 20, "longest_ms": 20, "warmup_ms": 10}
    run = sixteen.crowd_sim(clients=(1, 64), series=("9.7.4",), seeds=(1,), **window)
    over = factors_of_crowd(run)
    assert set(over.index) == {(load, "9.7.4", n) for load in sixteen.LOADS for n in (1, 64)}
    assert (over > 0.2).all()
    assert (over < 5).all()
    waits = run.tables["latches"]
    busy = waits[waits["clients"] == 64].groupby("load")["clients_waiting"].sum()
    assert set(busy.index) == set(sixteen.LOADS)
    assert {type(is_so(run)) for is_so in sixteen.CLAIMS.values()} <= {bool, np.bool_}
