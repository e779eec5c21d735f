"""The machines of the book: every number was measured, or says from what it comes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engineroom._native import machine as kernel
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


def test_a_machine_with_one_disk_at_half_has_one_disk():
    one = presets.preset("four_sockets_176")
    assert one.values()["disk_queue_depth"] == 1
    assert one.varied("disk_queue_depth", 0.5).values() == one.values()
    assert one.varied("disk_queue_depth", 1.5).values()["disk_queue_depth"] == 2
