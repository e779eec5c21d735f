"""Sessions at the latches of the transaction system: one by hand, the counts of another kernel, nothing changed by looking."""

from __future__ import annotations

import itertools

import pytest

from engineroom._native import read_views
from engineroom._native import trx_sys as kernel

DESIGNS = ("5.6", "5.7", "8.0", "8.0, split", "8.0, sharded")
TRANSACTIONS = ("SELECT", "two SELECTs", "UPDATE", "SELECT, UPDATE")
EIGHT = {"cores_per_socket": 8}


def test_one_session_of_8_0_26_takes_and_leaves_each_latch_in_the_order_of_its_commit():
    seen = kernel.latch_steps({"latches": "8.0, sharded", "transaction": "UPDATE", "sessions": 1})
    taken = [(step["call"], min(step["latch"], 2)) for step in seen["steps"] if step["does"] == "takes"]
    assert taken == [
        ("take_id", 0),
        ("take_id", 2),
        ("commit", 1),  # a number
        ("commit", 0),  # the active ids: from here on new snapshots show the change
        ("commit", 2),
        ("commit", 1),  # the number leaves
    ]
    assert [step["does"] for step in seen["steps"]] == ["takes", "leaves"] * 6


@pytest.mark.parametrize("latches", DESIGNS)
@pytest.mark.parametrize("transaction", ["two SELECTs", "UPDATE"])
def test_a_session_takes_as_many_latches_as_the_statement_costs_elsewhere(latches, transaction):
    cost = read_views.statement_cost(
        latches=latches,
        views="removed" if latches == "5.6" else "kept",
        statement={"two SELECTs": "two_selects", "UPDATE": "update"}[transaction],
        level="READ COMMITTED",
        has_binlog=False,
    )
    seen = kernel.latch_steps(
        {"latches": latches, "transaction": transaction, "sessions": 7}, parameters=EIGHT
    )
    for name in ("mutex", "serialisation", "shards"):
        assert seen[name] == 7 * cost[name], name


@pytest.mark.parametrize("seed", range(1, 6))
def test_looking_changes_nothing_and_no_latch_has_two_sessions(seed):
    for latches, transaction, count in itertools.product(DESIGNS, TRANSACTIONS, (0, 300)):
        config = {"latches": latches, "transaction": transaction, "open": count}
        seen = kernel.latch_steps(config, parameters=EIGHT, seed=seed)
        blind = kernel.latch_steps(config, parameters=EIGHT, seed=seed, is_observed=False)
        assert seen["trace_hash"] == blind["trace_hash"]
        assert blind["steps"] == []
        has: dict[int, int] = {}
        waits: dict[int, int] = {}
        for step in seen["steps"]:
            if step["does"] == "leaves":
                assert has.pop(step["latch"]) == step["session"]
                continue
            assert waits.pop(step["session"], step["latch"]) == step["latch"]
            if step["does"] == "takes":
                assert step["latch"] not in has
                has[step["latch"]] = step["session"]
            else:
                waits[step["session"]] = step["latch"]
        assert (has, waits) == ({}, {})


def test_an_open_transaction_sends_those_who_look_for_an_id_to_the_mutex_of_8_0():
    alone, beside = (
        kernel.latch_steps({"latches": "8.0", "transaction": "UPDATE", "sessions": 1, "open": count})["mutex"]
        for count in (0, 1)
    )
    assert beside == alone + 1


@pytest.mark.parametrize(
    ("config", "said"),
    [({"sessions": 0}, "sessions"), ({"open": 10**6}, "open"), ({"latches": "9.7"}, "latches")],
)
def test_what_does_not_fit_is_refused_by_name(config, said):
    with pytest.raises(ValueError, match=said):
        kernel.latch_steps(config)
