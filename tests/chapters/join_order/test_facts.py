from __future__ import annotations

import json

import pandas as pd
import pytest

from engineroom import paths
from engineroom.ask.compare import corpus
from engineroom.ask.query_graphs.trees import tree_of
from engineroom.chapters.join_order.figures import own_join_order_kernel_flame
from engineroom.facts import join_order
from engineroom.facts.join_order import OwnPlanner, Planning, Published, Quality, Sample, SourceQuery, Traced

LIMITED = "on, at most 1000 pairs"


def test_times_from_a_second_on_are_in_seconds():
    assert [join_order.duration(ms) for ms in (0.66, 999.9, 1000, 10_145.3)] == [
        "0.7 ms",
        "999.9 ms",
        "1.0 s",
        "10.1 s",
    ]


@pytest.fixture
def planning(made):
    """The chain gains from 12 tables on, the star loses from 4 on; the second repeat of each is disturbed."""
    ms = {
        ("chain", 4): (2.0, 1.0, 2.0),
        ("chain", 12): (3.0, 9.0, 3.0),
        ("chain", 14): (4.0, 50.0, 4.0),
        ("chain", 16): (5.0, 2000.0, 5.0),
        ("star", 3): (1.0, 2.0, 1.0),
        ("star", 4): (3.0, 2.0, 3.0),
        ("star", 10): (90.0, 3.0, 30.0),
        ("clique", 8): (800.0, 2.0, 7.0),
    }
    rows = [
        (*place, series, repeat, least + 100 * repeat)
        for place, times in ms.items()
        for series, least in zip(("on", "off", LIMITED), times, strict=True)
        for repeat in (0, 1)
    ]
    return made(
        "own-join-order-planning", "live", "shape tables series repeat planning_cpu_ms", *rows, summary="min"
    )


def test_planning_is_told_at_the_most_tables_of_each_shape(planning):
    seen = Planning.of(planning)
    assert (seen.chain.tables, seen.chain.on_ms, seen.chain.off_ms) == (16, 5.0, 2000.0)
    assert (seen.star.tables, seen.star.on_ms, seen.star.off_ms) == (10, 90.0, 3.0)
    assert (seen.clique.tables, seen.clique.on_ms, seen.clique.off_ms) == (8, 800.0, 2.0)
    assert (seen.chain_14_on_ms, seen.chain_14_off_ms) == (4.0, 50.0)
    assert (seen.clique_limited_ms, seen.star_limited_ms) == (7.0, 30.0)
    assert seen.texts()["chain.off_ms"] == "2.0 s"


def test_pairs_are_by_formula(planning):
    """A chain has (n^3 - n) / 6 of them, a star (n - 1) * 2^(n - 2)."""
    seen = Planning.of(planning)
    assert (seen.chain_pairs, seen.star_pairs) == (680, 2304)


def test_a_shape_that_never_gains_is_an_error_and_no_sentence(planning):
    seen = Planning.of(planning)
    assert (seen.chain_gains_from_tables, seen.star_loses_from_tables) == (12, 4)
    with pytest.raises(ValueError, match="no clique plans faster with on than with off"):
        join_order.faster_from(planning, "clique", "on", "off")


def test_plans_are_held_against_the_best_one(made):
    cases = [
        ("at most 1000 pairs", "a", 5, 1001, 1.0),
        ("at most 1000 pairs", "b", 5, 1001, 1.5),
        ("at most 1000 pairs", "c", 5, 1000, 1.5),  # not above the limit
        ("at most 100 pairs", "a", 5, 1001, 2.0),
        ("at most 100 pairs", "b", 5, 1001, 4321.0),
        ("left-deep", "a", 6, 50, 30.0),
        ("left-deep", "b", 7, 50, 99.0),  # larger than what was searched without pruning
    ]
    rows = [
        (query, n, draw, pairs, 0, series, cost) for series, query, n, pairs, cost in cases for draw in (0, 1)
    ]
    columns = "query tables draw pairs repeat series cost_per_best"
    unpruned = pd.DataFrame({"tables": [5, 6], "cost_per_best": [0.25, 2.25]})
    run = made("own-join-order-quality", "kernel", columns, *rows, tables={"unpruned": unpruned})
    assert Quality.of(run).texts() == {
        "draws": "2",
        "cases_over_1000_pairs": "4",
        "still_best_percent": "50",
        "worst_query": "b",
        "worst_ratio": "4,321",
        "left_deep_least_ratio": "0.25",
        "unpruned_cases": "2",
        "unpruned_most_tables": "6",
        "unpruned_worst_ratio": "2.2",
        "pruned_worst_ratio": "30",
    }


