"""The chapter's experiments: scripts of sessions on live servers against the kernel, and what a deadlock adds to the log."""

from __future__ import annotations

import pytest

from engineroom import runs
from engineroom.chapters.lock_sys.experiments import conflicts, deadlock_log, simulated
from engineroom.chapters.lock_sys.experiments.conflicts import DESIGNS
from engineroom.chapters.lock_sys.experiments.scripts import Statement, scripts
from engineroom.chapters.lock_sys.experiments.seen import LockSeen, Seen, in_kernel


def test_a_script_depends_on_its_number_and_the_seed_alone():
    many, few = list(scripts(30, seed=4)), list(scripts(10, seed=4))
    assert many[:10] == few
    assert [each.text() for each in scripts(5, seed=5)] != [each.text() for each in few[:5]]


def test_scripts_have_what_the_comparison_is_about():
    all_of_them = list(scripts(300))
    verbs = {statement.verb for script in all_of_them for statement in script.statements}
    assert verbs == {"read", "share", "update", "delete", "insert", "commit", "rollback"}
    assert {len(script.reads_committed) for script in all_of_them} == {2, 3}
    assert {statement.index for script in all_of_them for statement in script.statements} == {0, 1, 2}
    seen = [step for script in all_of_them[:100] for step in in_kernel(script, "9.7")]
    assert sum(bool(step.waits) for step in seen) > 50
    assert any("supremum" in lock.data for step in seen for lock in step.locks)
    assert {"ok", "waits", "duplicate"} <= {result for step in seen for result in step.results}


def test_a_statement_is_one_text_for_the_server():
    read = Statement(session=0, verb="read", index=2, low=10, high=30, has_low=False)
    assert read.sql("t") == "SELECT * FROM t FORCE INDEX (k) WHERE k > 10 AND k <= 30 FOR UPDATE"
    update = Statement(session=1, verb="update", low=20, high=20, column=1, more=5)
    assert update.sql("t") == "UPDATE t FORCE INDEX (PRIMARY) SET u = u + 5 WHERE id = 20"
    assert (
        Statement(session=1, verb="share").sql("t")
        == "SELECT * FROM t FORCE INDEX (PRIMARY) LOCK IN SHARE MODE"
    )


def test_differences_say_who_has_what():
    lock = LockSeen(0, "k", "X", "10, 10", False)
    one = Seen(("ok", "waits"), frozenset({lock}), frozenset({(1, 0)}))
    other = Seen(("ok", "ok"), frozenset(), frozenset())
    assert one.differences(one) == []
    assert [each[:8] for each in one.differences(other)] == ["-results", "+results", "-waits (", "-locks L"]


def test_the_kernel_shows_the_waits_and_locks_that_were_recorded_on_servers():
    """Also of a kernel that changed after the recording; where they differed then, they may differ now."""
    run = runs.newest("own-lock-conflicts", "live")
    made = list(scripts(run.provenance["scripts"], seed=run.provenance["seed"]))
    assert set(run.table["series"]) == {"5.7", "8.0.15", "8.0.31", "9.7"}
    for series, rows in run.table.groupby("series"):
        assert len(rows) == len(made) >= 300
        assert rows["waits"].sum() > 100
        assert rows["locks"].sum() > 300, "5.7 shows none but those that wait or block"
        assert (rows["equal"] == 0).sum() == (2 if series == "8.0.15" else 0)
    for row in run.table[run.table["equal"] == 1].itertuples():
        seen = in_kernel(made[row.script], DESIGNS[row.series])
        found = (len(seen), sum(len(each.waits) for each in seen), sum(len(each.locks) for each in seen))
        assert found == (row.statements, row.waits, row.locks), f"script {row.script} on {row.series}"


def test_clients_on_rows_of_their_own_wait_for_no_row_and_take_the_latches_of_their_design():
    run = simulated.latches_sim(
        machine="two_sockets_88", clients=(1, 32), seeds=(1,), first_ms=2, longest_ms=2, warmup_ms=1
    )
    assert (run.table["waits"] == 0).all()
    taken = run.values("series", "clients", y="latches_per_transaction")
    # Ten rows, a table, and their release: in 9.7 each lock is let go by itself, and each request takes a share of the global latch.
    assert taken["one_mutex", 1] == pytest.approx(10 + 1 + 1, rel=0.05)
    assert taken["sharded", 1] == pytest.approx(11 + 1 + 20 + 2, rel=0.05)
    rate = run.values("series", "clients", y="row_locks_per_second")
    assert rate["sharded", 32] > 16 * rate["sharded", 1]
    for less in ("one_mutex", "sharded_one_shard"):
        assert rate["sharded", 32] > 1.5 * rate[less, 32]


@pytest.mark.live
def test_the_kernel_agrees_with_9_7_in_most_scripts_and_says_where_not():
    run = conflicts.conflicts(n=25, seed=7, versions=["9.7"])
    table = run.table
    assert len(table) == 25
    assert table["locks"].sum() > 100
    assert (table["difference"].fillna("") == "").tolist() == (table["equal"] == 1).tolist()
    assert table["equal"].mean() >= 0.9


@pytest.mark.live
def test_a_deadlock_adds_lines_to_the_log_only_when_asked_to():
    run = deadlock_log.deadlock_log(deadlocks=3, repeats=1, versions=["9.7"])
    lines = run.table.set_index("innodb_print_all_deadlocks")["lines"]
    assert lines["off"] == 0
    assert lines["on"] >= 10
    assert set(run.table["series"]) == {"9.7"}
    assert run.table["teller_cpu_us"].notna().all()
    assert (run.table["deadlocks"] == 3).all()


def test_printing_costs_what_a_deadlock_takes_more_with_the_setting_on():
    off = {"teller": "session", "bytes": 0.0, "cpu_us": 500.0, "server_cpu_us": 900.0, "wall_us": 800.0}
    on = {"teller": "session", "bytes": 3100.0, "cpu_us": 1500.0, "server_cpu_us": 1950.0, "wall_us": 1700.0}
    assert deadlock_log.cost_of_printing(off=off, on=on) == {
        "teller": "session",
        "print_bytes": 3100.0,
        "print_cpu_us": 1000.0,
        "print_server_cpu_us": 1050.0,
        "print_wall_us": 900.0,
    }


@pytest.mark.live
def test_printing_a_deadlock_is_measured_against_the_same_server_without():
    run = deadlock_log.deadlock_print(deadlocks=3, repeats=2, versions=["5.7"])
    assert (run.table["print_bytes"] > 1000).all()
    settings = run.tables["settings"]
    assert settings["innodb_print_all_deadlocks"].tolist() == ["off", "on"] * 2
    assert (settings[settings["innodb_print_all_deadlocks"] == "off"]["bytes"] == 0).all()
    assert (settings[["cpu_us", "server_cpu_us", "wall_us"]] > 0).all(axis=None)


def test_figure_7_7_switches_the_lock_systems_latches_and_nothing_else():
    window = {"first_ms": 5, "longest_ms": 5, "warmup_ms": 5}
    run = simulated.throughput_sim(concurrency=(150,), seeds=(1,), **window)
    designs = run.provenance["load"]["designs"]
    assert designs["before"]["locks"] == {"latching": "one mutex", "table_looks": "counts"}
    assert designs["after"] == {**designs["before"], "locks": {"table_looks": "counts"}}
    assert (run.table["transactions"] > 0).all()
    latches = run.tables["latches"].groupby("series")["latch"].agg(set)
    assert "lock_mutex" in latches["before"] - latches["after"]
