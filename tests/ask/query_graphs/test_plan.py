"""`explain --plan`: plans as they are pasted, each step's own time, and the first estimate that went wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from engineroom.ask.query_graphs import plan
from engineroom.ask.query_graphs.cli import join_order
from engineroom.errors import EngineRoomError

TREE = """-> Limit: 3 row(s)  (cost=900 rows=3) (actual time=28.3..28.4 rows=3 loops=1)
    -> Nested loop inner join  (cost=211.5 rows=474) (actual time=1.01..28.0 rows=6400 loops=1)
        -> Filter: ((a.z like '%q  (cost=1 %') and (a.y > (select #2)))  (cost=74.3 rows=29.6) (actual time=0.9..1.4 rows=400 loops=1)
            -> Table scan on a  (cost=74.3 rows=800) (actual time=0.04..0.5 rows=800 loops=1)
            -> Select #2 (subquery in condition; run only once)
                -> Aggregate: avg(c.y)  (cost=265 rows=1) (actual time=0.6..0.6 rows=1 loops=1)
        -> Index lookup on b using x (x=a.x)  (cost=3.05 rows=16) (actual time=0.002..0.06 rows=16 loops=400)
        -> Single-row index lookup on d using PRIMARY (id=a.x)  (cost=0.25 rows=1) (never executed)
"""
NODE: dict[str, Any] = {
    "operation": "Limit: 3 row(s)", "estimated_rows": 3.0, "actual_rows": 3.0, "actual_loops": 1, "actual_last_row_ms": 28.4,
    "inputs": [
        {"operation": "Nested loop inner join", "estimated_rows": 474.0, "actual_rows": 6400.0, "actual_loops": 1, "actual_last_row_ms": 28.0,
         "inputs": [
             {"operation": "Filter", "estimated_rows": 29.6, "actual_rows": 400.0, "actual_loops": 1, "actual_last_row_ms": 1.4,
              "inputs": [{"operation": "Aggregate", "heading": "Select #2", "actual_rows": 1.0, "actual_loops": 1, "actual_last_row_ms": 0.6}]},
             {"operation": "Index lookup on b", "estimated_rows": 16.0, "actual_rows": 16.0, "actual_loops": 400, "actual_last_row_ms": 0.06}]}],
}  # fmt: skip
WIDE = max(map(len, TREE.splitlines()))
PASTED = {
    "tree": TREE,
    "of a table": f"+{'-' * WIDE}+\n| EXPLAIN |\n+{'-' * WIDE}+\n| {TREE}  |\n+{'-' * WIDE}+\n1 row in set (0.03 sec)\n",
    "of \\G": f"*************************** 1. row ***************************\nEXPLAIN: {TREE}1 row in set\n",
    "of a batch": "EXPLAIN\n" + TREE.replace("\n", "\\n"),
    "with quotes": f"'{TREE.rstrip()}'",
    "of Windows": TREE.replace("\n", "\r\n"),
    "JSON": json.dumps({"query": "select 1", "query_plan": NODE}, indent=2),
    "JSON of 8.3": json.dumps({"query": "select 1", **NODE}),
    "JSON of \\G": "EXPLAIN: " + json.dumps({"query_plan": NODE}) + "\n1 row in set",
}


@pytest.mark.parametrize("pasted", PASTED.values(), ids=PASTED)
def test_a_plan_is_read_however_it_was_pasted(pasted):
    found = plan.read(pasted, "x")
    (top,) = found
    assert top.name == "Limit: 3 row(s)"
    assert top.self_ms == pytest.approx(0.4)
    (join,) = top.inputs
    a_filter, lookup = join.inputs[:2]
    assert join.self_ms == pytest.approx(28.0 - 1.4 - 24.0)
    assert lookup.self_ms == pytest.approx(24.0)
    assert (lookup.loops, lookup.off) == (400, 1.0)
    assert a_filter.self_ms == pytest.approx(1.4 - 0.6 - (0.5 if len(a_filter.inputs) == 2 else 0))
    assert plan.wrong_first(found) is a_filter
    said = plan.text(found)
    assert "Most time: Index lookup on b" in said
    assert "29.6 estimated, 400 found" in said
    assert plan.as_json(found)["wrong_first"].startswith("Filter")


def step(depth: int, name: str, estimated: float, found: float) -> str:
    return f"{'    ' * depth}-> {name}  (cost=1 rows={estimated}) (actual time=1..2 rows={found} loops=1)\n"


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ([(0, "Filter", 10, 99), (1, "Scan", 10, 99)], None),
        ([(0, "Filter", 10, 1e6), (1, "Scan", 10, 100)], "Scan"),
        ([(0, "Filter", 10, 1e6), (1, "Scan", 10, 10)], "Filter"),
        ([(0, "Limit: 1 row(s)", 1, 1), (1, "Scan", 5000, 1)], None),
        ([(0, "Limit: 1 row(s)", 1, 1), (1, "Sort: x", 1, 1), (2, "Scan", 5000, 1)], "Scan"),
        ([(0, "Limit: 1 row(s)", 1, 1), (1, "Scan", 5, 5000)], "Scan"),
        ([(0, "Join", 1, 1), (1, "Scan on a", 1, 0), (1, "Scan on b", 800, 1)], "Scan on b"),
        ([(0, "Join", 1, 1), (1, "Scan on a", "1e+3", "1.2e+5"), (1, "Scan on b", 800, 1)], "Scan on a"),
    ],
)
def test_the_first_wrong_estimate_is_that_of_the_lowest_step(lines, first):
    found = plan.wrong_first(plan.read("".join(step(*line) for line in lines), "x"))
    assert (found.name if found else None) == first


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("", "holds no plan"),
        ("SELECT 1", "holds no plan"),
        ("{", "holds no plan"),
        ('{"query_plan": []}', "holds no plan"),
        ('{"query_plan": {"inputs": 7}}', "holds no plan"),
        ("".join(step(depth, "Scan", 1, 1) for depth in range(3000)), "holds no plan"),
        ('{"query_block": {"select_id": 1, "r_total_time_ms": 1}}', "format version 1"),
        ("-> Table scan on a  (cost=74.3 rows=800)", "estimates only"),
        ('{"query_plan": {"operation": "Table scan on a", "estimated_rows": 8}}', "estimates only"),
    ],
)
def test_what_is_no_plan_is_refused_with_what_to_paste(pasted, said):
    with pytest.raises(EngineRoomError, match=said) as caught:
        plan.read(pasted, "x.txt")
    assert "EXPLAIN ANALYZE" in caught.value.remedy


def test_the_command_reads_a_file_or_standard_input_and_asks_no_server(tmp_path):
    (tmp_path / "plan.txt").write_text(TREE)
    of_file = CliRunner().invoke(join_order, ["explain", "--plan", str(tmp_path / "plan.txt")])
    assert "Rows went wrong first at: Filter" in of_file.output
    found = json.loads(
        CliRunner().invoke(join_order, ["explain", "--plan", "-", "--format", "json"], input=TREE).output
    )
    assert found["all_ms"] == 28.4
    assert found["steps"][0]["inputs"][0]["inputs"][2]["rows"] is None
    assert (
        "text or as JSON"
        in CliRunner().invoke(join_order, ["explain", "--plan", "-", "--format", "dot"], input=TREE).output
    )
    assert (
        "--plan" in CliRunner().invoke(join_order, ["explain", "SELECT 1", "--plan", "-"], input=TREE).output
    )
    none = CliRunner().invoke(join_order, ["explain", "--plan", str(tmp_path / "none")])
    assert isinstance(none.exception, EngineRoomError)


def test_a_plan_of_mariadb_is_read_as_far_as_it_goes():
    table = {
        "table_name": "a",
        "access_type": "ALL",
        "r_loops": 1,
        "rows": 800,
        "r_rows": 800,
        "r_table_time_ms": 1.5,
    }
    lookup = {"table_name": "b", "access_type": "ref", "key": "x", "r_loops": 800, "rows": 1, "r_rows": 16}
    block = {
        "select_id": 1, "r_loops": 1, "r_total_time_ms": 28.4,
        "nested_loop": [
            {"read_sorted_file": {"filesort": {"sort_key": "a.x", "r_loops": 1, "r_total_time_ms": 2.5, "r_output_rows": 800, "table": table}}},
            {"table": {**lookup, "r_table_time_ms": 20, "r_other_time_ms": 4, "r_engine_stats": {"pages": 3}, "attached_condition": "b.y > 1"}},
        ],
        "subqueries": [{"query_block": {"select_id": 2, "r_loops": 0, "table": {"table_name": "c", "access_type": "ALL", "r_loops": 0}}}],
    }  # fmt: skip
    (top,) = plan.read(
        "ANALYZE: " + json.dumps({"query_optimization": {}, "query_block": block}, indent=2), "x"
    )
    assert [each.name for each in top.inputs] == ["nested loop", "select #2"]
    (reading, b), (sort,) = top.inputs[0].inputs, top.inputs[0].inputs[0].inputs
    assert (sort.name, sort.self_ms, reading.all_ms) == ("filesort: a.x", 1.0, 2.5)
    assert (b.name, b.loops, b.rows, b.estimated_rows) == ("ref on b using x", 800, 16.0, 1.0)
    assert b.self_ms == pytest.approx(24)
    assert top.self_ms == pytest.approx(28.4 - 24 - 2.5)
    assert plan.wrong_first([top]) is b
    assert top.inputs[1].is_never
    assert "Most time: ref on b using x" in plan.text([top])
