"""The comparison of the two machines: what is fitted, what is held out, what counts as an error."""

from __future__ import annotations

import math
import statistics
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from engineroom import runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run
from engineroom.validation import numbers
from engineroom.validation.experiments import real as experiment
from engineroom.validation.figures import own_machine_real


@pytest.fixture(scope="module")
def run():
    return experiment.real_against_simulated(
        clients=(2,),
        crowds=(4,),
        repeats=1,
        crowd_repeats=1,
        run_ms=50,
        rest_ms=0,
        samples=1,
        factors=(0.7, 1.0),
    )


@pytest.mark.alone
def test_every_load_is_measured_and_simulated(run):
    for series in experiment.SERIES:
        counting = experiment.undisturbed(run.table)
        mine = counting[counting["series"] == series]
        assert set(mine["load"]) == set(experiment.LOADS)
        assert (mine.loc[mine["load"] != "f", "commits_per_s"] > 0).all()
        repeats = mine[mine["clients"] == 2].groupby(["load", "design"])["repeat"].nunique()
        assert (repeats == [3 if load == "f" else 1 for load, _ in repeats.index]).all()


@pytest.mark.alone
def test_the_simulated_machine_has_the_scheduler_of_the_recording(run):
    machine = run.provenance["machine"]
    assert run.provenance["scheduling"].startswith("SCHED_RR") == (machine.get("tick_ps", 0) > 0)
    if machine.get("tick_ps", 0) > 0:
        assert machine["slice_ps"] % machine["tick_ps"] == 0


@pytest.mark.alone
def test_a_simulated_run_has_the_distances_of_the_real_one_that_it_is_compared_with(run):
    counting = experiment.undisturbed(run.table)
    keys = ["load", "design", "clients", "repeat"]
    for column in experiment.APART:
        ns = counting.pivot(index=keys, columns="series", values=column)
        assert (ns["real"] > 0).all()
        assert (ns["real"] == ns["simulated"]).all()


def test_a_longer_line_or_write_slows_the_simulated_run_and_a_longer_copy_does_not():
    """From the recorded computer's distances: those of a busy moment may be anything."""
    run = runs.newest("own-machine-real", "host")
    counting = experiment.undisturbed(run.table)
    real = counting[(counting["series"] == "real") & (counting["design"] == "8.0")]
    rises = {}
    for load, column, clients in (("e", "line_ns", 16), ("f", "copy_ns", 2), ("f", "write_ns", 2)):
        row = {**real[real["load"] == load].iloc[0], "clients": clients}
        far, near = (
            experiment._twin(
                {**row, column: ns}, run.provenance["machine"],
                primitives_ns=run.provenance["primitives_ns"], run_ms=100,
            )["commits_per_s"]
            for ns in (50.0 * row[column], row[column])
        )  # fmt: skip
        rises[column] = far > near
    # A large client that copies slowly leaves the log to the small one.
    assert rises == {"line_ns": False, "copy_ns": True, "write_ns": False}


def test_one_cpu_is_too_few_to_compare(monkeypatch):
    monkeypatch.setattr(experiment.os, "cpu_count", lambda: 1)
    with pytest.raises(EngineRoomError, match="needs 2 CPUs, this machine has 1"):
        experiment.real_against_simulated()


def test_the_fit_sees_no_held_out_load():
    asked = []

    def twin(real, machine):
        asked.append(real["load"])
        return {"commits_per_s": statistics.median(machine["wake_quantiles_ps"])}

    real = pd.DataFrame(
        {
            "load": load,
            "design": design,
            "clients": 2,
            "is_held_out": load in experiment.HELD_OUT,
            "commits_per_s": 4000.0,
        }
        for load in experiment.LOADS
        for design in experiment.DESIGNS
    )
    start = {"wake_quantiles_ps": [900, 1000, 1300], "timer_ps": 1000}
    with ThreadPoolExecutor(1) as executor:
        fitted, tried = experiment._fit(start, real, twin, executor, factors=(0.5, 1.0, 4.0))
    assert set(asked) == set(experiment.FITTED)
    assert fitted == {**start, "wake_quantiles_ps": [3600, 4000, 5200]}
    assert min(row["error"] for row in tried) < 0.01
    assert len(tried) == 3


def commits(design, clients, **parameters):
    """Of one append a commit on two processors over 400 ms, where what leaves the virtual machine costs 12 us."""
    machine = {**experiment.preset("laptop").values(), "wake_ps": 20_000_000, "timer_slack_ps": 0, "disk_is_timer": 1,
               "disk_ps_per_kib": 0, "slice_ps": 10**11, "tick_ps": 4 * 10**9,
               "same_socket_ps": 27_000, "timer_ps": 12_000_000, "kick_ps": 12_000_000, **parameters}  # fmt: skip
    seen = experiment._simulated("a", design, clients, machine, seal_ns=60.0, run_ms=400, seed=1)
    return seen["commits_per_s"]


