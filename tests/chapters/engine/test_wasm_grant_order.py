"""The browser's pairs of runs are the native ones, with the demands and the cost of printing that were measured."""

from __future__ import annotations

import pytest

from engineroom.chapters.cats.experiments.simulated import PRINTING, print_ns, printed
from engineroom.show import headless
from engineroom.simulating.engine import demands

pytestmark = pytest.mark.usefixtures("node")

# The browser's engine, on a machine and with loads that do not change with the figures'.
DEMANDS_OF = "8.0.15"
SYSBENCH = {"kind": "sysbench_read_write", "away_ns": 33_000}
NATIVE_LOADS = {
    "pareto": {**SYSBENCH, "rows": 1_000_000, "distribution": "pareto"},
    "special": {**SYSBENCH, "rows": 10_000, "distribution": "special"},
    "uniform": {**SYSBENCH, "rows": 1_000, "distribution": "uniform"},
    **{f"tpcc_{n}": {"kind": "tpcc", "away_ns": 80_000, "warehouses": n} for n in (1, 10, 32)},
}
SMALL_LOG = {
    "buffer_bytes": 1 << 20,
    "recent_written_slots": 1 << 14,
    "recent_closed_slots": 1 << 15,
    "cpu_sample_ns": 5_000_000,
}
SHORT = {"clients": 25, "pairs": 1}
PRINTED = round(print_ns() / 1000)
GRID = [
    {**SHORT, "first": "vats", "second": "random", "load": "special", "print_us": 2000},
    {**SHORT, "first": "ldsf", "second": "cats, 8.0.3", "load": "uniform", "print_us": 0},
    {**SHORT, "first": "fcfs, 5.7", "second": "bldsf", "load": "tpcc_10", "print_us": 500},
    {**SHORT, "clients": 50, "load": "special", "print_us": PRINTED},
    {**SHORT, "load": "special", "second": "fcfs, equal weights"},
    {**SHORT, "clients": 50, "load": "special", "print_us": 0},
]


@pytest.fixture(scope="module")
def seen():
    return headless.evaluate("grant_order", GRID)


@pytest.mark.parametrize("place", range(3))
def test_pair_of_runs_in_webassembly_is_the_native_pair(seen, place):
    from engineroom._native import engine
    from engineroom.machine import presets

    pair = seen["results"][place]
    inputs = pair["inputs"]
    load = {**NATIVE_LOADS[inputs["load"]], "clients": inputs["clients"]}
    for run, policy in zip(pair["runs"], (inputs["first"], inputs["second"]), strict=True):
        expected = engine.simulate(
            parameters=presets.preset("four_sockets_176").values(),
            load=load,
            demands=demands(DEMANDS_OF, load["kind"]),
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


def test_every_policy_of_the_kernel_and_every_load_is_there(seen):
    from engineroom._native import lock_sys

    knobs = {knob["name"]: knob["values"] for knob in seen["knobs"]}
    assert sorted(knobs["first"]) == sorted(knobs["second"]) == sorted(lock_sys.policies())
    assert sorted(knobs["load"]) == sorted(NATIVE_LOADS)


def test_a_report_costs_and_is_as_long_as_the_recorded_one(seen):
    report_bytes = printed().values("server", y="print_bytes")[PRINTING]
    knobs = {knob["name"]: knob for knob in seen["knobs"]}
    assert knobs["print_us"]["start"] == PRINTED
    for run in seen["results"][3]["runs"]:
        seconds = run["window_ns"] / 1e9
        assert run["counted"] > 0
        assert run["log"] == pytest.approx(run["counted"] * report_bytes / seconds, rel=1e-9)


def test_the_same_policy_twice_makes_the_same_runs_and_silence_prints_nothing(seen):
    same, silent = seen["results"][4:]
    assert same["ratios"] == [1]
    assert len({run["hash"] for run in same["runs"]}) == 1
    assert sum(run["counted"] for run in silent["runs"]) > 0
    assert [run["log"] for run in silent["runs"]] == [0, 0]
