"""The chapter's experiments: what is made of what a server's counters say, and a small run on a live server."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engineroom.chapters.engine.experiments import demands, occupancy, pages, purge, simulated
from engineroom.chapters.engine.experiments.demands import Demands
from engineroom.machine.presets import parameters
from engineroom.simulating.engine import of_design
from engineroom.simulating.experiment import Given
from engineroom.workloads.one_client import asked
from engineroom.workloads.requests import Request

SHORT = {"first_ms": 100, "longest_ms": 100, "warmup_ms": 50}


KEY, COMMIT = ("t", "update"), ("t", "commit")


def test_a_program_is_sent_the_rows_of_each_of_its_answers():
    seen = []

    def program():
        seen.append((yield Request("one", "SELECT 1")))
        seen.append((yield Request("two", "SELECT 2")))

    answers = {"one": [(1,)], "two": [(2,)]}
    steps = list(asked([("kind", program())], lambda request: answers[request.name]))
    assert seen == [[(1,)], [(2,)]]
    assert steps == [(("kind", "one"), 1), (("kind", "two"), 2)]


def test_a_batch_knows_which_statement_each_command_was_and_refuses_one_too_many():
    seen = Demands()
    commands = np.array([(1000, 3000), (500, 900), (2000, 5000)], [("cpu_ns", "i8"), ("wall_ns", "i8")])
    seen.add([(KEY, 1), (COMMIT, 2), (KEY, 1)], commands)
    assert dict(seen.batches[0]) == {KEY: [1000, 2000], COMMIT: [500]}
    assert (seen.transactions["t"], seen.first_place) == (2, {KEY: 1, COMMIT: 2})
    assert seen.round_trips_ns[KEY] == [3000, 5000]
    with pytest.raises(ValueError, match="argument 2 is longer"):
        seen.add([(KEY, 1)], commands)


def test_batches_have_whole_transactions():
    steps = [(KEY, 1), (COMMIT, 2), (KEY, 1), (KEY, 2), (COMMIT, 3), (COMMIT, 1)]
    assert list(demands._in_batches(steps, 2)) == [slice(0, 5), slice(5, 6)]
    assert list(demands._in_batches(steps, 3)) == [slice(0, 6)]


def test_the_median_of_the_batches_counts_and_counts_are_means():
    seen = Demands(
        first_place={KEY: 1, COMMIT: 3},
        transactions=Counter(t=6),
        # Means of 2, 4 and 100 us: a busy batch does not move the median.
        batches=[{KEY: [1000, 3000], COMMIT: [500]}, {KEY: [4000]}, {KEY: [100_000, 100_000, 100_000]}],
        round_trips_ns={KEY: [7000, 5000, 6000], COMMIT: [9000]},
        counted=Counter({KEY: 4}),
        counts={KEY: Counter(mtrs=6, lsn=400, lock_sys_page_mutex=8, lock_sys_global_rw_lock=4, trx_mutex=2)},
    )
    update, commit = seen.rows()
    assert (update["statement"], update["order"], update["per_transaction"]) == ("update", 1, 1.0)
    assert (update["cpu_us"], update["cpu_us_iqr"]) == (4.0, 49.0)
    assert (update["round_trip_us"], update["batches"], update["executions"]) == (6.0, 3, 6)
    assert (update["mtrs"], update["redo_bytes"]) == (1.5, 100.0)
    assert (update["lock_sys_acquisitions"], update["trx_sys_acquisitions"]) == (3.0, 0.0)
    assert commit["per_transaction"] == pytest.approx(1 / 6)
    assert commit["mtrs"] is None, "what was never counted is no zero"
    assert [(row["latch"], row["acquisitions"]) for row in seen.latches()] == [
        ("lock_sys_global_rw_lock", 1.0),
        ("lock_sys_page_mutex", 2.0),
        ("trx_mutex", 0.5),
    ]


@pytest.mark.parametrize("load", ["tpcc", "tpcc_0", "sysbench", "tpcc_1x"])
def test_a_load_that_is_none_is_refused_before_a_server_starts(load):
    with pytest.raises(ValueError, match="the load is"):
        demands.demands_live(loads=[load])


@pytest.mark.live
def test_a_statement_takes_what_it_must_on_9_7():
    run = demands.demands_live(
        versions=["9.7"],
        batches=2,
        share=0.05,
        scale=0.01,
        table_rows=10_000,
        loads=["sysbench_read_write", "tpcc_1"],
    )
    replayed = run.table[run.table["load"] == "tpcc_1"].set_index(["transaction", "statement"])
    assert replayed.loc[("payment", "update_district"), "order"] == 1
    assert (replayed["cpu_us"] > 0).all()
    rows = run.table[run.table["load"] == "sysbench_read_write"].set_index("statement")
    assert (rows["cpu_us"] > 0).all()
    assert (rows["round_trip_us"] > 0).all()
    assert rows["per_transaction"].to_dict() == {
        name: 10.0 if name == "select_point" else 1.0 for name in rows.index
    }
    reads = rows[rows.index.str.startswith("select")]
    assert (reads[["row_locks", "lock_sys_acquisitions"]] == 0).all(axis=None)
    assert (reads["page_requests"] >= 2).all()
    writes = rows.loc[["update_index", "update_non_index", "delete", "insert"]]
    assert (writes["mtrs"] >= 2).all()
    assert (writes["redo_bytes"] > 0).all()
    assert (writes["lock_sys_acquisitions"] > 0).all()
    assert rows.loc["update_index", "row_locks"] == 1, "the first change of a transaction locks its one row"
    assert 1 <= rows.loc["commit", "mtrs"] < 2, "purge's would come on top"
    assert {"lock_sys_page_mutex", "lock_sys_global_rw_lock"} <= set(run.tables["latches"]["latch"])


def test_figure_7_3_changes_latches_first_and_the_redo_log_then():
    window = {"first_ms": 5, "longest_ms": 5, "warmup_ms": 5}
    run = simulated.patched_sim(concurrency=(50,), seeds=(1,), **window)
    designs = run.provenance["load"]["designs"]
    assert (designs["original"]["lock_design"], designs["original"]["latches"]) == ("5.7", "5.7")
    assert [designs[series]["locks"]["table_looks"] for series in ("original", "patched")] == [
        "each",
        "counts",
    ]
    assert designs["new_redo"] == {**designs["patched"], "redo": "8.0"}
    assert designs["original"]["redo"] == designs["patched"]["redo"] == "5.7"
    assert run.provenance["load"]["demands_of"] == "5.7.22"
    assert (run.table["transactions"] > 0).all()


def test_a_combination_is_named_by_the_parts_that_are_new_and_differs_in_nothing_else() -> None:
    assert len(simulated.COMBINATIONS) == 8
    for name, design in simulated.COMBINATIONS.items():
        new = set(name.split(" and ")) - {"none"}
        assert (design.redo == "8.0") == ("redo" in new)
        assert (design.latches == "8.0, sharded") == ("trx" in new)
        latching = {} if "locks" in new else {"latching": "one mutex"}
        assert dict(design.locks) == {**latching, "table_looks": "counts"}
        assert (design.lock_design, design.engine) == ("9.7", {})


def test_every_combination_is_simulated_under_one_load() -> None:
    run = simulated.switches_sim(
        concurrency=(50,),
        series=("none", "redo and locks and trx"),
        seeds=(1,),
        first_ms=5,
        longest_ms=5,
        warmup_ms=5,
    )
    assert run.provenance["load"]["warehouses"] == 1000
    assert (run.table["transactions"] > 0).all()
    assert set(run.tables["latches"]["series"]) == {"none", "redo and locks and trx"}


def test_purge_is_simulated_on_each_version_with_what_becomes_of_its_closed_views() -> None:
    short = {"first_ms": 3, "longest_ms": 3, "warmup_ms": 3}
    run = purge.purge_sim(concurrency=(4,), series=("5.7", "9.7, no purge"), seeds=(1,), **short)
    designs = run.provenance["load"]["designs"]
    assert designs["5.7, views removed"]["trx_sys"] == {"views": "removed_at_once"}
    assert [name for name, design in designs.items() if not design["engine"]["has_purge"]] == [
        f"{version}, no purge" for version in ("5.6", "5.7", "8.0", "9.7")
    ]
    seen = run.table.set_index("series")["purge_cpus"]
    assert (seen["5.7"] >= 0, seen.isna()["9.7, no purge"]) == (True, True)


def test_a_line_that_readers_keep_longer_is_one_number_of_the_machine() -> None:
    point = {"series": "8.0, sharded", "concurrency": 20}
    load = occupancy.occupancy_sim.load()
    given = Given(machine=parameters(occupancy.occupancy_sim.machine), load=load, seed=1)
    (row,) = occupancy._measure({**point, "occupancy_ns": 10}, given, **SHORT).rows
    (usual,) = of_design(point, given, **SHORT).rows
    assert given.machine["read_occupancy_ps"] == 10_000
    assert row == usual


def test_pages_are_latched_where_the_point_says_so_and_else_it_is_the_engine_of_the_figure() -> None:
    point = {"series": "original", "concurrency": 40, "warehouses": 1000}
    load = pages.pages_sim.load()
    given = Given(machine=parameters(pages.pages_sim.machine), load=load, seed=1)
    seen = {each: pages._measure({**point, "pages": each}, given, **SHORT) for each in pages.PAGES}
    usual = of_design(point, given, **SHORT)
    waited = {each: {wait["latch"] for wait in of.tables["latches"]} for each, of in seen.items()}
    assert (seen["unlatched"].rows, waited["unlatched"]) == (
        usual.rows,
        {wait["latch"] for wait in usual.tables["latches"]},
    )
    assert waited["latched"] - waited["unlatched"] == {"buf_block_lock"}
