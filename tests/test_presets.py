"""The machines of the book: every number was measured, or says from what it comes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engineroom.machine import presets

ROOT = Path(__file__).parents[1]
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
