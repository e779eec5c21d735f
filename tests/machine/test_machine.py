"""Both machines from Python: what a run says, and what it refuses."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

native = pytest.importorskip("engineroom._native").machine

MS = 1_000_000

PURPOSES = ("work", "memory", "spin", "switching", "idle", "io_wait")

LOOP: dict[str, Any] = {"clients": 8, "work_ns": 5_000, "hold_ns": 500, "latch": True, "run_ns": 5 * MS}


def run(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = LOOP | {"parameters": {"cores_per_socket": 4}} | changes
    return native.closed_loop(**arguments)  # type: ignore[no-any-return]


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    assert run(seed=7)["trace_hash"] == run(seed=7)["trace_hash"]
    assert run(seed=7)["trace_hash"] != run(seed=8)["trace_hash"]


def test_the_time_of_every_core_is_accounted_for():
    seen = run()
    assert seen["core_ps"].sum(axis=1).tolist() == pytest.approx([5 * MS * 1000] * 4, rel=0.02)


def test_waits_are_told_by_the_name_of_the_latch():
    (wait,) = run()["waits"]
    assert wait["name"] == "latch"
    assert wait["count"] > 0
    assert wait["spin_rounds"] + wait["parks"] > 0


def test_an_unknown_parameter_is_named():
    with pytest.raises(ValueError, match="no option 'core'"):
        run(parameters={"core": 4})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clients": 0}, "clients must be at least 1, got 0"),
        ({"run_ns": 0}, "run_ns must be at least 1, got 0"),
        ({"parameters": {"sockets": 0}}, "sockets must be at least 1, got 0"),
        ({"parameters": {"sockets": 300}}, "at most 256 CPUs, got 300 sockets"),
        ({"parameters": {"load_ps": -1}}, "load_ps must be 0 to 3600000000000000, got -1"),
        ({"parameters": {"load_ps": "x"}}, "load_ps must be an integer"),
        (
            {"parameters": {"interrupt_every_ps": -1}},
            "interrupt_every_ps must be 0 to 3600000000000000, got -1",
        ),
        (
            {"parameters": {"interrupt_quantiles_ps": [1, -2]}},
            "each of interrupt_quantiles_ps must be 0 to 8000000000000, got -2",
        ),
        ({"parameters": {"wake_ps": 1, "wake_quantiles_ps": [1, 2]}}, "both wake_ps and wake_quantiles_ps"),
        ({"work_ns": 0, "hold_ns": 0, "latch": False}, "a turn must take time"),
    ],
)
def test_a_bad_argument_is_answered_with_its_value(changes, message):
    with pytest.raises(ValueError, match=message):
        run(**changes)


# Of CPUs there may be 256 in all.
LIMITED = [
    option
    for option in native.parameters()
    if option.kind != "boolean" and option.name not in ("sockets", "cores_per_socket", "threads_per_core")
]


@pytest.mark.parametrize("option", LIMITED, ids=lambda option: option.name)
def test_times_add_up_with_any_parameter_at_its_most_and_more_is_refused(option):
    def given(value: int) -> dict[str, Any]:
        return {"cores_per_socket": 4, option.name: [value, value] if option.kind == "integers" else value}

    seen = run(parameters=given(option.most))
    # Of a switch that is under way nothing is counted yet.
    assert seen["core_ps"].sum(axis=1).max() <= 1.02 * 5 * MS * 1000
    with pytest.raises(
        ValueError, match=rf"{option.name} must be \d+ to {option.most}, got {option.most + 1}"
    ):
        run(parameters=given(option.most + 1))


def test_progress_is_called_with_virtual_time_and_an_error_in_it_ends_the_run():
    times: list[int] = []
    run(run_ns=50 * MS, progress=times.append)
    assert times == sorted(times)
    assert 0 < times[-1] <= 50 * MS

    def refuse(now_ns: int) -> None:
        raise LookupError(f"enough at {now_ns}")

    with pytest.raises(LookupError, match="enough at"):
        run(run_ns=50 * MS, progress=refuse)


def test_ctrl_c_ends_a_long_run():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(run_ns=10_000_000 * MS)
    timer.join()


def test_other_python_threads_go_on_during_a_run():
    with ThreadPoolExecutor(2) as executor:
        runs = [executor.submit(run, seed=seed) for seed in (1, 2)]
        assert runs[0].result()["trace_hash"] == run(seed=1)["trace_hash"]
        assert runs[1].result()["trace_hash"] == run(seed=2)["trace_hash"]


@pytest.mark.alone
def test_the_same_clients_run_on_real_threads():
    seen = native.closed_loop_on_host(clients=2, work_ns=5_000, hold_ns=500, latch=True, run_ns=50 * MS)
    assert seen["turns"] > 100
    assert {path[0] for path, _, _ in seen["activities"]} == {"client"}


@pytest.mark.alone
def test_real_threads_tell_where_the_time_of_each_core_went():
    seen = native.closed_loop_on_host(
        clients=4,
        think_ns=200_000,
        work_ns=50_000,
        hold_ns=5_000,
        latch=True,
        fsyncs=1,
        fsync_ns=100_000,
        run_ns=100 * MS,
    )
    total = dict(zip(PURPOSES, seen["core_ps"].sum(axis=0).tolist(), strict=True))
    assert total["memory"] == 0
    assert all(total[purpose] > 0 for purpose in ("work", "switching", "io_wait"))
    # No core has more time than the run took, whose threads also need a little to begin and to end.
    lengths = seen["core_ps"].sum(axis=1).tolist()
    assert max(lengths) == pytest.approx(min(lengths), rel=0.05)
    assert 100 * MS * 1000 <= min(lengths) <= 1000 * MS * 1000
    computed = sum(ps for _, state, ps in seen["activities"] if state == "work")
    assert total["work"] == computed
    assert len(seen["trace"]) == 0
