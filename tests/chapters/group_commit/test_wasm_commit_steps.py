"""The steps of group commit in the browser are the native run's, and nobody is told before both logs have it."""

from __future__ import annotations

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")

ORDER = ["begun", "prepared", "FLUSH", "SYNC", "COMMIT", "told"]
START = {"clients": 6, "design": "5.7.6", "delay_us": 0, "seed": 1}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"design": "5.6", "clients": 8},
        {"clients": 8, "delay_us": 2000},
        {"clients": 1, "seed": 3},
    ],
    ids=str,
)
def test_the_steps_are_those_of_the_native_run(change):
    from engineroom._native import group_commit
    from engineroom.simulating.loads import UPDATE

    inputs = START | change
    native = group_commit.trace(
        design=inputs["design"],
        redo="5.7",
        parameters={"cores_per_socket": 16, "disk_fsync_quantiles_ps": [1_000_000_000]},
        load={**UPDATE, "clients": inputs["clients"], "transactions": 2},
        commit={"delay_us": inputs["delay_us"]},
        run_ns=40_000_000,
        seed=inputs["seed"],
    )
    times = {ns for ns, *_ in native}
    seen = headless.evaluate("commit_steps", [inputs | {"step": step} for step in range(0, 200, 5)])[
        "results"
    ]
    assert {each["noted"] for each in seen} == {len(native)}
    assert {each["now_ns"] for each in seen} <= times
    assert seen[-1]["now_ns"] == max(ns for ns, what, *_ in native if what == "told")
    assert {one["where"] for one in seen[-1]["standings"]} == {"told"}
    assert len(seen[-1]["standings"]) == 2 * inputs["clients"]
    reached: dict[int, int] = {}
    for result in seen:
        leaders = [one["where"] for one in result["standings"] if one["leads"]]
        assert len(leaders) == len(set(leaders)), "a stage has one leader"
        for one in result["standings"]:
            assert not (one["leads"] and one["waits"])
            now = ORDER.index(one["where"])
            assert reached.get(one["xid"], 0) <= now, "nobody goes back"
            reached[one["xid"]] = now


def test_one_fsync_carries_a_group():
    seen = headless.evaluate("commit_steps", [START | {"step": 200}])["results"]
    alone = headless.evaluate("commit_steps", [START | {"step": 200, "clients": 1}])["results"]
    assert seen[0]["largest"] > 1
    assert alone[0]["largest"] == 1
