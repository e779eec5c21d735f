"""The browser's commits are the native ones."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_group_commit_in_webassembly_runs_the_native_run():
    from engineroom._native import group_commit
    from engineroom.simulating.loads import UPDATE

    grid = [
        {"clients": clients, "delay_us": delay_us, "durability": durability}
        for clients, (delay_us, durability) in itertools.product(
            (1, 16), ((0, "1/1"), (250, "1/1"), (0, "2/1000"))
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("group_commit", grid)["results"], strict=True):
        flush, sync = map(int, inputs["durability"].split("/"))
        for seen in result["all"]:
            delay_us = inputs["delay_us"] if seen["design"] == "5.7.6" else 0
            expected = group_commit.simulate(
                design=seen["design"],
                redo="5.7",
                parameters={"cores_per_socket": 16, "disk_fsync_quantiles_ps": [1_000_000_000]},
                load={**UPDATE, "clients": inputs["clients"]},
                commit={
                    "flush_log_at_trx_commit": flush,
                    "sync_binlog": sync,
                    "delay_us": delay_us,
                },
                log={"buffer_bytes": 1 << 20},
                warmup_ns=5_000_000,
                run_ns=1000 * (60 * (2 * 1000 + delay_us) if flush == 1 else 8_000),
            )
            assert int(seen["hash"]) == expected["trace_hash"], (inputs, seen["design"])
            for name in (
                "events",
                "transactions",
                "redo_fsyncs",
                "binlog_fsyncs",
                "flush_groups",
                "sync_groups",
            ):
                assert seen[name] == expected[name]
            assert (seen["p50_ns"], seen["p99_ns"]) == (
                expected["latency_ns_p50"],
                expected["latency_ns_p99"],
            )
            assert seen["transactions"] > 0
