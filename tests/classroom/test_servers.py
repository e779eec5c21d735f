"""The servers of the exercises are those of the recordings, and no prediction is a near tie."""

from __future__ import annotations

import csv

import pytest

from engineroom import paths
from engineroom.classroom import servers


def rows(name: str) -> list[dict[str, str]]:
    with (paths.data() / "recorded" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_throughput_and_waits_are_those_of_the_recorded_servers():
    recorded = [row for row in rows("engine/own-engine-live.live.1.csv") if row["series"] == "server"]
    for each in servers.recorded()["engine"]:
        mine = [
            row
            for row in recorded
            if f"{row['server']} {row['distribution']}" == each["name"]
            and int(row["clients"]) == each["clients"]
        ]
        assert each["tps"] == [float(row["tps"]) for row in mine]
        assert each["lock_wait_ms"] == [float(row["lock_wait_ms"]) for row in mine]
    assert len(servers.crowds()) == 4


def test_policies_are_those_of_the_recorded_simulation():
    recorded = rows("cats/own-cats-policies.sim.3.csv")
    for each in servers.recorded()["cats"]:
        mine = [row for row in recorded if (row["workload"], row["series"]) == (each["load"], each["policy"])]
        assert each["tps"] == [float(row["tps"]) for row in mine]


def test_operations_are_those_of_the_recorded_servers():
    recorded = rows("low_concurrency/own-low-concurrency-operations.live.4.csv")
    counted = rows("low_concurrency/own-low-concurrency-operations.live.4.counters.csv")
    for each in servers.recorded()["low_concurrency"]:
        wanted = (each["operation"], each["version"])
        mine = [row for row in recorded if (row["operation"], row["series"]) == wanted]
        assert each["cpu_us"] == [float(row["server_cpu_us"]) for row in mine]
        assert each["counters"] == {
            row["counter"]: float(row["per_operation"])
            for row in counted
            if (row["operation"], row["series"]) == wanted
        }


def test_no_gain_to_predict_is_close_to_a_limit_and_seeds_differ():
    for seed in range(30):
        for _, _, times in servers.gains(seed).values():
            assert all(abs(times / limit - 1) > 0.04 for limit in (1.1, 2))
    assert len({str(servers.gains(seed)) for seed in range(30)}) > 20


@pytest.mark.parametrize("name", servers.recorded()["excerpts"])
def test_an_excerpt_is_all_of_its_recording_that_fits(name):
    made = servers.recorded()["excerpts"][name]
    wanted = [
        [row[column] for column in made["columns"]]
        for row in rows(made["source"])
        if all(row[column] in values for column, values in made["where"].items())
    ]
    assert wanted
    assert [[value if isinstance(value, str) else float(value) for value in row] for row in made["rows"]] == [
        [want if isinstance(value, str) else float(want) for value, want in zip(row, wants, strict=True)]
        for row, wants in zip(made["rows"], wanted, strict=True)
    ]


def test_changes_of_settings_differ_by_seed_and_are_near_no_limit():
    drawn = [servers.changes(seed) for seed in range(30)]
    assert len({str(each) for each in drawn}) > 25
    for each in drawn:
        assert all(abs(case[-1] / limit - 1) > 1 / 12 for case in each.values() for limit in (1, 4))
