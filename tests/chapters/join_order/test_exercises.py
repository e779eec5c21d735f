"""What the exercises on join order share: pairs of drawn graphs, and what is a graph behind them."""

from __future__ import annotations

import random

import pytest

from engineroom.chapters.join_order import exercises as join_order

OUTER = [("b", "c"), ("a", ("b", "c"))]  # a LEFT JOIN (b JOIN c)
REPORTED = [(("b",), ("c",)), (("a",), ("b", "c"))]


def test_an_edge_to_two_tables_waits_for_both():
    assert {frozenset(pair) for pair in join_order.pairs(OUTER)} == {frozenset(pair) for pair in REPORTED}


@pytest.mark.parametrize(
    "edges",
    [
        [("b", "c")],
        [*OUTER, ("a", "b")],  # reports more
        [*OUTER, (("b", "c"), "a")],  # can be left out
        [("b", "c"), ((), "a")],
        [("b", "c"), ("a", ("a", "b"))],
        [],
    ],
)
def test_other_edges_are_no_graph_behind_its_pairs(edges):
    assert join_order.is_graph_behind(OUTER, REPORTED)
    assert not join_order.is_graph_behind(edges, REPORTED)


def test_two_graphs_can_be_behind_the_same_pairs():
    long = [("a", "d"), ("d", "b"), (("a", "b", "d"), "c")]
    short = [("a", "d"), ("d", "b"), (("a", "b"), "c")]
    assert join_order.is_graph_behind(short, join_order.pairs(long))
    assert join_order.is_graph_behind(long, join_order.pairs(short))


def test_drawn_graphs_differ_and_most_need_sets():
    drawn = [join_order.drawn_pairs(random.Random(seed)) for seed in range(60)]
    assert len({str(sorted(each)) for each in drawn}) > 50
    wider = [
        each
        for each in drawn
        if not join_order.is_graph_behind([pair for pair in each if len(sum(pair, ())) == 2], each)
    ]
    assert len(wider) > 30
