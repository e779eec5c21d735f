from __future__ import annotations

import pandas as pd
import pytest

from engineroom.chapters.redo_log import numbers
from engineroom.runs import Run
from engineroom.simulating.loads import SYSBENCH


def made(figure, method, columns, *rows, **more):
    return Run(figure, method, pd.DataFrame([*rows], columns=columns.split()), {}, **more)


def test_no_commit_is_lost_in_a_crash():
    assert numbers.crashed("lost_commits") == 0
    assert numbers.crashed("crashes") > 1000


def test_few_clients_have_a_gain_and_seeds_that_agree_on_its_side_or_not():
    run = made(
        "num-ch7-1",
        "sim",
        "concurrency series repeat throughput",
        *((n, "old_redo", repeat, 100.0) for n in (1, 40) for repeat in (0, 1, 2)),
        *((1, "new_redo", repeat, value) for repeat, value in enumerate((99.0, 102.0, 101.0))),
        *((40, "new_redo", repeat, value) for repeat, value in enumerate((98.0, 97.0, 98.5))),
    )
    assert numbers.gain(run).to_dict() == {1: 1.01, 40: 0.98}
    assert numbers.clients_where(numbers.seeds_agree(run)) == [40]


def test_one_simulated_client_is_brought_to_the_pace_of_the_live_one(monkeypatch):
    """At the usual pace the pace changes nothing and the processors do."""
    usual_us = (SYSBENCH["statement_ns"] + SYSBENCH["away_ns"]) / 1000
    monkeypatch.setattr(numbers, "pace_us", lambda: usual_us)
    on_two = numbers.one_client_fsyncs(is_small=True)
    assert numbers.one_client_fsyncs(is_small=True, is_paced=True) == on_two
    assert 1 < on_two != numbers.one_client_fsyncs(is_paced=True)


def test_the_pace_is_that_of_one_of_twenty_statements(monkeypatch):
    run = made("fig-7-06", "live", "concurrency series repeat transactions", (1, "flushes", 0, 750))
    run.provenance["load"] = "sysbench, 6 s a run"
    monkeypatch.setattr(numbers, "flushes_live", run)
    assert numbers.pace_us() == 400


def test_waits_stand_side_by_side_where_both_machines_had_them(monkeypatch):
    columns = ["series", "repeat", "name", "p50_ns", "p99_ns"]
    waited = pd.DataFrame(
        [
            ("old_redo", 0, "log_sys_mutex", 2e6, 4e6),
            ("old_redo", 0, "log_flushed", 4e4, 3e6),
            ("new_redo", 0, "log_flushed", 4e4, 3e6),
        ],
        columns=columns,
    )
    simulated = made("fig-7-04", "sim", "series", tables={"waits": waited})
    there = waited.query("series == 'old_redo'").assign(p50_ns=500.0)
    real = made("fig-7-04", "host", "series", tables={"waits": there}, recorded_at="2026-01-02T00:00:00")
    real.provenance.update(cores=2, scheduling="normal")
    monkeypatch.setattr(numbers, "profile_sim", simulated)
    monkeypatch.setattr(numbers, "profile_host", real)
    shown = numbers.waits()
    assert shown.rows.to_numpy().tolist() == [
        ["5.7", "log_sys_mutex", "2 ms", "4 ms", "0.5 us", "4 ms"],
        ["5.7", "log_flushed", "40 us", "3 ms", "0.5 us", "3 ms"],
    ]
    assert list(shown.rows)[2:4] == ["simulated, 176 threads: median", "simulated, 176 threads: 99 %"]
    assert shown.origin.endswith("Real threads: 2026-01-02, normal scheduling.")


@pytest.mark.parametrize(
    ("off_ns", "said"),
    [
        ((40.0, 80.0), "0.80 times (0.80 to 0.80)"),
        ((60.0, 120.0), "1.20 times (1.20 to 1.20)"),
        ((60.0, 80.0), "1.00 times (0.80 to 1.20: equal within noise)"),
    ],
)
def test_each_regime_has_its_ratio_over_processes_that_of_a_server_first(monkeypatch, off_ns, said):
    """Two processes, one thread, in a server's regime and in a small buffer."""
    columns = "threads series repeat nanoseconds cpu_ns between_ns log_buffer_bytes"

    def rows(between_ns, buffer_bytes, off):
        designs = {"mtr_5_7": (50.0, 100.0), "mtr_8_0": (60.0, 80.0), "mtr_8_0_writer_threads_off": off}
        return [
            (1, series, repeat, ns, ns, between_ns, buffer_bytes)
            for series, both in designs.items()
            for repeat, ns in enumerate(both)
        ]

    loads = pd.DataFrame(rows(50, 64 << 10, (75.0, 150.0)), columns=columns.split())
    server = rows(1000, 16 << 20, off_ns)
    run = made("num-deg-3", "kernel", columns, *server, tables={"loads": loads})
    monkeypatch.setattr(numbers, "commit", run)
    assert numbers.times_5_7("mtr_8_0_writer_threads_off") == said
    on = "1.00 times (0.80 to 1.20: equal within noise)"
    shown = numbers.regimes()
    assert shown.rows.to_numpy().tolist() == [
        ["16 MiB", "1,000", "75", said, on],
        ["64 KiB", "50", "75", "1.50 times (1.50 to 1.50)", on],
    ]
    assert "2 processes" in shown.origin
