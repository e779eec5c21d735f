"""Samples of a planner's call stacks: the rule that finds the enumerator, the shares, and the table of functions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engineroom import _native
from engineroom.errors import EngineRoomError
from engineroom.join_order import profile

ABOVE = ("start", "dispatch_command", "FindBestQueryPlan", "m+1", "m+run")
GROWN = (*ABOVE, "m+subgraph", "m+subgraph", "m+complements", "m+complement", "m+complement")
STACKS = [
    (*GROWN, "m+pair", "pow"),
    GROWN,
    (*ABOVE, "m+complements", "m+pair"),
    (*ABOVE, "CountPairs", "CountPairs"),
    ("start", "dispatch_command", "parse"),
    ("start", "m+flush"),
]
KNOWN = profile.Enumerator("m+subgraph", "m+complements", "m+complement")


def test_the_enumerator_is_found_by_who_calls_whom():
    assert profile.enumerator(STACKS) == KNOWN


def test_a_second_such_triple_or_none_leaves_it_unknown():
    assert profile.enumerator(STACKS[2:]) is None
    second = [tuple(name.replace("m+", "n+") for name in stack) for stack in STACKS]
    assert profile.enumerator([*STACKS, *second]) is None


def test_shares_are_of_the_statement_and_add_up():
    share = profile.shares(STACKS, KNOWN)
    assert share == {"plan_search": 60.0, "connecting_pairs": 40.0, "growing_subgraphs": 20.0}
    assert profile.shares(STACKS, None) == {"plan_search": 80.0}


def test_a_recording_without_a_statement_is_refused():
    with pytest.raises(EngineRoomError, match="no sample is of a statement"):
        profile.shares(STACKS[-1:], KNOWN)


def test_a_path_begins_at_the_planner_and_counts_a_call_of_oneself_once():
    paths = profile.folded(STACKS, KNOWN)
    names = (
        "FindBestQueryPlan",
        "m+1",
        "m+run",
        "ExpandSubgraph",
        "EnumerateComplementsTo",
        "ExpandComplement",
    )
    assert paths[names] == paths[(*names, "m+pair", "pow")] == 1
    assert sum(paths.values()) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF files are Linux's")
def test_the_functions_of_a_program_are_listed_in_ascending_order(tmp_path):
    starts = profile.function_starts(Path(_native.__file__))
    assert len(starts) > 100
    assert starts == sorted(starts)
    (tmp_path / "text").write_text("no program")
    assert profile.function_starts(tmp_path / "text") == []
