"""Pictures of the join order chapter that are drawn for its page alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from engineroom.ask.query_graphs.trees import tree_of
from engineroom.chapters.join_order import figures
from engineroom.runs import Run


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


@pytest.mark.parametrize(
    ("on_ms", "gains_from"),
    [((2, 3, 4), 12), ((0.5, 3, 4), 4), ((0.5, 9, 4), 14), ((2, 9, 50), None)],
)
def test_a_shape_gains_from_the_size_from_which_on_it_is_faster_at_all_larger_ones(on_ms, gains_from):
    rows = [
        ("chain", n, series, 0, ms)
        for series, of in (("on", on_ms), ("off", (1.0, 8.0, 50.0)))
        for n, ms in zip((4, 12, 14), of, strict=True)
    ]
    columns = ["shape", "tables", "series", "repeat", "planning_cpu_ms"]
    run = Run("own-join-order-planning", "live", pd.DataFrame(rows, columns=columns), {})
    table = figures.own_join_order_planning.rows(run)
    assert figures.faster_from(table, "chain", "on", "off") == gains_from


def test_our_planners_roles_are_told_without_those_within_them():
    entry, pricing = figures.ENTRY, figures.PRICING[0]
    samples = pd.DataFrame(
        [
            ("planned", "planner", 0, 10),
            (f"planned;{entry}", "planner", 0, 40),
            (f"planned;{entry};{pricing}", "planner", 0, 50),
        ],
        columns=["path", "series", "repeat", "samples"],
    )
    run = Run("own-join-order-kernel-flame", "kernel", samples, {})
    assert figures.shares(figures.own_join_order_kernel_flame.rows(run)) == {
        "pricing pairs": 50,
        "growing sets": 40,
        "setting up": 10,
    }
