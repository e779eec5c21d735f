"""A hypergraph and a plan as Graphviz text."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from engineroom.ask.query_graphs.dot import dot

BLOCK = {
    "select": 1,
    "tables": [{"name": "a"}, {"name": 'b "x"'}, {"name": "c"}],
    "edges": [
        {"left": [1], "right": [2], "condition": "b.y = c.y"},
        {"left": [0], "right": [1, 2], "condition": "a.x = 'q'"},
    ],
    "our_plan": {"tree": {"inputs": [{"table": "a"}, {"inputs": [{"table": 'b "x"'}, {"table": "c"}]}]}},
}
EXPLAINED = {"blocks": [BLOCK, {"select": 2, "refused": "why"}, {**BLOCK, "our_plan": {"refused": "why"}}]}


def test_an_edge_between_sets_goes_through_a_point():
    lines = dot(EXPLAINED).splitlines()
    assert '    b0_t1 -- b0_t2 [label="b.y = c.y"]' in lines
    assert "    b0_t0 -- b0_e1 [style=solid]" in lines
    assert {"    b2_t1 -- b2_e1 [style=dashed]", "    b2_t2 -- b2_e1 [style=dashed]"} <= set(lines)
    assert sum(" -- b0_p" in line for line in lines) == 4
    assert not any("b1_" in line or "b2_p" in line for line in lines)


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz here")
def test_graphviz_reads_it():
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot(EXPLAINED), capture_output=True, text=True, check=True)
    assert drawn.stderr == ""
    assert "b &quot;x&quot;" in drawn.stdout
