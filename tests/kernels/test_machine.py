"""The simulated machine from Python: its answers, its errors, presets, traces, sweeps, calibration."""

from __future__ import annotations

import json
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import frictionless
import pytest
from click.testing import CliRunner

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.machine import calibrate, presets, trace, validation

native = pytest.importorskip("engineroom._native").machine

MS = 1_000_000
PURPOSES = ("work", "memory", "spin", "switching", "idle", "io_wait")
LOOP: dict[str, Any] = {"clients": 8, "work_ns": 5_000, "hold_ns": 500, "latch": True, "run_ns": 5 * MS}


def run(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = LOOP | {"parameters": {"cores_per_socket": 4}} | changes
    return native.closed_loop(**arguments)  # type: ignore[no-any-return]


@pytest.mark.slow
def test_the_machine_agrees_with_every_formula():
    with ProcessPoolExecutor(2) as executor:
        rows = validation.validate(executor=executor)
    assert len(rows) == 22
    assert rows[~rows["holds"]]["case"].tolist() == []


def test_the_formulas_of_the_small_cases_by_hand():
    # One server: the chance to wait is the load. One client: it never waits. No think time: the server never idles.
    assert validation.erlang_c(1, 0.7) == pytest.approx(0.7)
    assert validation.repairman(1, 1, 3.0, 1.0) == pytest.approx(1 / 4)
    assert validation.mva(1, 3.0, [1.0, 2.0]) == (pytest.approx(1 / 6), pytest.approx(3.0))
    assert validation.repairman(2, 1, 1e-9, 1.0) == pytest.approx(1.0)


def test_a_validation_that_is_wrong_does_not_hold():
    right = next(case for case in validation.CASES if "2 clients" in case.name)
    wrong = validation.Case(right.name, right.theory * 1.05, right.measure, right.arguments)
    assert not validation.validate([wrong])["holds"].any()


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
    with pytest.raises(ValueError, match="no parameter 'core'"):
        run(parameters={"core": 4})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clients": 0}, "clients must be at least 1, got 0"),
        ({"run_ns": 0}, "run_ns must be at least 1, got 0"),
        ({"parameters": {"sockets": 0}}, "sockets must be at least 1, got 0"),
        ({"parameters": {"sockets": 300}}, "at most 256 CPUs, got 300 sockets"),
        ({"parameters": {"load_ps": -1}}, "load_ps must not be negative, got -1"),
        ({"parameters": {"load_ps": "x"}}, "load_ps must be an integer"),
        ({"parameters": {"interrupt_every_ps": -1}}, "interrupt_every_ps must not be negative, got -1"),
        (
            {"parameters": {"interrupt_quantiles_ps": [1, -2]}},
            "interrupt must not be negative, got a quantile of -2",
        ),
        ({"parameters": {"wake_ps": 1, "wake_quantiles_ps": [1, 2]}}, "both wake_ps and wake_quantiles_ps"),
        ({"work_ns": 0, "hold_ns": 0, "latch": False}, "a turn must take time"),
    ],
)
def test_a_bad_argument_is_answered_with_its_value(changes, message):
    with pytest.raises(ValueError, match=message):
        run(**changes)


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


def test_the_same_clients_run_on_real_threads():
    seen = native.closed_loop_on_host(clients=2, work_ns=5_000, hold_ns=500, latch=True, run_ns=50 * MS)
    assert seen["turns"] > 100
    assert {path[0] for path, _, _ in seen["activities"]} == {"client"}


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


