"""All queries against a running 9.7: our events are the optimizer trace's, one by one."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.query_graphs import explain as explaining
from engineroom.ask.query_graphs import graphs
from engineroom.ask.query_graphs.build import build
from engineroom.ask.query_graphs.cli import join_order
from engineroom.ask.query_graphs.compare import DATABASE, Compared, compare_all, load
from engineroom.ask.query_graphs.explain import explain, text
from engineroom.ask.query_graphs.page import page
from engineroom.ask.query_graphs.queries import queries
from engineroom.ask.query_graphs.trace import Planned, blocks, read_trace, trace_of, traced
from engineroom.ask.query_graphs.trees import joined_sets, leaves, tree_of
from engineroom.errors import EngineRoomError

MOST_PAIRS = 2000


@pytest.fixture(scope="module")
def server() -> Iterator[servers.Server]:
    if not servers.runnable("9.7"):
        pytest.skip("no MySQL 9.7 on this machine")
    with servers.start("9.7") as started:
        yield started


@pytest.fixture(scope="module")
def compared(server: servers.Server) -> list[Compared]:
    return list(compare_all(server, queries(), most_pairs=MOST_PAIRS))


@pytest.mark.live
@pytest.mark.slow
def test_the_events_of_every_query_are_those_of_the_trace_in_their_order(compared):
    assert [each.first_difference for each in compared if not each.enumeration_equal] == []
    assert len(compared) >= 200
    assert sum(each.tables >= 6 for each in compared) >= 100
    assert sum(each.is_special for each in compared) >= 40


@pytest.mark.live
@pytest.mark.slow
def test_the_nodes_of_every_query_are_its_tables_each_once(compared):
    joined = {query.name: query.tables for query in queries()}
    assert {each.query: len(set(each.nodes)) for each in compared} == joined
    assert all(each.tables == joined[each.query] for each in compared)


@pytest.mark.live
@pytest.mark.slow
def test_the_hypergraph_that_we_build_from_the_sql_is_the_servers(compared):
    assert [each.query for each in compared if not each.whole_equal] == []


@pytest.mark.live
def test_graph_and_events_of_straight_joins_are_the_servers(server):
    found = list(compare_all(server, queries("straight"), most_pairs=100_000))
    assert len(found) >= 60
    assert [(each.query, each.first_difference) for each in found if not each.enumeration_equal] == []
    assert [each.query for each in found if not each.whole_equal] == []


@pytest.mark.live
def test_equalities_that_outer_joins_share_make_the_servers_graph_and_events_or_are_refused(server):
    read, refused = [], []
    for query in queries("shared"):
        try:
            build(query.sql)
            read.append(query)
        except EngineRoomError as error:
            refused.append(error.problem)
    found = list(compare_all(server, read, most_pairs=100_000))
    assert len(found) >= 60
    assert [(each.query, each.first_difference) for each in found if not each.enumeration_equal] == []
    assert [each.query for each in found if not each.whole_equal] == []
    assert set(map(str, refused)) == {next(iter(refused))}
    assert "two columns of one table" in refused[0]


@pytest.mark.live
def test_events_under_hints_of_join_order_are_the_servers(server):
    load(server)
    chain = "COUNT(*) FROM t01 JOIN t02 ON t01.c0 = t02.c0 JOIN t03 ON t02.c1 = t03.c0 JOIN t04 ON t03.c1 = t04.c0"
    hints = ("JOIN_ORDER(t03, t01)", "JOIN_PREFIX(t02)", "JOIN_SUFFIX(t01)", "JOIN_FIXED_ORDER()")
    for before in ("STRAIGHT_JOIN", *(f"/*+ {hint} */" for hint in hints)):
        (block,) = explain(server, f"SELECT {before} {chain}", DATABASE)["blocks"]
        assert block["events_equal"], before
        assert block["graph_built_by_us_is_equal"] is None
        assert "order" in block["reader_refused"]


@pytest.mark.live
@pytest.mark.slow
def test_a_simplified_graph_has_as_many_pairs_for_us_as_for_the_server(compared):
    simplified = [each for each in compared if each.server_steps is not None]
    assert len(simplified) >= 20
    assert all(each.simplified_pairs_equal and each.simplified_events_equal for each in simplified)


@pytest.mark.live
def test_the_session_has_its_settings_back_after_a_trace(server):
    server.execute(f"CREATE DATABASE IF NOT EXISTS {DATABASE}_settings")
    connection = server.connect()
    names = "@@optimizer_switch, @@optimizer_trace, @@optimizer_trace_max_mem_size, @@optimizer_max_subgraph_pairs"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names}")
        before = cursor.fetchone()
    with traced(connection, most_pairs=7) as cursor:
        assert read_trace(cursor, "SELECT 1") == []
        cursor.execute(f"SELECT {names}")
        within = cursor.fetchone()
        assert all(value != old for value, old in zip(within, before, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names}")
        assert cursor.fetchone() == before
    connection.close()


@pytest.mark.live
def test_explain_shows_graph_pairs_and_both_plans(server):
    load(server)
    sql = "SELECT COUNT(*) FROM t00 JOIN t01 ON t00.c0 = t01.c0 LEFT JOIN t02 ON t01.c1 = t02.c0"
    found = explain(server, sql, DATABASE)
    (block,) = found["blocks"]
    assert [table["name"] for table in block["tables"]] == ["t00", "t01", "t02"]
    assert block["graph_built_by_us_is_equal"] is True
    assert block["events_equal"] is True
    assert block["counters"]["csg_cmp_pairs"] == len(block["pairs"]) == 4
    shown = text(found)
    assert "{t00} - {t01}" in shown
    assert "Left hash join" in found["hypergraph_plan"]
    assert found["usual_plan"] in shown
    assert explain(server, "SELECT 1", DATABASE)["blocks"] == []
    with pytest.raises(EngineRoomError, match=r"(?s)MySQL 9.7.*correct the statement"):
        explain(server, "SELECT * FROM nowhere", DATABASE)
    with pytest.raises(EngineRoomError, match=r"(?s)nowhere.*your tables' with --database; --dsn asks"):
        explain(server, "SELECT * FROM nowhere", DATABASE)
    with pytest.raises(EngineRoomError, match=r"(?s)Unknown database 'nosuch'.*leave --database out"):
        explain(server, sql, "nosuch")
    with pytest.raises(EngineRoomError, match="2 statements"):
        explain(server, f"{sql}; {sql}", DATABASE)


JOIN = "SELECT COUNT(*) FROM t00 JOIN t01 ON t00.c0 = t01.c0"
# Statements of several query blocks, and the SELECTs of them that join.
BLOCKS = {
    f"{JOIN} WHERE t00.c1 = (SELECT MAX(c1) FROM t02)": [1],
    f"SELECT t03.c0, (SELECT MAX(t02.c1) FROM t02 WHERE t02.c0 = t03.c0) FROM t03 JOIN ({JOIN.replace('COUNT(*)', 't00.c0 x')}"
    " GROUP BY 1) d ON d.x = t03.c0": [1, 3],
    f"{JOIN} UNION {JOIN}": [1, 2],
    "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r JOIN t01 ON t01.c0 = r.n WHERE n < 3) SELECT * FROM r": [
        3
    ],
    "SELECT * FROM t00, LATERAL (SELECT * FROM t01 WHERE t01.c0 = t00.c0 LIMIT 1) d": [1],
}


@pytest.mark.live
@pytest.mark.parametrize("sql", BLOCKS)
def test_explain_shows_every_block_that_joins(server, sql):
    load(server)
    found = explain(server, sql, DATABASE)
    assert sorted(block["select"] for block in found["blocks"]) == BLOCKS[sql]
    assert all(block["events_equal_but_for_sides"] for block in found["blocks"])
    assert all(f"SELECT #{select}" in text(found) for select in BLOCKS[sql])


@pytest.mark.live
def test_tables_of_two_blocks_that_share_an_alias_are_told_apart(server):
    load(server)
    found = explain(server, f"{JOIN} WHERE EXISTS (SELECT 1 FROM t01 WHERE t01.c2 = t00.c2)", DATABASE)
    (block,) = found["blocks"]
    assert [table["name"] for table in block["tables"]] == ["t00", "t01", "t01#2"]
    assert block["events_equal"]
    assert block["our_plan"]["hint"] is None
    assert found["hint_tried"] is None
    assert "same alias" in text(found)
    assert "have the alias t01" in block["reader_refused"]


@pytest.mark.live
def test_planning_is_timed_without_the_trace_and_with_each_optimizer(server, monkeypatch):
    load(server)
    switches = []

    def planning_ms(connection: Any, _sql: str) -> float:
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@optimizer_switch, @@optimizer_trace, @@optimizer_max_subgraph_pairs")
            switch, trace, pairs = cursor.fetchone()
        switches.append(("hypergraph_optimizer=on" in switch, "enabled=on" in trace, pairs))
        return 1.5 * len(switches)

    monkeypatch.setattr(explaining, "_planning_ms", planning_ms)
    found = explain(server, JOIN, DATABASE, most_pairs=77)
    assert switches == [(False, False, 100_000), (True, False, 77)]
    assert found["planning_ms"] == {"usual": 1.5, "hypergraph": 3.0}
    assert "EXPLAIN took 3 ms by the hypergraph optimizer and 1.5 ms without it" in text(found)
    monkeypatch.undo()
    assert min(explain(server, JOIN, DATABASE)["planning_ms"].values()) > 0


@pytest.mark.live
def test_our_plan_takes_the_rows_that_a_tables_own_conditions_leave(server):
    load(server)
    (block,) = explain(server, f"{JOIN} WHERE t00.c5 = 3", DATABASE)["blocks"]
    table = block["tables"][0]
    assert table["filtered_rows"] < table["rows"]
    (leaf,) = [each for each in block["our_plan"]["tree"]["inputs"] if each.get("table") == "t00"]
    assert leaf["rows"] == table["filtered_rows"]


@pytest.mark.live
def test_our_plans_under_forced_orders_are_the_cheapest_that_the_server_looks_at(server):
    load(server)
    forced = same = priced = 0
    with contextlib.closing(server.connect(DATABASE)) as connection, traced(connection) as cursor:
        for query in [*queries("straight"), *queries("hinted")]:
            trace = trace_of(cursor, query.sql)
            block = explaining.of_trace(trace)[0]
            planned = dict(blocks(trace))[block["select"]]
            assert isinstance(planned, Planned)
            assert block["events_equal"], query.sql
            ours = block["our_plan"]
            # The trace names first the side that probes, where sides are fixed.
            pairs = {(left, right): edge for left, right, edge in planned.named_events() if right}
            for node in inner_nodes(ours["tree"]):
                probed, hashed = (
                    sum(1 << planned.tables.index(name) for name in leaves(each)) for each in node["inputs"]
                )
                found = {(probed, hashed), *([(hashed, probed)] if node["kind"] == "inner" else [])}
                assert found & pairs.keys(), query.sql
            if {edge.kind for edge in planned.graphs[-1]} == {"inner"}:
                priced += 1
                assert ours["cost"] == pytest.approx(cheapest(planned, pairs)), query.sql
            forced += ours["forced_joins"] > 0
            same += joined_sets(tree_of(str(planned.join_order))) == joined_sets(ours["tree"])
    assert forced >= 140
    assert priced >= 100
    # The server's costs know more than ours; without indexes it nearly always makes our sets.
    assert same >= 0.9 * forced


def inner_nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every join of a plan."""
    if "inputs" in tree:
        yield tree
        for each in tree["inputs"]:
            yield from inner_nodes(each)


