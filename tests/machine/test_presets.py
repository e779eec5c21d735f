"""The machines of the book: every number was measured, or says from what it comes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import frictionless
import pytest

from engineroom import paths
from engineroom._native import machine as kernel
from engineroom.errors import EngineRoomError
from engineroom.machine import presets
from engineroom.simulating.variations import FACTORS

ROOT = Path(__file__).parents[2]
TITLES = re.findall(
    r"^\s*title\s*=\s*\{(.+?)\},?$", (ROOT / "book" / "references.bib").read_text(), re.MULTILINE
)


@pytest.mark.parametrize("name", presets.names())
def test_what_a_machine_cites_is_in_the_bibliography(name):
    unknown = [
        (parameter.name, parameter.source)
        for parameter in presets.preset(name).parameters
        if parameter.kind == "cited" and not any(title in parameter.source for title in TITLES)
    ]
    assert unknown == []


@pytest.mark.parametrize("name", presets.names())
def test_a_measured_number_says_where_and_a_large_machine_has_none(name):
    machine = presets.preset(name)
    measured = [p for p in machine.parameters if p.kind == "measured"]
    assert all("engineroom calibrate" in p.source or "the machine" in p.source for p in measured)
    assert bool(measured) == (name == "laptop")
    assert all(p.source and p.source != "the same" for p in machine.parameters)


@pytest.mark.parametrize("name", presets.names())
def test_every_varied_machine_runs(name):
    machine = presets.preset(name)
    for parameter in machine.uncertain():
        for factor in FACTORS:
            varied = machine.varied(parameter, factor).values()
            assert kernel.closed_loop(parameters=varied, clients=2, work_ns=1000, run_ns=100_000)["turns"] > 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("warp_factor", 9, "a simulated machine has no option 'warp_factor'; its options are sockets, "),
        ("sockets", 0, "sockets must be at least 1, got 0"),
        ("smt_permille", 1001, "smt_permille must be 1 to 1000, got 1001"),
        ("load_ps", 1.5, "load_ps must be an integer, got 1.5"),
        ("wake_quantiles_ps", [], "wake_quantiles_ps must be a list of at least one integer"),
    ],
)
def test_a_file_with_a_parameter_that_no_machine_has_is_refused(tmp_path, name, value, message):
    said = {"value": value, "kind": "chosen", "source": "a test"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"title": "Mine", "parameters": {name: said}}))
    with pytest.raises(EngineRoomError, match=re.escape(f"{path}: {message}")):
        presets.load(path)


def test_the_machine_says_what_it_can_be_told():
    told = {option.name: option for option in kernel.parameters()}
    smt = told["smt_permille"]
    assert (smt.kind, smt.least, smt.most, smt.default) == ("integer", 1, 1000, 600)
    assert told["wake_quantiles_ps"].default == [told["wake_ps"].default]
    assert all(option.documentation for option in told.values())
    assert set(presets.preset("laptop").values()) <= set(told)


def test_a_machine_with_one_disk_at_half_has_one_disk():
    one = presets.preset("four_sockets_176")
    assert one.values()["disk_queue_depth"] == 1
    assert one.varied("disk_queue_depth", 0.5).values() == one.values()
    assert one.varied("disk_queue_depth", 1.5).values()["disk_queue_depth"] == 2


native = pytest.importorskip("engineroom._native").machine

MS = 1_000_000

LOOP: dict[str, Any] = {"clients": 8, "work_ns": 5_000, "hold_ns": 500, "latch": True, "run_ns": 5 * MS}


def run(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = LOOP | {"parameters": {"cores_per_socket": 4}} | changes
    return native.closed_loop(**arguments)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", presets.names())
def test_every_number_of_a_preset_has_a_source_and_runs(name):
    machine = presets.preset(name)
    assert [p.name for p in machine.parameters if len(p.source) < 5] == []
    native.check_parameters(machine.values())
    assert run(parameters=machine.values(), run_ns=MS)["turns"] > 0


def test_the_sources_machine_has_176_hardware_threads_and_its_numbers_can_be_varied():
    machine = presets.preset("four_sockets_176")
    values = machine.values()
    assert values["sockets"] * values["cores_per_socket"] * values["threads_per_core"] == 176  # type: ignore[operator]
    assert "other_socket_ps" in machine.uncertain()
    assert machine.varied("other_socket_ps", 0.5).values()["other_socket_ps"] == 67_500
    with pytest.raises(EngineRoomError, match="no parameter 'speed'"):
        machine.varied("speed", 0.5)


def test_a_machine_that_is_based_on_another_differs_in_what_it_says():
    base, theirs = presets.preset("four_sockets_176").values(), presets.preset("sources_176").values()
    changed = {name: value for name, value in theirs.items() if value != base.get(name)}
    assert changed == {"smt_permille": 700, "all_busy_permille": 660, "latency_ps": 24_000_000_000}
    one = presets.preset("one_socket_44").values()
    assert one == {**theirs, "sockets": 1}


def test_an_unknown_preset_is_answered_with_the_known_ones():
    with pytest.raises(
        EngineRoomError,
        match="choose from: four_sockets_176, laptop, one_socket_44, sources_176, sources_88, twelve_processors, two_sockets_88",
    ):
        presets.preset("mainframe")


def test_the_presets_are_described_as_a_data_package():
    report = frictionless.validate(str(paths.data() / "machine" / "datapackage.json"))
    assert report.valid, report.flatten(["message"])
