"""The browser's pairs of runs are the native ones, with the demands and the cost of printing that were measured."""

from __future__ import annotations

import pytest

from engineroom import facts
from engineroom.experiments.cats.policies import LOADS
from engineroom.experiments.cats.simulated import DEMANDS_OF, print_ns
from engineroom.simulating.engine import demands
from engineroom.widgets import headless

pytestmark = pytest.mark.usefixtures("node")

LOAD = "sysbench_read_write"
SMALL_LOG = {
    "buffer_bytes": 1 << 20,
    "recent_written_slots": 1 << 14,
    "recent_closed_slots": 1 << 15,
    "cpu_sample_ns": 5_000_000,
}
SHORT = {"clients": 25, "pairs": 1}


def test_pair_of_runs_in_webassembly_is_the_native_pair():
    from engineroom._native import engine
    from engineroom.machine import presets

    grid = [
        {**SHORT, "first": "vats", "second": "random", "skew": "special", "print_us": 2000},
        {**SHORT, "first": "fcfs, 5.7", "skew": "uniform", "print_us": 0},
    ]
    for inputs, seen in zip(grid, headless.evaluate("grant_order", grid)["results"], strict=True):
        for run, policy in zip(
            seen["runs"], (seen["inputs"]["first"], seen["inputs"]["second"]), strict=True
        ):
            expected = engine.simulate(
                parameters=presets.preset("four_sockets_176").values(),
                load={
                    "kind": LOAD,
                    "clients": inputs["clients"],
                    "distribution": inputs["skew"],
                    "rows": LOADS[inputs["skew"]]["rows"],
                },
                demands=demands(DEMANDS_OF, LOAD),
                engine={"redo": "8.0"},
                lock_design="9.7",
                locks={"policy": policy, "print_ns": 1000 * inputs["print_us"]},
                trx_sys={"latches": "8.0, sharded"},
                log=SMALL_LOG,
                warmup_ns=run["warmup_ns"],
                run_ns=run["window_ns"],
                seed=run["seed"],
            )
            assert int(run["hash"]) == expected["trace_hash"], (inputs, policy)
            assert run["transactions"] == expected["transactions"] > 100
            assert run["counted"] == expected["deadlocks"]
            assert run["lock_waits"] == expected["lock_waits"]


def test_a_report_costs_and_is_as_long_as_the_recorded_one():
    printed = round(print_ns() / 1000)
    knobs = {knob["name"]: knob for knob in headless.evaluate("grant_order", [SHORT])["knobs"]}
    assert knobs["print_us"]["start"] == printed
    inputs = {**SHORT, "clients": 50, "skew": "special", "print_us": printed}
    for run in headless.evaluate("grant_order", [inputs])["results"][0]["runs"]:
        seconds = run["window_ns"] / 1e9
        assert run["counted"] > 0
        assert run["log"] == pytest.approx(
            run["counted"] * facts.of("cats").printing.report_bytes / seconds, rel=1e-9
        )


def test_the_same_policy_twice_makes_the_same_runs_and_silence_prints_nothing():
    same, silent = headless.evaluate(
        "grant_order",
        [
            {**SHORT, "skew": "special", "second": "fcfs, equal weights"},
            {**SHORT, "clients": 50, "skew": "special", "print_us": 0},
        ],
    )["results"]
    assert same["ratios"] == [1]
    assert len({run["hash"] for run in same["runs"]}) == 1
    assert sum(run["counted"] for run in silent["runs"]) > 0
    assert [run["log"] for run in silent["runs"]] == [0, 0]
