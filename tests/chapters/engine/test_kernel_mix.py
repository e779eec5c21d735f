"""Transactions of a reader's own in the engine: what they lock counted by hand, their weights, refused arguments."""

from __future__ import annotations

from typing import Any

import pytest

from engineroom._native import engine as kernel

MS = 1_000_000
MACHINE: dict[str, Any] = {"cores_per_socket": 64, "disk_fsync_quantiles_ps": [100_000_000]}
DEMAND = {"computing_ns": 20_000, "mtrs_permille": 2_000, "mtr_bytes": 100}
COMMIT = {"computing_ns": 10_000, "mtrs_permille": 1_000, "mtr_bytes": 100}


def transaction(*statements: dict[str, Any], **how: Any) -> dict[str, Any]:
    return {"commit": COMMIT, "draws": [{"rows": 1_000_000}], "statements": list(statements), **how}


UPDATE = {"access": "changes", **DEMAND}
READ = {"access": "reads", "computing_ns": 20_000}


def simulate(*mix: dict[str, Any], clients: int = 1, **how: Any) -> dict[str, Any]:
    how = {"run_ns": 5_000 * MS, **how}
    load = {"clients": clients, "away_ns": 30_000, **how.pop("load", {})}
    return kernel.simulate_mix(parameters=MACHINE, mix=list(mix), load=load, **how)


def test_changes_and_mini_transactions_are_those_of_the_statements() -> None:
    three = transaction(READ, {**UPDATE, "rows": 3}, {"access": "inserts", "table": 1, **DEMAND})
    seen = simulate(three, load={"transactions": 100})
    assert (seen["transactions"], seen["commits"]) == (100, 100)
    assert seen["changes"] == 100 * (3 + 1)
    assert seen["mtrs"] == 100 * (2 + 2 + 1)
    assert seen["lock_waits"] == 0


@pytest.mark.parametrize(
    ("sends_commit", "expected_ns"),
    [(True, 3 * 20_000 + 10_000 + 4 * 30_000), (False, 3 * (20_000 + 30_000))],
)
def test_a_transaction_takes_its_demands_and_the_client_s_time(sends_commit: bool, expected_ns: int) -> None:
    commit = {"computing_ns": 10_000 if sends_commit else 0}
    reads = transaction(READ, READ, READ, commit=commit, sends_commit=sends_commit)
    seen = simulate(reads, run_ns=1_000 * MS)
    took_ns = 1_000 * MS / seen["transactions"]
    wakes_ns = 5_000  # waking up and latches, for each statement that is waited for
    assert 0.98 * expected_ns < took_ns < 1.02 * expected_ns + (3 + sends_commit) * wakes_ns


def test_one_row_for_all_serves_one_client_after_the_other() -> None:
    hot = transaction(UPDATE, draws=[{"rows": 1}])
    one, many = (simulate(hot, clients=n, run_ns=200 * MS) for n in (1, 16))
    spread = simulate(transaction(UPDATE), clients=16, run_ns=200 * MS)
    assert many["transactions"] < 2 * one["transactions"]
    assert many["lock_waits"] > 0.9 * many["transactions"]
    assert spread["transactions"] > 12 * one["transactions"]


def test_kinds_come_by_their_weights_and_one_without_any_never() -> None:
    mix = (
        transaction(READ, weight=3),
        transaction({"access": "inserts", **DEMAND}, weight=1),
        transaction({**UPDATE, "rows": 5}, weight=0),
    )
    seen = simulate(*mix, clients=4, load={"transactions": 1_000})
    assert seen["changes"] == pytest.approx(1_000, abs=4 * (4_000 * 3 / 16) ** 0.5)
    assert seen["lock_waits"] == 0


def test_shared_locks_of_a_row_do_not_wait_for_each_other() -> None:
    look = {"access": "locks", "shared": True, "computing_ns": 20_000}
    seen, alone = (
        simulate(transaction({**look, "shared": shared}, draws=[{"rows": 1}]), clients=8, run_ns=100 * MS)
        for shared in (True, False)
    )
    assert seen["lock_waits"] == 0
    assert alone["lock_waits"] > 0


@pytest.mark.parametrize("design", ["5.7", "9.7"])
def test_two_rows_in_opposite_orders_deadlock_and_every_attempt_has_an_end(design: str) -> None:
    two = [{"rows": 2}, {"rows": 2}]
    swap = transaction(UPDATE, {**UPDATE, "draw": 1}, draws=two)
    seen = simulate(swap, clients=4, lock_design=design, load={"transactions": 200})
    assert seen["transactions"] == 800
    assert seen["deadlocks"] > 0
    assert seen["begun"] == seen["commits"] + seen["deadlocks"] + seen["timeouts"]


def test_the_same_seed_gives_the_same_run() -> None:
    mix = transaction(READ, UPDATE)
    first, again, other = (simulate(mix, clients=8, run_ns=50 * MS, seed=seed) for seed in (1, 1, 2))
    assert first["trace_hash"] == again["trace_hash"] != other["trace_hash"]


@pytest.mark.parametrize(
    ("mix", "problem"),
    [
        ([], "weights"),
        ([transaction(READ, weight=0)], "weights"),
        ([transaction()], "no statement"),
        ([transaction({**UPDATE, "draw": 1})], "draw 1 of 1"),
        ([transaction({**UPDATE, "table": 16})], "table"),
        ([transaction({**UPDATE, "rows": 0})], "rows"),
        ([transaction({**UPDATE, "access": "writes"})], "access"),
        ([{"statements": [READ]}], "lacks draws"),
        ([transaction(READ, weight=-1)], "weight"),
        ([transaction(READ, weight="often")], "weight must be an integer, got 'often'"),
        ([{**transaction(READ), "wieght": 2}], "no option 'wieght'"),
        ([{**transaction(READ), "commit": 5}], "commit must be a dict, got 5"),
        ([{**transaction(READ), "draws": 5}], "draws must be a list of dicts, got 5"),
    ],
)
def test_a_mix_that_says_nothing_is_refused(mix: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        simulate(*mix)
