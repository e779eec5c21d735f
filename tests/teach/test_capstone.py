"""The capstone's servers can be told by their counters, and what its questions say of changes is what was recorded."""

from __future__ import annotations

import pytest

from engineroom.teach import capstone

SEEDS = range(30)


def test_each_seed_has_every_bound_and_seeds_differ():
    drawn = [capstone.bounded(seed) for seed in SEEDS]
    assert all({cause for _, cause in each.values()} == set(capstone.CAUSES) for each in drawn)
    assert len({str(each) for each in drawn}) == len(drawn)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_counters_show_what_bounds_each_server(seed):
    for seen, cause in capstone.bounded(seed).values():
        waiting = seen["tps"] * seen["row_lock_ms"] / 1000
        in_fsync = (
            seen["fsync_us"] * seen["tps"] / seen["clients"] / 1e6
        )  # of a transaction's time, one fsync
        assert (waiting > seen["clients"] / 2) == (cause == "rows"), seen
        assert (seen["server_cpus"] > 11) == (cause == "processors"), seen
        if cause == "device":
            assert in_fsync > 0.2, seen
        if cause == "clients":
            assert seen["clients"] == 1
            assert in_fsync < 0.1, seen


def test_what_the_solution_says_of_the_bounds_was_drawn():
    for seed in SEEDS:
        seen = [each for each, cause in capstone.bounded(seed).values() if cause == "processors"]
        assert any(each["fsync_us"] for each in seen)
        assert any(each["p95_ms"] > 25 for each in seen)


def test_changes_are_of_every_kind_and_their_gains_are_those_of_the_recordings():
    found = {}
    for seed in SEEDS:
        drawn = capstone.changes(seed)
        assert sorted(seen["change"].partition(":")[0] for seen, _ in drawn.values()) == [
            "clients", "clients", "fsync_us", "version", "version"
        ]  # fmt: skip
        for seen, word in drawn.values():
            found[seen["load"], seen["version"], seen["clients"], seen["change"]] = word
    assert found["hot rows", "5.7.22", 256, "version: 9.7.4"] == "much"
    assert found["read-write", "5.7.22", 64, "version: 9.7.4"] == "none"
    assert found["hot rows", "5.7.22", 64, "clients: 256"] == "less"
    assert found["hot rows", "5.7.22", 1, "fsync_us: 0"] == "much"
    crowds = [
        word
        for (load, _, n, said), word in found.items()
        if "clients" in said and load == "hot rows" and n > 8
    ]
    assert set(crowds) == {"less"}
