"""`engineroom calibrate`: the parameters of the machine at hand, for the simulated machine."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from engineroom import paths, progress
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.runs import provenance

__all__ = ["calibrate", "emulated_disk", "interruptions", "line_move", "measure", "parameters"]

INTERRUPTED_MS = 400
MOST_QUANTILES = 1000
_SAID = "quantiles, the last by the mean of the longest"


def measure(samples: int, folder: Path) -> dict[str, list[float]]:
    """The times of the primitives in ns, several of each. Files are made in `folder`."""
    from engineroom._native import machine

    try:
        measured = machine.primitives(samples=samples, folder=str(folder))
    except (OSError, RuntimeError) as error:
        raise EngineRoomError(
            f"the primitives could not be measured: {error}",
            remedy="give a folder that can be written to: --folder FOLDER",
        ) from error
    all_ns = {name: [float(x) for x in ns] for name, ns in measured.items()}
    for _ in range(samples):
        for name, values in interruptions(INTERRUPTED_MS).items():
            all_ns.setdefault(name, []).extend(values)
    return all_ns


def interruptions(run_ms: int) -> dict[str, list[float]]:
    """How long something else ran each time while this machine computed for `run_ms`, and the time between two, in ns."""
    from engineroom._native import machine

    lengths, every_ns = machine.interruptions(run_ns=run_ms * 1_000_000)
    if not len(lengths):
        return {}
    return {"interruption": [float(x) for x in lengths], "interruption_every": [every_ns]}


def parameters(primitives: Mapping[str, Sequence[float]]) -> dict[str, dict[str, Any]]:
    """A machine's parameters from its primitives. What no primitive tells is left at the simulator's default.

    A thread that is woken on an idle CPU runs after the wake-up, the way to that CPU and a switch there; a hand-over on one
    CPU has a park instead of the way. The parts that are measured alone are taken off. On a virtual machine the way is long and
    never the same, and two others are large: setting a timer, and interrupting an idle CPU.
    """
    ns = {name: statistics.median(values) for name, values in primitives.items()}
    switch = max(0.0, ns["switch_by_yield_on_one_cpu"] - ns["yield_alone"])
    park, unpark = ns["park_on_changed_word"], ns["wake_nobody"]
    wake_each = max(0.0, ns["futex_hand_over_on_one_cpu"] - park - unpark - switch)
    woken_itself = 0.0
    if "wake_four_on_another_cpu" in ns:
        # Of a hand-over on one CPU, what the woken one takes: waking three more costs the waker less than three hand-overs.
        of_waker = max(0.0, ns["wake_four_on_another_cpu"] - ns["wake_on_another_cpu"]) / 3
        wake_each, woken_itself = min(wake_each, of_waker), max(0.0, wake_each - of_waker)
    woken_from = "futex_hand_over_on_one_cpu - park - unpark - switch - wake_each"
    if "cycle_that_wakes_four_cpu_time" in ns:
        # Not of one that takes turns with its waker and finds its caches as it left them.
        each = (ns["cycle_that_wakes_four_cpu_time"] - ns["cycle_that_wakes_one_cpu_time"]) / 3
        woken_itself = max(0.0, each - wake_each - park - switch)
        woken_from = (
            "(cycle_that_wakes_four_cpu_time - cycle_that_wakes_one_cpu_time) / 3 - wake_each - park - switch"
        )
    found: dict[str, tuple[float | list[float], str]] = {
        "cores_per_socket": (float(os.cpu_count() or 1), "number of CPUs"),
        "load_ps": (ns["load"], "load"),
        "rmw_ps": (ns["atomic_add"], "atomic_add"),
        "pause_ps": (ns["pause"], "pause"),
        "copy_ps_per_kib": (ns["copy_1_kib"], "copy_1_kib"),
        "switch_ps": (switch, "switch_by_yield_on_one_cpu - yield_alone"),
        "yield_ps": (ns["yield_alone"], "yield_alone"),
        "park_ps": (park, "park_on_changed_word"),
        "unpark_ps": (unpark, "wake_nobody"),
        "wake_each_ps": (
            wake_each,
            "(wake_four_on_another_cpu - wake_on_another_cpu) / 3, at most futex_hand_over_on_one_cpu - park - unpark - switch",
        ),
        "woken_ps": (woken_itself, woken_from),
        "pwrite_ps": (ns["pwrite_512"], "pwrite_512"),
        "pwrite_ps_per_kib": (
            max(0.0, (ns["pwrite_64_kib"] - ns["pwrite_512"]) / 63.5),
            "(pwrite_64_kib - pwrite_512) / 63.5",
        ),
        "disk_fsync_quantiles_ps": (
            _quantiles(primitives["fdatasync_512"]),
            f"fdatasync_512, {_SAID}",
        ),
    }
    # A timer is set, and the next one after it: each leaves a virtual machine once.
    both = max(0.0, ns["timed_park_cpu_time"] - park - switch)
    timer = both / 2
    found["timer_ps"] = (timer, "(timed_park_cpu_time - park - switch) / 2")
    if "set_timer" in ns:
        set_ns = [max(0.0, each - park) for each in primitives["set_timer"]]
        timer = max(0.0, both - statistics.mean(set_ns))
        found["timer_ps"] = (timer, "timed_park_cpu_time - park - switch - mean of (set_timer - park)")
        found["set_timer_quantiles_ps"] = (_quantiles(set_ns), f"set_timer - park, {_SAID}")
    if "clock" in ns:
        found["clock_ps"] = (ns["clock"], "clock")
    if "interrupted_by_timer" in ns:
        found["timer_interrupt_ps"] = (ns["interrupted_by_timer"], "interrupted_by_timer")
    found["await_ps"] = (max(0.0, ns["awaited_load"] - ns["load"]), "awaited_load - load")
    found["task_ps"] = (max(0.0, ns["called_task"] - ns["awaited_load"]), "called_task - awaited_load")
    wake = 0.0
    if "woken_on_another_cpu" in ns:
        before = unpark + wake_each + switch + woken_itself
        woken = [max(0.0, late - before) for late in primitives["woken_on_another_cpu"]]
        wake = statistics.median(woken)
        found["wake_quantiles_ps"] = (
            _quantiles(woken),
            f"woken_on_another_cpu - unpark - wake_each - switch - woken, {_SAID}",
        )
        found["same_socket_ps"] = (
            line_move(ns, ns["line_transfer"]),
            "(line_transfer - load - atomic_add) / 2",
        )
        found["kick_ps"] = (
            max(0.0, ns["wake_on_another_cpu"] - unpark - wake_each),
            "wake_on_another_cpu - unpark - wake_each",
        )
    if "cycle_that_wakes_one_cpu_time" in ns:
        # Of both threads: what is charged to either of them anyway is taken off.
        both_cpu = ns["cycle_that_wakes_one_cpu_time"] - ns["cycle_that_wakes_nobody_cpu_time"]
        waker = max(ns["wake_on_another_cpu"], unpark + wake_each)
        found["wake_counted_ps"] = (
            max(0.0, both_cpu - waker - park - switch - woken_itself),
            "cycle_that_wakes_one_cpu_time - cycle_that_wakes_nobody_cpu_time - wake_on_another_cpu - park - switch - woken",
        )
    found["timer_slack_ps"] = (
        max(0.0, ns["timer_lateness"] - wake - switch - timer),
        "timer_lateness - wake - switch - timer",
    )
    if primitives.get("interruption"):
        # More of them in a longer run: the mean of the runs' rates.
        found["interrupt_every_ps"] = (
            statistics.harmonic_mean(primitives["interruption_every"]),
            "interruption_every",
        )
        found["interrupt_quantiles_ps"] = (
            _quantiles(primitives["interruption"]),
            f"interruption, {_SAID}",
        )
    return {
        name: {"value": _whole(name, value), "kind": "measured", "source": source}
        for name, (value, source) in found.items()
    }


def line_move(primitives_ns: Mapping[str, float], transfer_ns: float) -> float:
    """ns. A hand-over moves the line twice: to the thread that looks, and once more when that one writes."""
    return max(0.0, transfer_ns - primitives_ns["load"] - primitives_ns["atomic_add"]) / 2


def emulated_disk(ns: Mapping[str, float]) -> dict[str, int]:
    """The parameters of a log and its disk that real threads emulate in memory, and of clients that they emulate by sleeping,
    from the primitives' times in ns.

    What lies there is larger than a cache, and one thread writes what another one has just copied.
    """
    per_kib = max(0.0, (ns["emulated_write_64_kib_beside_a_copy"] - ns["emulated_write_512"]) / 63.5)
    return {
        "client_is_timer": 1,
        "disk_is_timer": 1,
        "disk_ps_per_kib": 0,
        "pwrite_ps": round(1000 * max(0.0, ns["emulated_write_512"] - per_kib / 2)),
        "pwrite_ps_per_kib": round(1000 * per_kib),
        "copy_ps_per_kib": round(1000 * ns["copy_64_kib_beside_a_write"] / 64),
    }


def _quantiles(values: Sequence[float]) -> list[float]:
    """Equally spaced from the least on. The longest are rare and count: a line to the last has the mean of those above it."""
    ordered = sorted(values)
    n = min(MOST_QUANTILES, max(1, len(ordered) - 1))
    at = [round(i / n * (len(ordered) - 1)) for i in range(n)]
    longest = ordered[at[-1]]
    return [*(ordered[i] for i in at), max(longest, 2 * statistics.mean(ordered[at[-1] :]) - longest)]


def _whole(name: str, value: float | list[float]) -> int | list[int]:
    """Picoseconds, but a count stays a count."""
    if isinstance(value, list):
        return [round(1000 * each) for each in value]
    return round(1000 * value) if "_ps" in name else round(value)


@click.command()
@click.option(
    "--samples",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="How often each cost is measured.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where the disk is measured; by default a temporary folder.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write; by default machine.json in the cache.",
)
def calibrate(samples: int, folder: Path | None, output: Path | None) -> None:
    """Measure this machine's primitives and write the simulated machine's parameters.

    Takes about a minute on a quiet machine. The pages of the book use their own parameters and do not change.
    """
    target = output or paths.cache() / "machine.json"
    refuse_unwritable(target)
    seen = provenance.machine()
    with (
        provenance.watch() as watched,
        tempfile.TemporaryDirectory() as scratch,
        progress.bar(desc="calibrate", total=1) as bar,
    ):
        primitives = measure(samples, folder or Path(scratch))
        bar.update()
    written = {
        "title": f"{seen['cpu']}, {seen['cores']} CPUs, measured {seen['date'][:10]}",
        "provenance": provenance.scrub({**seen, **watched}),
        "primitives_ns": {name: [round(x, 3) for x in ns] for name, ns in primitives.items()},
        "parameters": parameters(primitives),
    }
    target.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    for name, parameter in written["parameters"].items():
        shown = parameter["value"]
        click.echo(f"{name:26} {shown if not isinstance(shown, list) else f'{shown[0]} to {shown[-1]}'}")
    click.echo(f"written to {target}")
