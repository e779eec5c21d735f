"""Traces of both machines, as a viewer reads them, and folded stacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engineroom.machine import trace

native = pytest.importorskip("engineroom._native").machine

MS = 1_000_000

LOOP: dict[str, Any] = {"clients": 8, "work_ns": 5_000, "hold_ns": 500, "latch": True, "run_ns": 5 * MS}


def run(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = LOOP | {"parameters": {"cores_per_socket": 4}} | changes
    return native.closed_loop(**arguments)  # type: ignore[no-any-return]


@pytest.mark.alone
def test_a_trace_of_real_threads_opens_in_the_same_viewer(tmp_path: Path):
    seen = native.closed_loop_on_host(
        clients=3,
        work_ns=20_000,
        hold_ns=2_000,
        latch=True,
        fsyncs=1,
        fsync_ns=50_000,
        run_ns=30 * MS,
        trace_intervals=100_000,
    )
    assert seen["intervals_not_kept"] == 0
    trace.write_chrome_trace(seen, tmp_path / "trace.json")
    slices = [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {"work", "io"} <= {e["cat"] for e in slices}
    assert "file" in {e["name"] for e in slices if e["cat"] == "io"}
    for core in {e["tid"] for e in slices if e["pid"] == trace.CORES}:
        stints = sorted((e["ts"], e["dur"]) for e in slices if e["pid"] == trace.CORES and e["tid"] == core)
        ends = [start + length for start, length in stints]
        assert all(end <= start + 1e-6 for end, (start, _) in zip(ends, stints[1:], strict=False))
    few = native.closed_loop_on_host(clients=1, fsyncs=1, fsync_ns=50_000, run_ns=50 * MS, trace_intervals=5)
    assert len(few["trace"]) == 5
    assert few["intervals_not_kept"] > 0


def test_a_trace_has_a_track_a_core_and_no_two_things_at_once_on_it(tmp_path: Path):
    seen = run(parameters={"cores_per_socket": 2, "trace_intervals": 100_000}, run_ns=30 * MS)
    trace.write_chrome_trace(seen, tmp_path / "trace.json")
    read = json.loads((tmp_path / "trace.json").read_text())
    assert read["otherData"] == {"intervals_not_kept": 0}
    slices = [e for e in read["traceEvents"] if e["ph"] == "X" and e["pid"] == trace.CORES]
    for core in (0, 1):
        stints = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == core and e["cat"] == "work")
        assert len(stints) > 2
        ends = [start + length for start, length in stints]
        assert all(end <= start + 1e-6 for end, (start, _) in zip(ends, stints[1:], strict=False))


def test_a_trace_that_is_full_says_what_it_left_out():
    seen = run(parameters={"cores_per_socket": 2, "trace_intervals": 10})
    assert len(seen["trace"]) == 10
    assert seen["intervals_not_kept"] > 0


def test_folded_stacks_say_where_virtual_time_went():
    stacks = dict(line.rsplit(" ", 1) for line in trace.folded_stacks(run()).splitlines())
    assert int(stacks["client;work"]) > 0
