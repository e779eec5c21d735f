"""All queries against a running 9.7: our events are the optimizer trace's, one by one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.query_graphs.cli import join_order
from engineroom.query_graphs.compare import DATABASE, Compared, compare_all, load
from engineroom.query_graphs.explain import explain, text
from engineroom.query_graphs.queries import queries
from engineroom.query_graphs.trace import read_trace, traced

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
    assert [table["name"] for table in found["tables"]] == ["t00", "t01", "t02"]
    assert found["graph_built_by_us_is_equal"] is True
    assert found["events_equal"] is True
    assert found["counters"]["csg_cmp_pairs"] == len(found["pairs"]) == 4
    shown = text(found)
    assert "{t00} - {t01}" in shown
    assert "Left hash join" in shown
    with pytest.raises(EngineRoomError, match="joins nothing"):
        explain(server, "SELECT 1", DATABASE)
    with pytest.raises(EngineRoomError, match=r"(?s)MySQL 9.7.*correct the statement"):
        explain(server, "SELECT * FROM nowhere", DATABASE)
    with pytest.raises(EngineRoomError, match=r"(?s)Unknown database 'nosuch'.*leave --database out"):
        explain(server, sql, "nosuch")


@pytest.mark.live
def test_the_command_says_that_an_old_server_has_no_hypergraph_optimizer():
    if not servers.runnable("5.7"):
        pytest.skip("no MySQL 5.7 on this machine")
    with pytest.raises(EngineRoomError, match=r"(?s)5\.7.* has no hypergraph optimizer.*--version 9\.7"):
        CliRunner().invoke(join_order, ["explain", "--version", "5.7", "SELECT 1"], catch_exceptions=False)