def cheapest(planned: Planned, pairs: dict[tuple[int, int], int]) -> float:
    """The least cost of hash joins over the pairs of a trace of inner joins, which come after those inside their sides."""

    def rows(tables: int) -> float:
        nodes = set(graphs.nodes_of(tables))
        inside = (edge.selectivity for edge in planned.graphs[-1] if {*edge.left, *edge.right} <= nodes)
        return math.prod(max(1.0, planned.filtered_rows[node]) for node in nodes) * math.prod(inside)

    cost = {1 << node: 0.0 for node in range(len(planned.tables))}
    for (left, right), edge in pairs.items():
        a, b = rows(left), rows(right)
        probed, hashed = (a, b) if edge in planned.forced_edges else (max(a, b), min(a, b))
        total = cost[left] + cost[right] + 0.338 * hashed + 0.134 * probed + 0.0237 * rows(left | right)
        cost[left | right] = min(total, cost.get(left | right, math.inf))
    return cost[max(cost)]


@pytest.mark.live
@pytest.mark.parametrize(
    ("sql", "n"),
    [
        (JOIN.replace("JOIN", "STRAIGHT_JOIN"), "1 join"),
        (
            f"{JOIN} JOIN t02 ON t01.c1 = t02.c0".replace("SELECT", "SELECT /*+ JOIN_FIXED_ORDER() */"),
            "2 joins",
        ),
    ],
)
def test_a_plan_under_a_forced_order_says_so_and_has_no_hint(server, sql, n):
    load(server)
    found = explain(server, sql, DATABASE)
    assert found["blocks"][0]["our_plan"]["hint"] is None
    assert found["hint_tried"] is None
    assert f"forces the sides of {n} " in text(found)
    assert f"forces the sides of {n} " in page(found)


