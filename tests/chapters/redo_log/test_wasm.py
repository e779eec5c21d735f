"""The browser's run of a redo log is the native run."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_redo_log_in_webassembly_runs_the_native_run():
    from engineroom._native import redo_log
    from engineroom.simulating.loads import SYSBENCH

    grid = [
        {"design": design, "clients": clients, "cores": 4, "gate": gate}
        for design, clients, gate in itertools.product(
            [name for name in redo_log.designs() if name != "5.6"], (1, 20), (0, 1)
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("redo_log", grid)["results"], strict=True):
        expected = redo_log.simulate(
            design=inputs["design"],
            parameters={"cores_per_socket": 4, "disk_fsync_quantiles_ps": [100_000_000]},
            load={**SYSBENCH, "clients": inputs["clients"]},
            log={
                "buffer_bytes": 1 << 20,
                "recent_written_slots": 1 << 14,
                "recent_closed_slots": 1 << 15,
                "cpu_sample_ns": 5_000_000,
                "cpu_gate": inputs["gate"],
            },
            warmup_ns=20_000_000,
            run_ns=max(10_000, round(120_000 / inputs["clients"] ** 0.5)) * 1000,
        )
        assert int(result["hash"]) == expected["trace_hash"], inputs
        for name in ("events", "transactions", "fsyncs"):
            assert result[name] == expected[name]
        assert result["transactions"] > 0