def test_a_trace_of_real_threads_opens_in_the_same_viewer(tmp_path: Path):
    seen = native.closed_loop_on_host(
        clients=3,
        work_ns=20_000,
        hold_ns=2_000,
        latch=True,
        fsyncs=1,
        fsync_ns=50_000,
        run_ns=30 * MS,
        trace_intervals=100_000,
    )
    assert seen["intervals_not_kept"] == 0
    trace.write_chrome_trace(seen, tmp_path / "trace.json")
    slices = [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {"work", "io"} <= {e["cat"] for e in slices}
    assert "file" in {e["name"] for e in slices if e["cat"] == "io"}
    for core in {e["tid"] for e in slices if e["pid"] == trace.CORES}:
        stints = sorted((e["ts"], e["dur"]) for e in slices if e["pid"] == trace.CORES and e["tid"] == core)
        ends = [start + length for start, length in stints]
        assert all(end <= start + 1e-6 for end, (start, _) in zip(ends, stints[1:], strict=False))
    few = native.closed_loop_on_host(clients=1, fsyncs=1, fsync_ns=50_000, run_ns=50 * MS, trace_intervals=5)
    assert len(few["trace"]) == 5
    assert few["intervals_not_kept"] > 0


@pytest.mark.parametrize("name", presets.names())
def test_every_number_of_a_preset_has_a_source_and_runs(name):
    machine = presets.preset(name)
    assert [p.name for p in machine.parameters if len(p.source) < 5] == []
    assert set(machine.values()) <= set(native.parameter_names())
    assert run(parameters=machine.values(), run_ns=MS)["turns"] > 0


def test_the_sources_machine_has_176_hardware_threads_and_its_numbers_can_be_varied():
    machine = presets.preset("four_sockets_176")
    values = machine.values()
    assert values["sockets"] * values["cores_per_socket"] * values["threads_per_core"] == 176  # type: ignore[operator]
    assert "other_socket_ps" in machine.uncertain()
    assert machine.varied("other_socket_ps", 0.5).values()["other_socket_ps"] == 67_500
    with pytest.raises(EngineRoomError, match="no parameter 'speed'"):
        machine.varied("speed", 0.5)


def test_an_unknown_preset_is_answered_with_the_known_ones():
    with pytest.raises(EngineRoomError, match="choose from: four_sockets_176, laptop, two_sockets_88"):
        presets.preset("mainframe")


def test_the_presets_are_described_as_a_data_package():
    report = frictionless.validate(str(paths.data() / "machine" / "datapackage.json"))
    assert report.valid, report.flatten(["message"])


def test_a_trace_has_a_track_a_core_and_no_two_things_at_once_on_it(tmp_path: Path):
    seen = run(parameters={"cores_per_socket": 2, "trace_intervals": 100_000}, run_ns=30 * MS)
    trace.write_chrome_trace(seen, tmp_path / "trace.json")
    read = json.loads((tmp_path / "trace.json").read_text())
    assert read["otherData"] == {"intervals_not_kept": 0}
    slices = [e for e in read["traceEvents"] if e["ph"] == "X" and e["pid"] == trace.CORES]
    for core in (0, 1):
        stints = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == core and e["cat"] == "work")
        assert len(stints) > 2
        ends = [start + length for start, length in stints]
        assert all(end <= start + 1e-6 for end, (start, _) in zip(ends, stints[1:], strict=False))


def test_a_trace_that_is_full_says_what_it_left_out():
    seen = run(parameters={"cores_per_socket": 2, "trace_intervals": 10})
    assert len(seen["trace"]) == 10
    assert seen["intervals_not_kept"] > 0


def test_folded_stacks_say_where_virtual_time_went():
    stacks = dict(line.rsplit(" ", 1) for line in trace.folded_stacks(run()).splitlines())
    assert int(stacks["client;work"]) > 0


PRIMITIVES = {
    "load": [1.0],
    "atomic_add": [5.0],
    "pause": [20.0],
    "copy_1_kib": [50.0],
    "yield_alone": [400.0],
    "switch_by_yield_on_one_cpu": [1400.0],
    "park_on_changed_word": [500.0],
    "wake_nobody": [100.0],
    "futex_hand_over_on_one_cpu": [2000.0],
    "futex_hand_over_between_cpus": [5000.0],
    "line_transfer": [60.0],
    "wake_on_another_cpu": [11_500.0],
    "woken_on_another_cpu": [float(x) for x in range(4000, 6001, 100)],
    "timed_park_cpu_time": [27_500.0],
    "called_task": [31.0],
    "awaited_load": [3.0],
    "timer_lateness": [60_000.0],
    "pwrite_512": [500.0],
    "pwrite_64_kib": [6850.0],
    "fdatasync_512": [float(x) for x in range(1000, 3001, 100)],
}


def test_parameters_are_the_primitives_less_what_is_measured_alone():
    found = {name: each["value"] for name, each in calibrate.parameters(PRIMITIVES).items()}
    assert found["switch_ps"] == 1_000_000
    assert found["wake_each_ps"] == 400_000
    assert found["wake_quantiles_ps"] == [2_500_000 + 100_000 * i for i in range(21)]
    assert found["timer_ps"] == 13_000_000
    assert found["kick_ps"] == 11_000_000
    assert "set_timer_quantiles_ps" not in found
    assert found["same_socket_ps"] == 27_000  # a hand-over moves the line twice
    assert found["await_ps"] == 2_000
    assert found["task_ps"] == 28_000
    assert found["timer_slack_ps"] == 42_500_000
    assert found["pwrite_ps_per_kib"] == 100_000
    assert found["disk_fsync_quantiles_ps"] == [1_000_000 + 100_000 * i for i in range(21)]


def test_a_hand_over_is_shared_between_who_wakes_and_who_is_woken():
    ns = {"wake_four_on_another_cpu": [11_800.0], "clock": [25.0], "interrupted_by_timer": [15_000.0],
          "cycle_that_wakes_nobody_cpu_time": [20_000.0], "cycle_that_wakes_one_cpu_time": [36_300.0]}  # fmt: skip
    found = {name: each["value"] for name, each in calibrate.parameters({**PRIMITIVES, **ns}).items()}
    assert found["wake_each_ps"] == 100_000  # three more cost 300 ns more
    assert found["woken_ps"] == 300_000  # of the 400 that are left of a hand-over on one CPU
    assert found["kick_ps"] == 11_300_000
    assert found["wake_quantiles_ps"] == [2_500_000 + 100_000 * i for i in range(21)]
    # Of 16.3 us more, less the wake-up, the park, the switch and what is charged to the woken one.
    assert found["wake_counted_ps"] == 3_000_000
    assert found["clock_ps"] == 25_000
    assert found["timer_interrupt_ps"] == 15_000_000
    four = {"cycle_that_wakes_four_cpu_time": [45_000.0]}
    found = {name: each["value"] for name, each in calibrate.parameters({**PRIMITIVES, **ns, **four}).items()}
    assert found["woken_ps"] == 1_300_000  # each more takes 2900 ns, of which 1600 are charged already
    assert found["wake_counted_ps"] == 2_000_000


