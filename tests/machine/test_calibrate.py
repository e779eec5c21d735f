"""From measured primitives to the parameters of a machine."""

from __future__ import annotations

import json
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from engineroom.errors import EngineRoomError
from engineroom.machine import calibrate, presets

native = pytest.importorskip("engineroom._native").machine

MS = 1_000_000

LOOP: dict[str, Any] = {"clients": 8, "work_ns": 5_000, "hold_ns": 500, "latch": True, "run_ns": 5 * MS}


def run(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = LOOP | {"parameters": {"cores_per_socket": 4}} | changes
    return native.closed_loop(**arguments)  # type: ignore[no-any-return]


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


@pytest.mark.alone
def test_interruptions_of_a_run_take_some_of_it():
    began = time.perf_counter_ns()
    found = calibrate.interruptions(20)
    took_ns = time.perf_counter_ns() - began  # others may use the machine: no bound but the clock's holds
    assert all(ns > 1000 for ns in found.get("interruption", []))
    assert sum(found.get("interruption", [])) < took_ns * len(os.sched_getaffinity(0)), (
        "on each CPU at most all of it"
    )
    with pytest.raises(ValueError, match="run_ns must be at least 1, got 0"):
        calibrate.interruptions(0)


@pytest.mark.slow
@pytest.mark.alone
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
