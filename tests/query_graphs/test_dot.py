"""A hypergraph and a plan as Graphviz text."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from engineroom.query_graphs.dot import dot

EXPLAINED = {
    "tables": [{"name": "a"}, {"name": 'b "x"'}, {"name": "c"}],
    "edges": [
        {"left": [1], "right": [2], "condition": "b.y = c.y"},
        {"left": [0], "right": [1, 2], "condition": "a.x = 'q'"},
    ],
    "our_plan": {"tree": {"inputs": [{"table": "a"}, {"inputs": [{"table": 'b "x"'}, {"table": "c"}]}]}},
}


def test_an_edge_between_sets_goes_through_a_point():
    lines = dot(EXPLAINED).splitlines()
    assert '    t1 -- t2 [label="b.y = c.y"]' in lines
    assert "    t0 -- e1 [style=solid]" in lines
    assert {"    t1 -- e1 [style=dashed]", "    t2 -- e1 [style=dashed]"} <= set(lines)
    assert sum(" -- p" in line for line in lines) == 4


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz here")
def test_graphviz_reads_it():
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot(EXPLAINED), capture_output=True, text=True, check=True)
    assert drawn.stderr == ""
    assert "b &quot;x&quot;" in drawn.stdout
