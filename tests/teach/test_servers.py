"""The servers of the exercises are those of the recordings, and no prediction is a near tie."""

from __future__ import annotations

import csv
import statistics

import pytest

from engineroom import paths
from engineroom.teach import servers


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


def test_the_functions_that_are_said_to_be_of_live_servers_are(monkeypatch):
    whole = servers.recorded()
    live = {name for name, made in whole["excerpts"].items() if ".live." in made["source"]}
    live |= {"engine", "low_concurrency"}  # as the tests above; "cats" is simulated
    asked: list[str] = []

    class Noting(dict):
        def __getitem__(self, name):
            asked.append(name)
            return super().__getitem__(name)

    monkeypatch.setattr(servers, "recorded", lambda: Noting({**whole, "excerpts": Noting(whole["excerpts"])}))
    for name in set(servers.__all__) - {"LIVE", "excerpt", "recorded"}:
        asked.clear()
        getattr(servers, name)()
        read = set(asked) - {"excerpts"}
        assert read
        assert (name in servers.LIVE) == (read <= live), name
        assert read <= live or not read & live, name


def test_counts_of_waits_are_whole_numbers_again():
    for row in servers.excerpt("lock_sys"):
        for name, per in (("lock_waits_per_1000", 1000), ("lock_wait_ms", 1)):
            count = row[name] * row["transactions"] / per
            assert count == pytest.approx(round(count), abs=1e-3)


def test_solutions_say_of_recorded_servers_what_the_recordings_have():
    on, off = (servers.flushes()[f"9.7.4, writer threads {how}"] for how in ("on", "off"))

    def per_transaction(runs):
        return [run["Innodb_os_log_fsyncs"] / run["Com_commit"] for run in runs]

    decides = {n: min(per_transaction(on[n])) > max(per_transaction(off[n])) for n in on}
    assert decides == {1: True, 10: False, 50: False, 200: True}

    for of in servers.row_waits()["pareto 5 %, 50,000 rows"].values():
        few, many = (
            {name: sum(run[name] for run in of[clients]) for name in of[clients][0]} for clients in (16, 64)
        )
        for seen in (few, many):
            assert seen["Innodb_row_lock_waits"] == pytest.approx(seen["transactions"], rel=0.05)
        ms = [seen["Innodb_row_lock_time"] / seen["Innodb_row_lock_waits"] for seen in (few, many)]
        assert 4.5 < ms[1] / ms[0] < 6

    for version, seen in servers.reports().items():
        cost_us = statistics.median(on - off for off, on in zip(seen["off"], seen["on"], strict=True))
        assert (cost_us < 1000) == (version != "9.7.4")
        assert 45 < 50_000 / cost_us < 65