def test_the_traced_queries_are_counted_on_the_graphs_that_we_build(made):
    run = made(
        "own-join-order-trace",
        "live",
        "query family tables nodes is_special series repeat events is_equal",
        ("chain-6", "chain", 6, "0=t00", False, "graph built by us", 0, 900, True),
        ("chain-2", "chain", 2, "0=t01", False, "graph built by us", 0, 100, True),
        ("tree-3", "tree", 3, "0=t02", True, "graph built by us", 0, 500, False),
        ("tree-3", "tree", 3, "0=t02", True, "graph from the trace", 0, 500, True),
        tables={"simplified": pd.DataFrame({"our_graph_equal": [True, False, True]})},
    )
    seen = Traced.of(run)
    assert (seen.queries, seen.equal, seen.large, seen.special) == (3, 2, 1, 1)
    assert (seen.events, seen.simplified, seen.simplified_equal) == (1500, 3, 2)
    assert seen.nodes.rows["query"].tolist() == ["chain-2", "tree-3"]


def test_our_planner_is_told_by_samples_and_by_the_clock(made):
    entry = own_join_order_kernel_flame.ENTRY
    samples = made(
        "own-join-order-kernel-flame",
        "kernel",
        "path series repeat samples",
        ("planned", "planner", 0, 10),
        (f"planned;{entry}", "planner", 0, 40),
        (f"planned;{entry};{next(iter(own_join_order_kernel_flame.PRICING))}", "planner", 0, 50),
    )
    clocked = made(
        "fig-7-25",
        "kernel",
        "phase series repeat share_percent",
        *(
            ("connecting_pairs", "statement", repeat, percent)
            for repeat, percent in enumerate((30.0, 32.0, 40.0))
        ),
    )
    assert OwnPlanner.of(samples, clocked=clocked).texts() == {
        "pricing_percent": "50",
        "growing_percent": "40",
        "pricing_by_clock_percent": "32",
    }


def test_the_sources_statement_is_told_by_its_least_times(made):
    s = {"hypergraph_on": 0.012, "hypergraph_off": 0.003, "planning_on": 0.0009, "planning_off": 0.0004}
    rows = [("source_query", repeat, series, t + repeat) for series, t in s.items() for repeat in (0, 1)]
    other = [("clique", 0, series, 9.0) for series in s]
    run = made("fig-7-24", "live", "query repeat series statement_s", *rows, *other, summary="min")
    assert list(SourceQuery.of(run).texts().values()) == ["12.0 ms", "3.0 ms", "4.0", "0.5 ms"]


def test_what_is_published_is_the_whole_statement():
    rows = pd.DataFrame({"series": ["hypergraph_on", "hypergraph_off"], "statement_s": [0.88, 0.03]})
    assert list(Published.of(rows).texts().values()) == ["0.88 s", "0.03 s", "29"]


@pytest.fixture(scope="module")
def sample():
    return json.loads((paths.data() / "join_order" / "sample_trace.json").read_text(encoding="utf-8"))


def test_our_events_stand_beside_the_lines_of_the_trace(sample):
    seen = Sample.of(sample)
    assert len(seen.events.rows) == sum(line.startswith("Found") for line in sample["join_optimizer"])
    for told, ours in seen.events.rows.to_numpy().tolist():
        assert ("node" if " node " in told else "pair") == ours.split()[0], (told, ours)
    assert sample["server"] in seen.events.origin
    assert seen.plans.words.caption.endswith("the same sets.")


def test_plans_make_the_same_sets_in_whatever_order_of_their_sides():
    plans = [tree_of(text) for text in ("((a,b),c)", "(c,(b,a))", "(a,(b,c))")]
    assert join_order.same_sets_said(plans[0], plans[1]) == "both make the same sets."
    assert join_order.same_sets_said(plans[0], plans[2]) == "they do not make the same sets."


def test_the_outer_join_waits_for_the_join_below_it():
    drawn = join_order.hyperedge()
    assert "a LEFT JOIN (b JOIN c)" in drawn.words.caption
    assert "(b, c)" in drawn.words.alt or "(c, b)" in drawn.words.alt


def test_the_newest_recordings_have_all_facts():
    assert join_order.facts().texts()


def test_the_table_of_outcomes_has_a_row_per_set_and_tool_that_adds_up():
    rows = join_order.outcomes().rows
    recorded = corpus.read()
    assert len(rows) == len({(each.set, each.tool) for each in recorded})
    assert rows[["equal", "refused", "differ", "wrong"]].to_numpy().sum() == len(recorded)
    wrong = rows[rows["wrong"] > 0]
    assert wrong[["statements of", "tool", "wrong"]].to_numpy().tolist() == [
        ["clinic", "explain", 1]
    ]  # at its first and only try
