"""Plans as trees."""

from __future__ import annotations

import json

from engineroom import paths
from engineroom.ask.query_graphs import trace, trees


def test_the_order_of_a_trace_is_a_tree():
    tree = trees.tree_of("((t03,t04),(t02,t01))")
    assert trees.order(tree) == "((t03, t04), (t02, t01))"
    assert trees.leaves(tree) == ["t03", "t04", "t02", "t01"]
    assert trees.joined_sets(tree) == trees.joined_sets(trees.tree_of("((t01,t02),(t03,t04))"))
    assert trees.joined_sets(tree) != trees.joined_sets(trees.tree_of("(((t01,t02),t03),t04)"))


def test_the_order_is_that_of_the_cheapest_path_kept_for_all_tables():
    sample = (paths.data() / "join_order" / "sample_trace.json").read_text()
    (planned,) = trace.plannings(json.loads(sample))
    assert planned.join_order == "((t03,t04),(t02,t01))"
    kept = [line for line in json.loads(sample)["join_optimizer"] if "paths for {t01,t02,t03,t04}" in line]
    assert "cost=195," in kept[-1].split("}, {")[-1]