def test_one_client_of_8_0_is_slow_since_timers_open_the_gate_of_the_log_threads():
    """Their short sleeps cost so much CPU time that they spin from the first sample on, and the client waits for a CPU."""
    assert commits("8.0", 1) < 0.6 * commits("8.0", 1, timer_ps=0)
    assert commits("8.0", 4) > 3 * commits("8.0", 1)
    assert commits("5.7", 1) == pytest.approx(commits("5.7", 1, timer_ps=0), rel=0.25)


@pytest.fixture(scope="module")
def appends():
    """The recording shown, and its simulated rows with several appends a commit, 8.0."""
    recorded = runs.latest("own-machine-real", "host")
    table = recorded.table
    is_mine = (table["series"] == "simulated") & (table["design"] == "8.0") & table["load"].isin(("b", "d"))
    mine = table[is_mine]
    return recorded, mine[mine["clients"] > 1]


@pytest.mark.slow
def test_the_recorded_simulation_is_simulated_again_to_the_last_transaction(appends):
    recorded, rows = appends
    again = experiment.simulated_again(recorded, rows)
    for what in experiment.MEASURED:
        assert list(again[what]) == pytest.approx(list(rows[what]), rel=1e-12)


@pytest.mark.slow
def test_without_interruptions_fewer_simulated_transactions_wait_for_a_tick(appends):
    """A sign test over the runs of which one does, with or without interruptions; the page says how many still do."""
    recorded, rows = appends
    tick_us = recorded.provenance["machine"]["tick_ps"] / 1e6
    alone = experiment.simulated_again(recorded, rows, interrupt_every_ps=0)
    waits, waits_alone = (list(table["latency_p99_us"] >= 0.95 * tick_us) for table in (rows, alone))
    gone = sum(had and not has for had, has in zip(waits, waits_alone, strict=True))
    come = sum(has and not had for had, has in zip(waits, waits_alone, strict=True))
    by_chance = sum(math.comb(gone + come, k) for k in range(come + 1)) / 2 ** (gone + come)
    assert by_chance < 0.01
    assert sum(waits_alone) == numbers.uninterrupted_waits


def test_errors_are_of_medians_and_the_farthest_comes_first():
    rows = [
        {"load": load, "design": "5.7", "clients": 2, "is_held_out": True, "series": series,
         "repeat": repeat, "commits_per_s": value, "fsyncs_per_commit": 1.0}
        for load, series, values in (
            ("d", "real", (90, 100, 500)), ("d", "simulated", (110, 110, 110)),
            ("e", "real", (100, 100, 100)), ("e", "simulated", (70, 70, 70)),
        )
        for repeat, value in enumerate(values)
    ]  # fmt: skip
    found = experiment.errors(pd.DataFrame(rows))
    assert found["load"].tolist() == ["e", "d"]
    assert found["commits_per_s_off_percent"].tolist() == pytest.approx([-30, 10])
    disturbed = [
        {**row, "commits_per_s": 1.0, "is_disturbed": True} for row in rows if row["series"] == "real"
    ]
    with_them = pd.DataFrame([{**row, "is_disturbed": False} for row in rows] + disturbed)
    pd.testing.assert_frame_equal(experiment.errors(with_them), found)


@pytest.mark.alone
def test_figure_says_the_errors_of_the_held_out_loads(run):
    table = own_machine_real.rows(run)
    off = table.loc[table["is_held_out"], "commits_per_s_off_percent"].abs()
    assert f"{off.max():.0f} % at most" in own_machine_real.words(table).alt


def recording_of(*, real, simulated, fsyncs=(1.0, 1.0)):
    """One held-out point and its repeats."""
    rows = [
        {"load": "d", "design": "5.7", "clients": 2, "is_held_out": True, "series": series, "repeat": repeat,
         "commits_per_s": value, "fsyncs_per_commit": of_one}
        for series, values, of_one in (("real", real, fsyncs[0]), ("simulated", simulated, fsyncs[1]))
        for repeat, value in enumerate(values)
    ]  # fmt: skip
    return Run("own-machine-real", "host", pd.DataFrame(rows), {})


def test_a_recording_drawn_again_from_equal_repeats_is_as_this_one():
    again = experiment.within_goals_again
    assert again(recording_of(real=[100.0] * 9, simulated=[119.0] * 9)) == 1
    assert again(recording_of(real=[100.0] * 9, simulated=[121.0] * 9)) == 0
    assert again(recording_of(real=[100.0] * 9, simulated=[100.0] * 9, fsyncs=(1.0, 0.86))) == 1
    assert again(recording_of(real=[100.0] * 9, simulated=[100.0] * 9, fsyncs=(1.0, 0.84))) == 0


def test_a_recording_drawn_again_is_within_the_goals_as_often_as_most_of_its_repeats_are():
    """Of three repeats one is too fast: two or three of three draws are with 7 in 27."""
    share = experiment.within_goals_again(recording_of(real=[100.0] * 3, simulated=[100.0, 100.0, 150.0]))
    assert share == pytest.approx(20 / 27, abs=0.03)  # three standard errors of 2000 draws