@pytest.mark.live
def test_few_pairs_simplify_and_a_trace_that_is_too_long_is_refused(server, monkeypatch):
    load(server)
    star = "SELECT COUNT(*) FROM t00" + "".join(
        f" JOIN t{i:02} ON t{i:02}.c0 = t00.c{i}" for i in range(1, 7)
    )
    (block,) = explain(server, star, DATABASE)["blocks"]
    assert (block["simplification_steps"], block["counters"]["csg_cmp_pairs"]) == (0, 6 * 2**5)
    found = explain(server, star, DATABASE, most_pairs=30)
    assert found["pair_limit"] == 30
    assert found["blocks"][0]["simplification_steps"] > 0
    assert found["blocks"][0]["events_equal"]
    assert "steps of simplification" in text(found)
    monkeypatch.setattr(explaining, "MOST_TRACE_BYTES", 10_000)
    found = explain(server, star, DATABASE)
    (block,) = found["blocks"]
    assert "more than the 0 MB that it may have" in block["refused"]
    assert "--pairs" in block["remedy"]
    assert "t06" in found["hypergraph_plan"]
    assert "t06" in found["usual_plan"]
    assert found["hint_tried"] is None
    assert text(found).splitlines()[2:4] == ["The statement", f"  not shown: {block['refused']}"]
    assert f"What to do: {block['remedy']}" in text(found)
    assert "<h2>The statement</h2>" in page(found)