def test_what_setting_a_timer_takes_is_drawn_and_the_next_one_takes_the_rest():
    ns = {"set_timer": [6_500.0, 8_500.0, 10_500.0, 12_500.0]}
    found = {name: each["value"] for name, each in calibrate.parameters({**PRIMITIVES, **ns}).items()}
    assert found["set_timer_quantiles_ps"] == [6_000_000, 8_000_000, 10_000_000, 12_000_000]  # less the park
    assert found["timer_ps"] == 17_000_000  # of 26 us for both


def test_copying_and_writing_64_kib_take_times_that_this_machine_can_measure():
    copy_ns, write_ns = native.copy_beside_write()
    assert 100 < copy_ns < 1e6
    assert 100 < write_ns < 1e6


def test_a_line_is_handed_over_in_a_time_that_this_machine_can_measure():
    assert 1 < native.line_transfer(hand_overs=1000) < 1e6
    with pytest.raises(ValueError, match="hand_overs must be at least 1, got 0"):
        native.line_transfer(hand_overs=0)


def test_one_wake_up_in_a_thousand_does_not_make_the_others_long():
    woken = {"woken_on_another_cpu": [5000.0] * 2999 + [9_000_000.0]}
    found = calibrate.parameters({**PRIMITIVES, **woken})["wake_quantiles_ps"]["value"]
    assert found[:-1] == [3_500_000] * 1000
    # All but a thousandth are as most are, and that thousandth has the mean of the longest.
    assert found[-1] == pytest.approx(2 * 9_000_000_000 / 4, rel=0.01)


def test_rare_long_interruptions_keep_their_share():
    ns = [2000 / (1 - i / 20_000) ** 0.7 for i in range(20_000)]  # from 2 us to 2 ms
    found = calibrate.parameters({**PRIMITIVES, "interruption": ns, "interruption_every": [1e6, 3e6]})
    assert found["interrupt_every_ps"]["value"] == 1_500_000_000  # as many a second as in both together
    quantiles = [ps / 1000 for ps in found["interrupt_quantiles_ps"]["value"]]
    drawn = sum((a + b) / 2 for a, b in pairwise(quantiles)) / (len(quantiles) - 1)
    assert drawn == pytest.approx(sum(ns) / len(ns), rel=0.02)
    assert quantiles[0] == 2000


def test_a_machine_that_nothing_interrupts_has_no_interruptions():
    assert not [name for name in calibrate.parameters(PRIMITIVES) if name.startswith("interrupt")]


def test_interruptions_of_a_run_take_some_of_it():
    found = calibrate.interruptions(20)
    assert all(ns > 1000 for ns in found.get("interruption", []))
    assert sum(found.get("interruption", [])) < 2 * 20e6
    with pytest.raises(ValueError, match="run_ns must be at least 1, got 0"):
        calibrate.interruptions(0)


@pytest.mark.slow
def test_calibrate_writes_a_machine_that_runs(tmp_path: Path):
    target = tmp_path / "here.json"
    done = CliRunner().invoke(calibrate.calibrate, ["--samples", "1", "--output", str(target)])
    assert done.exit_code == 0, done.output
    machine = presets.load(target)
    assert machine.uncertain() == []
    assert json.loads(target.read_text())["provenance"]["cpu"]
    assert run(parameters=machine.values(), run_ns=MS)["turns"] > 0


def test_calibrate_says_what_to_do_when_the_folder_cannot_be_written(tmp_path: Path):
    with pytest.raises(EngineRoomError, match="--folder"):
        calibrate.measure(1, tmp_path / "absent")


def test_calibrate_looks_at_its_file_before_it_measures(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(calibrate, "measure", lambda *_: pytest.fail("measured in vain"))
    for output in (tmp_path / "absent" / "machine.json", tmp_path):
        with pytest.raises(
            EngineRoomError, match=rf"(?s){output.name} cannot be written.*name a file in a folder"
        ):
            CliRunner().invoke(calibrate.calibrate, ["--output", str(output)], catch_exceptions=False)


@pytest.mark.slow
def test_a_small_sitting_of_the_bench_measures_every_goal(monkeypatch):
    """Which goals hold is not for a test to say."""
    pytest.importorskip("simpy")
    from engineroom import progress
    from engineroom.bench import Sitting
    from engineroom.bench import machine as bench

    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "QUEUE_RUN_NS", 20_000 * MS)
    with progress.bar(disable=True) as bar:
        rows = bench.bench(Sitting("machine", bar))
    assert len(rows) == 6
    assert all(row.ours > 0 for row in rows)
    assert any(row.peer and row.peer.startswith("simpy") for row in rows)
