"""Pictures of the join order chapter that are drawn for its page alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from engineroom.ask.query_graphs.trees import tree_of
from engineroom.chapters.join_order import figures


def test_a_drawing_has_the_ink_of_its_page_and_dark_names_on_white_discs():
    plan = tree_of("((b,c),a)")
    edges = [{"left": [1], "right": [2]}, {"left": [0], "right": [1, 2]}]
    drawn = figures.show(
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