@pytest.mark.live
def test_a_statements_own_limit_is_told_and_an_equality_of_three_tables_warns_of_our_rows(server):
    load(server)
    equal = "COUNT(*) FROM t01 JOIN t02 ON t01.c0 = t02.c0 JOIN t03 ON t02.c0 = t03.c0"
    found = explain(server, f"SELECT /*+ SET_VAR(optimizer_max_subgraph_pairs = 2) */ {equal}", DATABASE)
    assert found["pair_limit"] == 2
    assert found["blocks"][0]["our_plan"]["shared_equalities"] == ["t01.c0 = t02.c0 = t03.c0"]
    assert "Where t01.c0 = t02.c0 = t03.c0, our rows count each edge" in text(found)
    assert "our rows count each edge" in page(found)
    assert explain(server, JOIN, DATABASE)["blocks"][0]["our_plan"]["shared_equalities"] == []


@pytest.mark.live
def test_a_run_that_was_stopped_says_so_and_one_that_changes_rows_is_refused(server):
    load(server)
    slow = f"{JOIN} WHERE SLEEP(1) = 0"
    found = explain(server, slow, DATABASE, run_s=1)
    assert found["usual_plan"].startswith("stopped after 1 s; the actual rows are those until then:\n-> ")
    assert found["hypergraph_plan"].startswith("stopped after 1 s")
    assert "actual time" in found["usual_plan"]
    assert "stopped" not in explain(server, JOIN, DATABASE, run_s=20)["usual_plan"]
    with pytest.raises(EngineRoomError, match=r"(?s)begins with DELETE is not run.*leave --run out"):
        explain(server, "DELETE FROM t00", DATABASE, run_s=1)


@pytest.mark.live
def test_a_trace_from_elsewhere_is_explained_without_a_server(server, tmp_path):
    load(server)
    with contextlib.closing(server.connect(DATABASE)) as connection, traced(connection) as cursor:
        trace = trace_of(cursor, JOIN)
    (tmp_path / "trace.json").write_text(trace)
    command = ["explain", "--trace", str(tmp_path / "trace.json")]
    shown = CliRunner().invoke(join_order, [*command, "--format", "json"], catch_exceptions=False)
    of_server = explain(server, JOIN, DATABASE)["blocks"]
    assert json.loads(shown.output)["blocks"] == [{**of_server[0], "graph_built_by_us_is_equal": None}]
    assert "SELECT #1" in CliRunner().invoke(join_order, command, catch_exceptions=False).output


@pytest.mark.parametrize(
    ("trace", "complaint"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("{}", "joins nothing"),
        ('{"join_optimizer": ["Enumerating subplans:", 7]}', r"join_optimizer: \[1\] is 7, not a text"),
        ('{"select#": [], "join_optimizer": []}', "select#: it is a list"),
        (
            '{"select#": 7, "join_optimizer": ["Enumerating subplans:", "Found sets {a} and {b}, connected by condition x"]}',
            None,
        ),
    ],
)
def test_a_trace_that_is_none_is_refused(trace, complaint):
    if complaint is None:
        (block,) = explaining.of_trace(trace)
        assert block["select"] == 7
        assert "not listed" in block["refused"]
    else:
        with pytest.raises(EngineRoomError, match=complaint):
            explaining.of_trace(trace)


def test_a_statement_or_a_trace_is_asked_for():
    assert "--trace" in CliRunner().invoke(join_order, ["explain"]).output


@pytest.mark.live
def test_the_command_says_that_an_old_server_has_no_hypergraph_optimizer():
    if not servers.runnable("5.7"):
        pytest.skip("no MySQL 5.7 on this machine")
    with pytest.raises(EngineRoomError, match=r"(?s)5\.7.* has no hypergraph optimizer.*--version 9\.7"):
        CliRunner().invoke(join_order, ["explain", "--version", "5.7", "SELECT 1"], catch_exceptions=False)
