"""The browser's engine is the native one, on the same machine, with the demands that were measured."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from engineroom.show import bundle, headless

pytestmark = pytest.mark.usefixtures("node")

SERVER, LOAD = "9.7.4", "sysbench_read_write"
SMALL_LOG = {
    "buffer_bytes": 1 << 20,
    "recent_written_slots": 1 << 14,
    "recent_closed_slots": 1 << 15,
    "cpu_sample_ns": 5_000_000,
}
# Percent of the table's pages that have room, and the latches.
POOLS = {"none": (0, "8.0"), "half": (50, "8.0"), "tenth, one mutex": (10, "5.7")}


def pool_of(name: str) -> dict[str, Any]:
    from engineroom._native import engine

    percent, latches = POOLS[name]
    pages = engine.data_pages({"kind": LOAD}) * percent // 100 + 2 * 8 * 64
    return {"pages": pages, "latches": latches, "lru_scan_depth": 64, "warm_transactions": 1_000}


TOPOLOGIES = {2: (1, 2, 1), 176: (4, 22, 2)}


def test_engine_in_webassembly_runs_the_native_run():
    from engineroom._native import engine
    from engineroom.machine import presets
    from engineroom.simulating.engine import demands

    grid = [
        {"locks": locks, "trx": trx, "redo": redo, "cpus": cpus, "clients": clients, "skew": skew}
        for (locks, trx, redo), (cpus, clients, skew) in itertools.product(
            (("5.7", "5.7", "5.7"), ("9.7", "8.0, sharded", "8.0"), ("9.7", "8.0, split", "5.6")),
            ((2, 4, "pareto"), (176, 64, "uniform")),
        )
    ]
    grid = [{**each, "binlog": "off", "pool": "none"} for each in grid] + [
        {**grid[0], "binlog": "5.5", "pool": "tenth, one mutex"},
        {**grid[3], "binlog": "5.7.6", "pool": "half"},
    ]
    large = presets.preset("four_sockets_176").values()
    for inputs, seen in zip(grid, headless.evaluate("engine", grid)["results"], strict=True):
        sockets, cores, threads = TOPOLOGIES[inputs["cpus"]]
        topology = {"sockets": sockets, "cores_per_socket": cores, "threads_per_core": threads}
        expected = engine.simulate(
            parameters={**large, **topology},
            load={"kind": LOAD, "clients": inputs["clients"], "distribution": inputs["skew"]},
            demands=demands(SERVER, LOAD),
            engine={
                "redo": inputs["redo"],
                "binlog": inputs["binlog"],
                "has_buffer_pool": inputs["pool"] != "none",
            },
            pool=pool_of(inputs["pool"]),
            lock_design=inputs["locks"],
            trx_sys={"latches": inputs["trx"]},
            log=SMALL_LOG,
            warmup_ns=seen["warmup_ns"],
            run_ns=seen["window_ns"],
        )
        assert int(seen["hash"]) == expected["trace_hash"], inputs
        for name in ("events", "transactions", "deadlocks", "lock_waits", "sync_groups", "pool_misses"):
            assert seen[name] == expected[name], name
        waits = {wait["name"]: (wait["count"], wait["total_ns"]) for wait in expected["waits"]}
        assert {wait["name"]: (wait["count"], wait["total_ns"]) for wait in seen["waits"]} == waits
        assert seen["transactions"] >= 100


def test_its_bound_without_queues_is_that_of_the_recorded_demands():
    from engineroom._native import engine
    from engineroom.simulating.engine import demands

    recorded = demands(SERVER, LOAD)
    steps = engine.script({"kind": LOAD})["steps"]
    statements = [step["statement"] for step in steps] + ["read_write.commit"]
    computing_ns = sum(recorded[name]["computing_ns"] for name in statements)
    away_ns = next(option.default for option in engine.load_options() if option.name == "away_ns") * len(
        statements
    )
    one, crowd = headless.evaluate("engine", [{"clients": 1}, {"clients": 128, "cpus": 2}])["results"]
    assert one["most_per_s"] == pytest.approx(1e9 / (computing_ns + away_ns))
    assert crowd["most_per_s"] == pytest.approx(2e9 / computing_ns)
    assert 0.8 * one["most_per_s"] < one["per_s"] <= 1.1 * one["most_per_s"]


def test_whatever_a_client_waits_for_belongs_to_one_queue_or_to_threads_of_the_server():
    grid = [
        {"redo": redo, "locks": locks, "clients": 16}
        for redo in ("5.6", "5.7", "8.0")
        for locks in ("5.7", "9.7")
    ] + [
        {"binlog": "5.5", "pool": "tenth", "clients": 16},
        {"binlog": "5.7.6", "pool": "all", "clients": 128},
    ]
    module = (bundle.sources("engine")[1]).read_text(encoding="utf-8")
    queues = [re.compile(found) for found in re.findall(r"of: /(.+?)/ \}", module)]
    servers_own = re.compile(
        r"log_(writer|flusher|closer|write_notifier|flush_notifier)_|lock_wait_(timeout_event|mutex)$|buf_flush_event$"
    )
    names = {wait["name"] for seen in headless.evaluate("engine", grid)["results"] for wait in seen["waits"]}
    assert len(queues) == 7
    assert names
    for name in names:
        assert sum(bool(each.search(name)) for each in [*queues, servers_own]) == 1, name
