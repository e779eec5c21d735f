"""A hypergraph and plans as Graphviz text and as a page's drawing."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

from engineroom import paths
from engineroom.query_graphs import drawing, trace

EXPLAINED = {
    "tables": [{"name": "a"}, {"name": 'b "x"'}, {"name": "c"}],
    "edges": [
        {"left": [1], "right": [2], "condition": "b.y = c.y"},
        {"left": [0], "right": [1, 2], "condition": "a.x = 'q'"},
    ],
    "our_plan": {"tree": {"inputs": [{"table": "a"}, {"inputs": [{"table": 'b "x"'}, {"table": "c"}]}]}},
}


def test_an_edge_between_sets_goes_through_a_point():
    lines = drawing.dot(EXPLAINED).splitlines()
    assert '    t1 -- t2 [label="b.y = c.y"]' in lines
    assert "    t0 -- e1 [style=solid]" in lines
    assert {"    t1 -- e1 [style=dashed]", "    t2 -- e1 [style=dashed]"} <= set(lines)
    assert sum(" -- p" in line for line in lines) == 4


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz here")
def test_graphviz_reads_it():
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=drawing.dot(EXPLAINED), capture_output=True, text=True, check=True
    )
    assert drawn.stderr == ""
    assert "b &quot;x&quot;" in drawn.stdout


def test_the_order_of_a_trace_is_a_tree():
    tree = drawing.tree_of("((t03,t04),(t02,t01))")
    assert drawing.order(tree) == "((t03, t04), (t02, t01))"
    assert drawing.leaves(tree) == ["t03", "t04", "t02", "t01"]
    assert drawing.joined_sets(tree) == drawing.joined_sets(drawing.tree_of("((t01,t02),(t03,t04))"))
    assert drawing.joined_sets(tree) != drawing.joined_sets(drawing.tree_of("(((t01,t02),t03),t04)"))


def test_the_order_is_that_of_the_cheapest_path_kept_for_all_tables():
    sample = (paths.data() / "join_order" / "sample_trace.json").read_text()
    (planned,) = trace.parse(sample)
    assert planned.join_order == "((t03,t04),(t02,t01))"
    kept = [line for line in json.loads(sample)["join_optimizer"] if "paths for {t01,t02,t03,t04}" in line]
    assert "cost=195," in kept[-1].split("}, {")[-1]


def test_a_drawing_has_the_ink_of_its_page_and_dark_names_on_white_discs():
    plan = drawing.tree_of("((b,c),a)")
    edges = [{"left": [1], "right": [2]}, {"left": [0], "right": [1, 2]}]
    drawn = drawing.show(
        "own-test", ["a", "b", "c"], edges, {"the plan": plan}, caption="A plan.", origin="A test."
    )
    assert drawn.words.alt == (
        "Query graph of a, b, c, with edges of b with c; a with b and c. The plan: ((b, c), a)."
    )
    assert drawn.csv.splitlines() == [
        "drawing,left,right",
        "query graph,b,c",
        "query graph,a,b c",
        "the plan,b c,a",
        "the plan,b,c",
    ]
    for svg in (drawn.wide, drawn.narrow):
        ET.fromstring(svg)
        assert svg.count("fill: #ffffff") == 6
        assert svg.count("fill: #111111") == 6
        assert "stroke: currentColor" in svg
        assert "#000000" not in svg
