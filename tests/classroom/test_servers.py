"""The servers of the exercises are those of the recordings, and no prediction is a near tie."""

from __future__ import annotations

import csv

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
    recorded = rows("cats/own-cats-policies.sim.2.csv")
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
