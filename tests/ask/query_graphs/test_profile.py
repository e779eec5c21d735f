"""Samples of a planner's call stacks: the rule that finds the enumerator, the shares, and the table of functions."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from engineroom import _native, runs
from engineroom.ask.query_graphs import profile
from engineroom.chapters.join_order import experiments as join_order
from engineroom.chapters.join_order import figures
from engineroom.errors import EngineRoomError
from engineroom.measuring import probes
from engineroom.runs import provenance

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


JO = "engineroom::join_order::"
LINES = f"""
  9 min<double> (inlined)
  9 price (inlined)
  9 {JO}FastEnumerator<0ul, {JO}Planner<{JO}A, {JO}B> >::grow_subgraph(unsigned long, bool) [clone .isra.0]
  8 {JO}FastEnumerator<0ul, {JO}Planner<{JO}A, {JO}B> >::grow_subgraph(unsigned long, bool) [clone .isra.0]
  7 {JO}Plan {JO}(anonymous namespace)::planned<{JO}A, false>({JO}Hypergraph const&)
  7 run (inlined)
  7 {JO}Plan {JO}(anonymous namespace)::planned<{JO}A, false>({JO}Hypergraph const&)
  6 method_call
"""


def test_a_function_compiled_into_its_caller_is_between_it_and_what_it_calls():
    frames = probes._frames(LINES.splitlines())
    assert [join_order.source_function(name) for name in frames] == [
        "min",
        "price",
        "grow_subgraph",
        "grow_subgraph",
        "run",
        "planned",
        "method_call",
    ]
    assert join_order.planner_paths([frames, frames]) == {
        ("planned", "run", "grow_subgraph", "price", "min"): 2
    }


def test_samples_without_such_functions_are_refused():
    with pytest.raises(EngineRoomError, match="none of 1 samples"):
        join_order.planner_paths([["grow_subgraph", "planned"]])


def test_a_planner_cannot_be_sampled_without_perf(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineRoomError, match="perf is not installed"):
        join_order.planner_flame()


def test_a_planners_samples_are_growing_sets_pricing_pairs_or_setting_up():
    paths = {
        "planned;Planner": 10,
        "planned;run;grow": 50,
        "planned;run;grow;pair;price": 30,
        "planned;run;first": 10,
    }
    table = pd.DataFrame(
        [{"path": path, "series": "planner", "repeat": 0, "samples": n} for path, n in paths.items()]
    )
    rows = figures.own_join_order_kernel_flame.rows(
        runs.Run("own-join-order-kernel-flame", "kernel", table, provenance=provenance.machine())
    )
    assert figures.shares(rows) == pytest.approx({"pricing pairs": 40, "growing sets": 50, "setting up": 10})
    at = rows.set_index("frame")
    assert at["share_percent"].to_dict() == pytest.approx(
        {"planned": 100, "run": 90, "grow": 80, "pair": 30, "price": 30, "first": 10, "Planner": 10}
    )
    assert at.loc[["grow", "first", "Planner"], "start_percent"].tolist() == pytest.approx([0, 80, 90])
    assert (
        "pricing pairs 40 percent, growing sets 50 percent"
        in figures.own_join_order_kernel_flame.words(rows).alt
    )
