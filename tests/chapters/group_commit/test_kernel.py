"""Commits with two logs from Python: outcomes of crashes, the closed formulas, both binlog readers."""

from __future__ import annotations

import pytest

from engineroom._native import group_commit as kernel

DESIGNS = kernel.designs()
MS = 1_000_000
FSYNC_PS = 1_000_000_000  # 1 ms, against which all else is small
# Two CPUs would be busy with 64 clients; here the disk alone is slow.
MACHINE = {"cores_per_socket": 16, "disk_fsync_quantiles_ps": [FSYNC_PS], "disk_ps_per_kib": 0}


def counts(design: str, clients: int, *, machine=None, **commit) -> dict[str, float]:
    """What a commit costs in a window of two seconds, when sessions do nothing but commit."""
    seen = kernel.simulate(
        design=design,
        parameters={**MACHINE, **(machine or {})},
        load={"clients": clients, "mtrs_per_statement": 1},
        commit=commit,
        run_ns=2000 * MS,
        warmup_ns=100 * MS,
    )
    n = seen["transactions"]
    return {
        "per_second": n / 2,
        "redo_fsyncs": seen["redo_fsyncs"] / n,
        "binlog_fsyncs": seen["binlog_fsyncs"] / n,
        "flush_group": n / seen["flush_groups"],
        "sync_group": n / seen["sync_groups"],
        "p50_ms": seen["latency_ns_p50"] / MS,
    }


def test_in_5_5_a_commit_that_a_client_was_told_of_stays_in_the_engine_without_the_binlog() -> None:
    seen = kernel.crash_runs(design="5.5", sync_binlog=0, seed=5, runs=15)
    assert seen["lost"] == 0
    assert seen["only_in_engine"] > 0
    assert not kernel.risks(design="5.5", sync_binlog=0, flush_log_at_trx_commit=1)["lost"]
    assert kernel.risks(design="5.6", sync_binlog=0, flush_log_at_trx_commit=1)["lost"]


def test_the_outcomes_are_those_of_the_table() -> None:
    seen = kernel.crash_runs(design="5.7.6", seed=1, runs=30)["outcomes"]
    assert {row["step"] for row in seen} == set(kernel.steps())
    for row in seen:
        if row["redo"] == "committed":
            assert row["is_committed"]
        elif (row["redo"] == "prepared" and row["binlog"] != "whole") or row["redo"] in ("absent", "active"):
            assert not row["is_committed"]
        if row["step"] in ("binlog synced", "committed in the engine", "acknowledged"):
            assert row["is_committed"]
            assert row["redo"] in ("prepared", "committed")


def test_one_client_pays_a_redo_and_a_binlog_fsync_and_in_5_5_another_for_the_engine() -> None:
    for design, redo in (("5.5", 2.0), ("5.6", 1.0), ("5.7.6", 1.0)):
        seen = counts(design, 1)
        assert seen["redo_fsyncs"] == pytest.approx(redo, rel=0.02)
        assert seen["binlog_fsyncs"] == pytest.approx(1.0, rel=0.02)
        assert seen["per_second"] == pytest.approx(1000 / (redo + 1), rel=0.05)


def test_in_5_5_each_transaction_has_its_own_binlog_fsync_however_many_clients() -> None:
    # The mutex is held over the binlog alone. Its fsyncs and those of the redo, which are shared, take turns at the disk.
    seen = counts("5.5", 64)
    assert seen["binlog_fsyncs"] == pytest.approx(1, rel=0.02)
    assert seen["per_second"] == pytest.approx(1000 / 2, rel=0.1)
    # ... unless it does two things at once.
    assert counts("5.5", 64, machine={"disk_queue_depth": 2})["per_second"] == pytest.approx(1000, rel=0.1)


@pytest.mark.parametrize("clients", [8, 16, 32, 64])
def test_one_redo_flush_per_group_gives_two_fsyncs_over_half_the_clients(clients: int) -> None:
    # One group is in FLUSH and one in SYNC, each of half the clients; their fsyncs take turns at the disk.
    seen = counts("5.7.6", clients)
    assert seen["flush_group"] == pytest.approx(clients / 2, rel=0.15)
    assert seen["redo_fsyncs"] + seen["binlog_fsyncs"] == pytest.approx(2 / seen["flush_group"], rel=0.1)
    assert seen["per_second"] == pytest.approx(seen["flush_group"] * 1000 / 2, rel=0.15)


def test_a_delay_lets_the_sync_group_be_all_while_flush_groups_stay_small() -> None:
    seen = counts("5.7.6", 16, delay_us=10_000)
    assert seen["sync_group"] > 14
    assert seen["flush_group"] < 0.6 * seen["sync_group"]


def test_so_many_waiters_end_a_delay_at_once() -> None:
    waited = counts("5.7.6", 8, delay_us=50_000)
    ended = counts("5.7.6", 8, delay_us=50_000, no_delay_count=8)
    assert waited["p50_ms"] > 40
    assert ended["p50_ms"] < 15


def test_the_next_group_leads_itself_while_the_delay_lasts() -> None:
    happened = kernel.trace(
        design="5.7.6", parameters=MACHINE, load={"clients": 4, "transactions": 2}, run_ns=100 * MS
    )
    leads = [name for _, what, name, _ in happened if what == "leads"]
    follows = [name for _, what, name, _ in happened if what == "follows"]
    told = [xids[0] for _, what, _, xids in happened if what == "told"]
    assert leads[:1] == ["FLUSH"]
    assert set(leads) == {"FLUSH", "SYNC", "COMMIT"}
    assert follows
    assert sorted(told) == list(range(1, 9))


def test_a_run_is_the_same_again_by_seed() -> None:
    once = [
        kernel.simulate(design="5.7.6", parameters={}, load={"clients": 8}, run_ns=20 * MS, seed=seed)[
            "trace_hash"
        ]
        for seed in (1, 1, 2)
    ]
    assert once[0] == once[1] != once[2]


def test_bad_arguments_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"4\.1"):
        kernel.crash_runs(design="4.1")
    with pytest.raises(ValueError, match="flush_log_at_trx_commit"):
        counts("5.6", 1, flush_log_at_trx_commit=3)
    with pytest.raises(ValueError, match="run_ns"):
        kernel.simulate(design="5.6", parameters={}, load={}, run_ns=0)
    with pytest.raises(ValueError, match="changed_rows must be 1 to 100000, got 10000000"):
        counts("5.6", 1, changed_rows=10_000_000)


def test_a_transaction_of_many_caches_is_written_once_and_in_pieces_of_one() -> None:
    seen = kernel.simulate(
        design="5.7.6",
        parameters=MACHINE,
        load={"clients": 1, "transactions": 1},
        commit={"changed_rows": 20_000},
        run_ns=100_000 * MS,
    )
    assert seen["transactions"] == 1
    assert seen["binlog_bytes"] > 20_000 * 2 * 180  # before and after, a row each
    assert seen["binlog_writes"] == pytest.approx(seen["binlog_bytes"] / 8192, abs=3)
