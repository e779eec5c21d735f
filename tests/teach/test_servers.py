"""The servers of the exercises are those of the recordings, and no prediction is a near tie."""

from __future__ import annotations

import statistics

import pytest

from engineroom.teach import servers


def test_no_gain_to_predict_is_close_to_a_limit_and_seeds_differ():
    for seed in range(30):
        for _, _, times in servers.gains(seed).values():
            assert all(abs(times / limit - 1) > 0.04 for limit in (1.1, 2))
    assert len({str(servers.gains(seed)) for seed in range(30)}) > 20


@pytest.mark.parametrize("name", servers.EXCERPTS)
def test_an_excerpt_has_every_value_that_it_names(name):
    _, where = servers.EXCERPTS[name]
    rows = servers.excerpt(name)
    assert rows
    assert {column: {row[column] for row in rows} for column in where} == where


def test_changes_of_settings_differ_by_seed_and_are_near_no_limit():
    drawn = [servers.changes(seed) for seed in range(30)]
    assert len({str(each) for each in drawn}) > 25
    for each in drawn:
        assert all(abs(case[-1] / limit - 1) > 1 / 12 for case in each.values() for limit in (1, 4))


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


def test_servers_to_tell_apart_are_of_every_kind_and_differ_by_seed():
    kinds = {
        servers.settings: {"1/1", "2/1000", "0/0", "delay"},
        servers.joins: {"block nested loop", "memory", "spilled", "refilled"},
        servers.devices: {"device", "other"},
    }
    for draw, every in kinds.items():
        drawn = [draw(seed) for seed in range(30)]
        assert all({what for _, what in each.values()} == every for each in drawn)
        assert len({str(each) for each in drawn}) > 20


def test_counters_tell_the_servers_apart_by_what_the_solutions_say():
    for seed in range(30):
        for seen, what in servers.settings(seed).values():
            groups = seen["clients"] * seen["sync_groups"]
            assert (seen["redo_fsyncs"] < seen["flush_groups"] / 10) == (what in ("2/1000", "0/0"))
            assert (seen["binlog_fsyncs"] == 0) == (what == "0/0")
            if what in ("1/1", "delay"):
                assert groups < 1.1 if what == "delay" else groups > 2
        for seen, what in servers.joins(seed).values():
            assert (seen["cpu_ms"] > 300) == (what == "block nested loop")
            assert (seen["temporary_files"] > 0) == (what == "spilled")
            assert what != "refilled" or seen["rows_read"] > 12_000
        for seen, what in servers.devices(seed).values():
            transaction_us = 1_000_000 * seen["clients"] / seen["tps"]
            one, two = 100 * max(1, seen["fsyncs"]), 200  # what a commit waits for, at least and at most
            assert one > transaction_us / 3 if what == "device" else two < transaction_us / 3
