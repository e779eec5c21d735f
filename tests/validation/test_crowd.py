"""One word or one lock under many threads: what is returned, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

native = pytest.importorskip("engineroom._native").machine

MACHINE = {"sockets": 2, "cores_per_socket": 4}
LOCKS = ("test_and_set", "test_and_test_and_set", "ticket", "mcs", "futex")


def run(operation: str = "add", **more: Any) -> dict[str, Any]:
    arguments = {"parameters": MACHINE, "threads": 4, "run_ns": 100_000, **more}
    return native.crowd(operation=operation, **arguments)  # type: ignore[no-any-return]


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    assert run(seed=7)["trace_hash"] == run(seed=7)["trace_hash"]
    assert run(seed=7)["trace_hash"] != run(seed=8)["trace_hash"]


@pytest.mark.parametrize("operation", ["swap", "compare_and_swap", *LOCKS])
def test_every_thread_takes_turns_and_nobody_intrudes(operation):
    seen = run(operation, data_lines=1, outside_ns=200, exponential=True, run_ns=400_000)
    assert (seen["turns"] > 0).all()
    assert seen["intrusions"] == 0
    assert seen["window_ns"] == 400_000


def test_turns_of_the_warm_up_are_not_counted():
    whole, late = run(run_ns=200_000), run(run_ns=100_000, warmup_ns=100_000)
    assert late["turns"].sum() == pytest.approx(whole["turns"].sum() / 2, rel=0.02)


def test_waiting_on_one_line_for_a_ticket_costs_more_than_on_two():
    apart, together = run("ticket"), run("ticket", on_one_line=True)
    assert apart["turns"].sum() > together["turns"].sum()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operation": "spin"}, "operation must be 'add', "),
        ({"threads": 0}, "threads must be 1 to 4096, got 0"),
        ({"run_ns": 0}, "run_ns must be at least 1, got 0"),
        ({"warmup_ns": -1}, "warmup_ns must be at least 0, got -1"),
        ({"operation": "turns"}, "threads must be 2 to take turns, got 4"),
        ({"cpus": [0, 1]}, "cpus must name one CPU for each of 4 threads, got 2"),
        ({"cpus": [0, 1, 1, 2]}, "cpus must rise, got 1"),
        ({"cpus": [0, 1, 2, 8]}, "cpus must be below the machine's 8, got 8"),
        ({"backoff_most_ns": 5}, "attempt_ns must be positive to double up to backoff_most_ns, got 0"),
        ({"attempt_ns": 6, "backoff_most_ns": 5}, "backoff_most_ns must be at least attempt_ns, got 5"),
        ({"parameters": {"core": 4}}, "no option 'core'"),
    ],
)
def test_a_bad_argument_is_answered_with_its_value(changes, message):
    with pytest.raises(ValueError, match=message):
        run(**changes)
