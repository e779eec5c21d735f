"""Groups of facts: checked, printed in one way, and glued by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from types import ModuleType

import numpy as np
import pytest

from engineroom import facts
from engineroom.facts import Facts, Range, fact, span


@dataclass(frozen=True, kw_only=True)
class Commits(Facts):
    cost_ns: float = fact("{:.0f} ns")
    by_clients_us: Mapping[int, float] = fact("{:.1f} us", keys=(1, 50))
    window_ms: Range = fact(span("{:g}", "ms"))
    text: str


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    servers: int = fact()
    commits: Commits


def commits(**changed) -> Commits:
    values = {"cost_ns": 81.4, "by_clients_us": {1: 2.0, 50: 3.25}, "window_ms": Range(120, 960), "text": "x"}
    return Commits(**{**values, **changed})


def test_each_fact_is_printed_by_its_own_format_under_group_name_and_key():
    assert PageFacts(servers=3, commits=commits()).texts() == {
        "servers": "3",
        "commits.cost_ns": "81 ns",
        "commits.by_clients_us.1": "2.0 us",
        "commits.by_clients_us.50": "3.2 us",
        "commits.window_ms": "120 to 960 ms",
    }


def test_a_range_whose_ends_look_alike_is_printed_once():
    assert commits(window_ms=Range(120, 120)).texts()["window_ms"] == "120 ms"


def test_the_names_follow_from_the_class_alone():
    assert facts.names(PageFacts) == list(PageFacts(servers=3, commits=commits()).texts())
    assert facts.shown_by_cells(PageFacts) == ["commits.text"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost_ns": float("nan")},
        {"cost_ns": "81"},
        {"cost_ns": True},
        {"cost_ns": None},
        {"by_clients_us": {1: 2.0}},
        {"by_clients_us": {1: 2.0, 50: float("nan")}},
        {"by_clients_us": {50: 3.0, 1: 2.0}},
        {"window_ms": (120, 960)},
        {"window_ms": Range(120, float("nan"))},
        {"text": 3},
    ],
)
def test_a_value_that_is_not_what_its_field_promises_is_refused(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        commits(**wrong)


def test_a_count_is_a_whole_number():
    assert PageFacts(servers=np.int64(3), commits=commits()).texts()["servers"] == "3"
    with pytest.raises(TypeError, match="servers"):
        PageFacts(servers=3.5, commits=commits())


def test_facts_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        commits().cost_ns = 1.0


def test_the_first_cell_of_a_page_gets_the_facts_and_glues_them(monkeypatch):
    module = ModuleType("engineroom.facts.made_page")
    module.facts = lambda: PageFacts(servers=3, commits=commits())
    monkeypatch.setitem(sys.modules, module.__name__, module)
    glued = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: glued.update({name: (value, display)}))
    seen = facts.of("made_page")
    assert seen.commits.cost_ns == 81.4
    assert glued == {name: (text, False) for name, text in seen.texts().items()}
