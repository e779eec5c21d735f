"""The steps at the latches are the native kernel's, and the picture never shows two sessions under one latch."""

from __future__ import annotations

import itertools

import pytest

from engineroom._native import trx_sys
from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")

DESIGNS = ("5.6", "5.7", "8.0", "8.0, split", "8.0, sharded")
TRANSACTIONS = ("SELECT", "two SELECTs", "UPDATE", "SELECT, UPDATE")
MACHINE = {"cores_per_socket": 8}
COMPUTING_NS = 1500


def test_steps_in_webassembly_are_the_native_ones():
    grid = [
        {"design": design, "transaction": transaction, "open": count, "seed": seed}
        for design, transaction, count, seed in itertools.product(DESIGNS, TRANSACTIONS, (0, 3000), (1, 4))
    ]
    for inputs, seen in zip(grid, headless.evaluate("trx_sys", grid)["results"], strict=True):
        expected = trx_sys.latch_steps(
            {
                "latches": inputs["design"],
                "transaction": inputs["transaction"],
                "open": inputs["open"],
                "computing_ns": COMPUTING_NS,
            },
            parameters=MACHINE,
            seed=inputs["seed"],
        )
        assert seen["taken"] == [expected[name] for name in ("mutex", "serialisation", "shards")]
        mine = [
            (each["ns"], each["session"], each["latch"], each["call"], each["does"])
            for each in seen["events"]
        ]
        assert mine == [
            (each["now_ns"], each["session"], each["latch"], each["call"], each["does"])
            for each in expected["steps"]
        ]


def test_no_step_shows_two_sessions_under_one_latch_and_the_last_shows_all_ended():
    for design in ("5.6", "8.0, sharded"):
        steps = headless.evaluate("trx_sys", [{"design": design, "step": 64}])["results"][0]["last"]
        assert 20 < steps <= 64, "the knob has so many steps"
        grid = [{"design": design, "step": step} for step in range(steps + 1)]
        crowded = 0
        for seen in headless.evaluate("trx_sys", grid)["results"]:
            held = [each["latch"] for each in seen["sessions"] if each["state"] == "has"]
            assert len(set(held)) == len(held)
            crowded += sum(each["state"] == "waits" for each in seen["sessions"]) >= 2
        assert crowded > 5, "a reader sees a queue"
        assert {each["state"] for each in seen["sessions"]} == {"has ended"}
