"""The hypergraph that we build from SQL, the queries, and the trace's reader, without a server."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re

import pytest

from engineroom._native import join_order as kernel
from engineroom.ask.query_graphs import graphs, queries, trace
from engineroom.ask.query_graphs.build import build
from engineroom.ask.query_graphs.trace import Planned, TraceError, blocks
from engineroom.errors import EngineRoomError


def sides(sql: str) -> list[tuple[str, str]]:
    """The edges by table, as texts."""
    built = build(f"SELECT COUNT(*) FROM {sql}")
    return [
        tuple("".join(sorted(built.tables[node] for node in edge[side])) for side in ("left", "right"))  # type: ignore[misc]
        for edge in built.graph["edges"]
    ]


def test_inner_joins_are_flattened_and_conditions_find_their_join():
    assert sides("a JOIN b ON a.x = b.x JOIN c ON b.y = c.y") == [("b", "c"), ("a", "b")]


def test_an_outer_join_needs_its_whole_inner_side():
    assert sides("a LEFT JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x") == [("b", "c"), ("a", "bc")]


def test_an_outer_join_under_a_condition_that_rejects_its_nulls_is_inner():
    built = build("SELECT 1 FROM a LEFT JOIN b ON a.x = b.x JOIN c ON b.y = c.y")
    assert built.kinds == ["inner", "inner"]
    assert build("SELECT 1 FROM a LEFT JOIN b ON a.x = b.x JOIN c ON a.y = c.y").kinds.count("left") == 1


def test_one_multiple_equality_makes_a_clique():
    assert sorted(map(sorted, sides("a, b, c WHERE a.x = b.x AND b.x = c.x"))) == [
        ["a", "b"],
        ["a", "c"],
        ["b", "c"],
    ]
    assert len(sides("a, b, c, d WHERE a.x = b.x AND b.x = c.x AND c.x = d.x")) == 6


def test_equalities_across_an_outer_join_make_no_cycle():
    assert len(sides("a JOIN b ON a.x = b.x LEFT JOIN c ON b.x = c.x")) == 2


def test_tables_without_a_condition_are_joined_by_an_edge_that_stands_for_the_cross_product():
    assert sides("a, b, c WHERE a.x = b.x") == [("a", "b"), ("c", "ab")]


def test_exists_becomes_a_semi_and_not_exists_an_anti_join():
    built = build(
        "SELECT 1 FROM a JOIN b ON a.x = b.x WHERE EXISTS (SELECT 1 FROM c WHERE c.y = a.y) "
        "AND NOT EXISTS (SELECT 1 FROM d WHERE d.z = b.z)"
    )
    assert sorted(built.kinds) == ["anti", "inner", "semi"]


def test_a_straight_join_needs_all_that_stands_before_it():
    assert sides("a STRAIGHT_JOIN b ON a.x = b.x STRAIGHT_JOIN c ON b.y = c.y") == [("a", "b"), ("ab", "c")]
    assert build("SELECT 1 FROM a STRAIGHT_JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x").kinds == [
        "inner",
        "inner",
    ]


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT 1 FROM a NATURAL JOIN b", "NATURAL JOIN compares"),
        ("SELECT 1 FROM a AS x NATURAL LEFT JOIN b", "NATURAL JOIN compares"),
        ("SELECT 1 FROM a JOIN b USING (x)", "USING is not read"),
        ("SELECT 1 FROM a RIGHT JOIN b ON a.x = b.x", "RIGHT JOIN is not read"),
        ("SELECT STRAIGHT_JOIN 1 FROM a JOIN b ON a.x = b.x", "fixes the order of all tables"),
        ("SELECT /*+ JOIN_ORDER(b, a) */ 1 FROM a JOIN b ON a.x = b.x", "hints may fix an order"),
        ("SELECT (SELECT 1 FROM c) FROM a JOIN b ON a.x = b.x", "list of columns"),
        ("SELECT 1 FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.x = a.x)", "aggregate"),
        (
            "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND NOT EXISTS (SELECT 1 FROM c WHERE c.x = b.x))",
            "NOT EXISTS inside EXISTS",
        ),
        ("SELECT 1 FROM a JOIN b ON a.x = nowhere.x", "names nowhere"),
        ("DELETE FROM a", "not DELETE"),
        ("WITH c AS (SELECT 1 FROM a) SELECT 1 FROM a, c WHERE a.x = c.x", "WITH makes blocks"),
        ("SELECT 1 FROM a JOIN (SELECT x FROM b) AS d ON a.x = d.x", "a subquery here"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x UNION SELECT 1 FROM c", "block of each arm"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x WHERE a.y IN (1, 2)", "IN is not read"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x ORDER BY a.x LIMIT 3", "ORDER BY is not read"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x WHERE a.y NOT IN (SELECT y FROM b)", "NOT is not read"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x AND a.y LIKE 'c%'", "LIKE"),
        ("SELECT 1 FROM a LEFT JOIN b ON a.x = b.x WHERE a.y = 'paid'", "comparisons with a text"),
        ("SELECT 1 FROM `a` JOIN b ON a.x = b.x", "backticks"),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x--1", "a minus behind a minus"),
    ],
)
def test_what_the_server_plans_otherwise_and_what_is_left_to_it_is_refused_by_name(sql, problem):
    with pytest.raises(EngineRoomError, match=problem):
        build(sql)


def test_a_long_statement_is_read_and_a_far_longer_or_deeper_one_is_refused():
    on = "SELECT 1 FROM a JOIN b ON "
    assert len(build(on + " AND ".join(["a.x = b.x"] * 1000)).kinds) == 1
    with pytest.raises(EngineRoomError, match="nested so deep"):
        build(f"{on}{'(' * 5000}a.x = b.x{')' * 5000}")
    with pytest.raises(EngineRoomError, match="more than 20,000 characters"):
        build(on + " AND ".join(["a.x = b.x"] * 5000))


def test_exists_inside_not_exists_is_read():
    built = build(
        "SELECT 1 FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND EXISTS (SELECT 1 FROM c WHERE c.x = b.y))"
    )
    assert sorted(built.kinds) == ["anti", "semi"]


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("TABLE a", "expected SELECT, got 'TABLE a'"),
        ("SELECT COUNT(*)", "expected FROM"),
        ("SELECT COUNT(*) FROM a, b WHERE a.x < b.x", "expected an equality, got 'a.x < b.x'"),
        ("SELECT COUNT(*) FROM a, b WHERE a.x = 7", "expected a column as table.column, got '7'"),
        ("SELECT COUNT(*) FROM a, b WHERE a.x = y", "expected a column as table.column, got 'y'"),
        ("SELECT COUNT(*) FROM a JOIN shop.b ON a.x = b.x", "expected a table, got 'shop.b'"),
        ("SELECT COUNT(*) FROM a JOIN f(7) ON a.x = b.x", r"expected a table, got 'F\(7\)'"),
        ("SELECT COUNT(*) FROM a LEFT b ON a.x = b.x", "expected SQL in line 1, got 'LEFT b ON"),
        ("SELECT COUNT(*) FROM a WHERE 'x", "expected SQL, got"),
        ("SELECT COUNT(*) FROM a; SELECT 1", "expected the end, got 'SELECT 1'"),
        ("SELECT COUNT(*) FROM a FOR UPDATE", "expected SELECT, FROM and WHERE, got 'LOCKS'"),
        ("SELECT /*! STRAIGHT_JOIN */ 1 FROM a JOIN b ON a.x = b.x", "that the server executes"),
    ],
)
def test_what_the_reader_does_not_know_is_refused_with_what_was_found(sql, problem):
    with pytest.raises(EngineRoomError, match=problem):
        build(sql)


@pytest.mark.parametrize("benchmark", ["tpch", "tpcds", "job"])
def test_a_benchmarks_query_names_the_relations_of_its_graph_and_joins_them_along_its_edges(benchmark):
    sql = {query.name: query.sql for query in queries.queries() if query.family == benchmark}
    known = queries.benchmark_graphs(benchmark)
    assert sql.keys() == {f"{benchmark}-{graph['name']}" for graph in known}
    for graph in known:
        of = sql[f"{benchmark}-{graph['name']}"]
        names = [relation["alias"] for relation in graph["relations"]]
        assert sorted(re.findall(r" AS (\w+)", of)) == sorted(names)
        joined = {frozenset(pair) for pair in re.findall(r"(\w+)\.\w+ = (\w+)\.\w+", of)}
        assert joined == {frozenset((names[a], names[b])) for a, b in graph["edges"]}


def test_the_schema_has_every_column_that_a_query_names():
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\)", "\n".join(queries.schema()))
    columns = {table: set(re.findall(r"(\w+) INT", held)) for table, held in tables}
    for query in (
        each for which in ("queries", "straight", "shared", "hinted") for each in queries.queries(which)
    ):
        table_of = {alias: table for table, alias in re.findall(r"(\w+) AS (\w+)", query.sql)}
        for alias, column in re.findall(r"(\w+)\.(\w+)", query.sql):
            assert column in columns[table_of.get(alias, alias)], query.name


def test_there_are_as_many_queries_of_each_kind_as_the_comparison_needs():
    some = queries.queries()
    assert len({query.name for query in some}) == len(some) >= 200
    assert sum(query.tables >= 6 for query in some) >= 100
    assert sum(query.special for query in some) >= 40
    assert {"tpch", "tpcds", "job"} <= {query.family for query in some}


@pytest.mark.parametrize(
    ("which", "digest"),
    [("queries", "0e6894c301969fe9"), ("straight", "95b2697c517d5311"), ("shared", "179f055d30a00e25")],
)
def test_the_graphs_are_those_that_were_the_servers(which, digest):
    """The live tests compare them with 9.7.4; this one needs no server, and says that one has changed since."""
    found = hashlib.sha256()
    for query in queries.queries(which):
        try:
            found.update(json.dumps(dataclasses.astuple(build(query.sql))).encode())
        except EngineRoomError as error:
            found.update(error.problem.encode())
    assert found.hexdigest()[:16] == digest


def test_the_servers_algorithm_misses_no_pair_of_a_query_graph():
    """It can miss some on cyclic graphs with complex edges; the queries up to ten tables make none of these."""
    some = [query for query in queries.queries() if query.tables <= 10]
    assert len(some) > 300
    for query in some:
        graph = graphs.from_json(build(query.sql).graph)
        faithful, fast = (
            kernel.enumerate(graph, algorithm=name, events=False).counters for name in ("faithful", "fast")
        )
        assert faithful["csg_cmp_pairs"] == fast["csg_cmp_pairs"], query.name


LINES = [
    "After pushdown; remaining WHERE conditions are (none), table filters are (none):",
    "* Left join [companion set 0x1] (equijoin condition = (b.x = c.x))",
    "  * Inner join [companion set 0x1] (equijoin condition = (a.x = b.x))",
    "    * a [companion set 0x1]",
    "    * b [companion set 0x1]",
    "  * c [companion set 0x2]",
    "",
    "Constructed hypergraph:",
    "digraph G {  # 2 edges",
    '  a -> b [label="(a.x = b.x) (0.1)",arrowhead=none]',
    '  e2 [shape=circle,width=.001,height=.001,label=""]',
    '  a -> e2 [arrowhead=none,label=""]',
    '  b -> e2 [arrowhead=none,label=""]',
    '  e2 -> c [label="[left] (b.x = c.x) (0.25) [conflict rule: {a} -> {b}]"]',
    "}",
    "",
    "Enumerating subplans:",
    "",
    "Found node c [rows=7]",
    "Found node b [rows=1e+3]",
    "Found node a [rows=2]",
    "Found sets {a} and {b}, connected by condition (a.x = b.x)",
    "Found sets {a,b} and {c}, connected by condition [left] (b.x = c.x)",
    "Enumerated 5 subplans keeping a total of 6 access paths, got 1 candidate(s) to finalize:",
    "Final cost is 12.5.",
]


def planned(lines: list[str]) -> trace.Planned:
    (found,) = trace.plannings({"steps": [{"join_optimization": {"steps": [{"join_optimizer": lines}]}}]})
    return found


def test_a_trace_becomes_a_graph_and_events():
    found = planned(LINES)
    assert found.tables == ["a", "b", "c"]
    assert found.graph() == {
        "nodes": 3,
        "edges": [
            {"left": [0], "right": [1]},
            {"left": [0, 1], "right": [2], "rules": [{"if": [0], "then": [1]}]},
        ],
    }
    assert [edge.kind for edge in found.graphs[0]] == ["inner", "left"]
    assert found.named_events() == [(4, 0, -1), (2, 0, -1), (1, 0, -1), (1, 2, 0), (3, 4, 1)]
    assert (found.rows, found.subplans, found.cost) == ({2: 7, 1: 1000, 0: 2}, 5, 12.5)


def test_a_pair_that_no_edge_joins_is_an_error():
    with pytest.raises(EngineRoomError, match="no edge of the printed hypergraph"):
        planned([*LINES[:-2], "Found sets {a} and {c}, connected by condition (a.x = c.x)"]).named_events()


def written(*lines: str) -> Planned:
    """What is planned in a block with these lines."""
    ((_, planned),) = blocks(json.dumps({"join_optimizer": list(lines)}))
    if not isinstance(planned, Planned):
        raise planned
    return planned


def test_a_condition_that_got_a_cast_after_the_graph_was_printed_is_its_edges():
    cast = [line.replace("condition (a.x = b.x)", "condition (cast(a.x as double) = b.x)") for line in LINES]
    assert written(*cast).named_events() == written(*LINES).named_events()
    both = [*cast[:9], '  a -> b [label="(a.z = b.z) (0.1)",arrowhead=none]', *cast[9:]]
    with pytest.raises(TraceError, match="two edges"):
        written(*both).named_events()


SHARED = [
    "After pushdown; remaining WHERE conditions are (none), table filters are (none):",
    "* Semijoin [companion set 0x1] (equijoin condition = (a.x = b.x))",
    "  * Inner join [companion set 0x1] (equijoin condition = (a.y = b.y))",
    "    * a [companion set 0x1]",
    "    * b [companion set 0x1]",
    "  * b [companion set 0x2]",
    "",
    "Constructed hypergraph:",
    "digraph G {  # 2 edges",
    '  b_ [label="b"];',
    '  a -> b [label="(a.y = b.y) (0.1)",arrowhead=none]',
    '  a -> b_ [label="[semi] (a.x = b.x) (0.25)"]',
    "}",
    "",
    "Enumerating subplans:",
    "Found node b [rows=7]",
    " - current access paths for {b}: {TABLE_SCAN, cost=1, init_cost=0, rows=3})",
    "Found node b [rows=1e+3]",
    "Found node a [rows=2]",
    "Found sets {a} and {b}, connected by condition [semi] (a.x = b.x)",
    "Found sets {a} and {b}, connected by condition (a.y = b.y)",
    "Found sets {a,b} and {b}, connected by condition [semi] (a.x = b.x)",
    "Found sets {a,b} and {b}, connected by condition (a.y = b.y)",
]


def test_tables_that_share_an_alias_are_told_apart_by_their_places():
    planned = written(*SHARED)
    assert planned.tables == ["a", "b", "b#2"]
    assert planned.repeats_an_alias
    assert planned.graph()["edges"] == [{"left": [0], "right": [1]}, {"left": [0], "right": [2]}]
    assert planned.rows == {2: 7.0, 1: 1000.0, 0: 2.0}
    assert planned.filtered_rows[2] == 3.0
    ours = [tuple(event) for event in kernel.enumerate(graphs.from_json(planned.graph())).events.tolist()]
    assert planned.events_as_written(ours) == planned.events_as_written()
    exchanged = written(*SHARED[:-2], SHARED[-1], SHARED[-2])
    assert exchanged.events_as_written(ours) != exchanged.events_as_written()


def test_a_conflict_rule_among_tables_that_share_an_alias_is_refused():
    rule = [line.replace("(0.25)", "(0.25) [conflict rule: {a} -> {b}]") for line in SHARED]
    with pytest.raises(TraceError, match="conflict rule"):
        written(*rule)


def test_tables_that_share_an_alias_are_refused_by_the_reader():
    with pytest.raises(EngineRoomError, match="have the alias b"):
        build("SELECT 1 FROM a JOIN b ON a.x = b.x WHERE EXISTS (SELECT 1 FROM b WHERE b.y = a.y)")
