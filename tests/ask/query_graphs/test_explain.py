"""`explain --dsn` on a server of somebody else's: it reads, makes nothing there, and refuses what writes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from engineroom import servers
from engineroom.ask.query_graphs.cli import join_order
from engineroom.ask.query_graphs.explain import asked, refuse_unless_it_only_reads
from engineroom.errors import EngineRoomError
from engineroom.servers.providers import dsn

JOIN = "SELECT COUNT(*) FROM a JOIN b ON a.x = b.x JOIN c ON b.y = c.y WHERE a.z = 'update into'"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "(SELECT 1)",
        "TABLE t",
        "WITH w AS (SELECT 1) SELECT * FROM w",
        "SELECT REPLACE(a, 'x', 'y'), 'FOR UPDATE', `into` FROM t -- INTO OUTFILE",
    ],
)
def test_what_reads_is_let_through(sql):
    refuse_unless_it_only_reads(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE t SET a = 1", "UPDATE"),
        ("INSERT INTO t VALUES (1)", "INSERT"),
        ("DROP TABLE t", "DROP"),
        ("CALL p()", "CALL"),
        ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN"),
        ("/*! DELETE */ FROM t", "FROM"),
        ("WITH w AS (SELECT 1) DELETE FROM t WHERE a IN (SELECT * FROM w)", "DELETE"),
        ("SELECT * FROM t INTO OUTFILE '/tmp/x'", "INTO OUTFILE"),
        ("SELECT a INTO @x FROM t", "INTO @"),
        ("SELECT * FROM t FOR  UPDATE", "FOR UPDATE"),
        ("SELECT * FROM t LOCK IN SHARE MODE", "LOCK IN"),
        ("SELECT @a := 1", ":="),
        ("SELECT 1; DROP TABLE t", "2 statements"),
        ("", "no statement"),
    ],
)
def test_what_writes_locks_or_sets_is_refused(sql, said):
    with pytest.raises(EngineRoomError, match=said):
        refuse_unless_it_only_reads(sql)


@pytest.mark.parametrize(
    "pasted",
    [
        "EXPLAIN SELECT 1",
        "explain format = json SELECT 1;",
        "EXPLAIN ANALYZE SELECT 1\\G",
        "desc SELECT 1 ;\\g",
        "-- slow\nEXPLAIN /* why */ EXTENDED SELECT 1\n\\G\n",
        "EXPLAIN FORMAT=TREE SELECT 1;",
        "SELECT 1\\G;",
        "mysql> EXPLAIN SELECT\n    ->  1;",
        "MySQL [shop]> SELECT 1\\G",
    ],
)
def test_a_pasted_statement_is_taken_without_what_is_around_it(pasted):
    assert " ".join(asked(pasted).split()) == "SELECT 1"


@pytest.mark.parametrize(
    "whole", ["EXPLAIN t", "DESC t", "SELECT '\\G'", "SELECT '?', `:a` FROM t", "SELECT a % s, @b FROM t"]
)
def test_what_only_looks_alike_stays(whole):
    assert asked(whole) == whole


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT * FROM t WHERE id = ?", "? (1"),
        ("SELECT * FROM t WHERE id IN (?, ?) AND b > :since", "?, :since (3"),
        ("SELECT * FROM t WHERE id = %s AND b = %(name)s", "%s, %(name)s (2"),
        ("SELECT * FROM t WHERE id = $1 LIMIT $2", "$1, $2 (2"),
        ("SELECT * FROM t WHERE id IN (...)", "(...) (1"),
        ("SELECT * FROM t WHERE a LIKE %s AND b BETWEEN %s AND %s LIMIT %s", "%s (4"),
        (
            "SELECT * FROM t WHERE a = #{a,jdbcType=INTEGER} AND b = ${b.c} AND d > '{{ ds }}' AND e = {{ e }}",
            "#{a,jdbcType=INTEGER}, ${b.c}, {{ e }} (3",
        ),
    ],
)
def test_placeholders_are_named(sql, named):
    with pytest.raises(EngineRoomError, match="placeholders") as caught:
        asked(sql)
    assert named in caught.value.problem


def test_what_only_looks_like_a_placeholder_stays():
    for sql in ("SELECT '#{a}', '{{ b }}' FROM t", "SELECT a % s, {d '2024-01-01'} FROM t WHERE a$1 = 5"):
        assert asked(sql) == sql


def test_the_database_stands_behind_the_last_slash():
    assert dsn.database("mysql://u:p@h:3306/my%20shop") == "my shop"
    assert dsn.database("mysql://u:p@/shop?socket=/run/x.sock") == "shop"
    assert dsn.database("mysql://u:p@h") is None


@pytest.fixture(scope="module")
def server() -> Iterator[servers.Server]:
    if not servers.runnable("9.7"):
        pytest.skip("no MySQL 9.7 on this machine")
    with servers.start("9.7") as started:
        started.execute(
            "CREATE DATABASE shop",
            *(f"CREATE TABLE shop.{name} (x INT, y INT, z VARCHAR(20))" for name in "abc"),
            *(f"INSERT INTO shop.{name} VALUES (1, 1, 'a'), (2, 2, 'b')" for name in "abc"),
            "CREATE FUNCTION shop.writes() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO shop.a VALUES (9, 9, 'c'); "
            "RETURN 1; END",
            "CREATE SQL SECURITY INVOKER VIEW shop.pair AS SELECT a.x, b.y FROM shop.a JOIN shop.b USING (y)",
            "CREATE SQL SECURITY INVOKER VIEW shop.V AS SELECT * FROM shop.c AS v",
            "CREATE VIEW shop.hidden AS SELECT a.x FROM shop.a JOIN shop.b USING (y)",
            "CREATE USER reader IDENTIFIED BY 'secret'",
            "GRANT SELECT, EXECUTE, SHOW VIEW ON shop.* TO reader",
        )
        yield started


def explained(server: servers.Server, *arguments: str, database: str = "/shop") -> Result:
    address = f"mysql://reader:secret@{server.host}:{server.port}{database}"
    return CliRunner().invoke(join_order, ["explain", "--dsn", address, *arguments])


@pytest.mark.live
def test_a_reader_without_other_rights_gets_graph_and_plans_and_the_server_stays_as_it_was(server):
    before = server.query("SHOW DATABASES"), server.query("SELECT COUNT(*) FROM shop.a")
    found = json.loads(explained(server, JOIN, "--format", "json").stdout)
    (block,) = found["blocks"]
    assert [table["name"] for table in block["tables"]] == ["a", "b", "c"]
    assert block["events_equal"] is True
    assert found["is_run"] is False
    assert "hash join" in found["hypergraph_plan"]
    page = explained(server, JOIN, "--format", "html").stdout
    assert page.startswith("<!doctype html>")
    assert "secret" not in page
    assert "SELECT #1" in explained(server, JOIN).stdout
    assert (server.query("SHOW DATABASES"), server.query("SELECT COUNT(*) FROM shop.a")) == before


@pytest.mark.live
def test_a_function_that_writes_is_not_run_while_the_server_plans(server):
    sql = JOIN.replace("'update into'", "writes()")
    explained(server, sql)
    assert server.query("SELECT COUNT(*) FROM shop.a WHERE x = 9") == [(0,)]


@pytest.mark.live
@pytest.mark.parametrize(
    ("arguments", "database", "said"),
    [
        (["DELETE FROM a"], "/shop", "this is DELETE"),
        (["SELECT * FROM a JOIN nosuch USING (x)"], "/shop", "nosuch"),
        ([JOIN], "/mysql", "denied"),
        ([JOIN], "", "No database selected"),
        (["SELECT * FROM a WHERE x = ?"], "/shop", "placeholders"),
    ],
)
def test_what_cannot_be_explained_is_said(server, arguments, database, said):
    done = explained(server, *arguments, database=database)
    assert isinstance(done.exception, EngineRoomError)
    assert said in done.exception.problem
    assert done.exception.remedy


@pytest.mark.live
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM a ORDER BY x LIMIT 3",
        "EXPLAIN SELECT COUNT(*) FROM a WHERE x = 1\\G",
        "SELECT 1",
        "SELECT x FROM a UNION ALL SELECT y FROM b",
        "SELECT * FROM a WHERE x = (SELECT MAX(x) FROM b)",
    ],
)
def test_a_statement_that_joins_nothing_gets_its_plans(server, sql):
    for form, said in (
        ("text", "joins nothing"),
        ("html", "joins nothing"),
        ("dot", "graph query {"),
        ("json", "usual_plan"),
    ):
        done = explained(server, sql, "--format", form)
        assert done.exit_code == 0, done.exception
        assert said in done.stdout


@pytest.mark.live
@pytest.mark.parametrize(
    ("sql", "view"),
    [
        ("SELECT * FROM pair JOIN c ON pair.x = c.x", "pair"),
        ("SELECT * FROM pair AS a JOIN c ON a.x = c.x", "pair"),
        ("SELECT * FROM V JOIN a ON V.x = a.x JOIN b ON b.y = V.y", None),
        ("SELECT * FROM pair p JOIN pair q ON p.x = q.x", "pair"),
        ("SELECT * FROM a JOIN c ON a.x = c.x JOIN pair ON pair.x = c.x", "pair"),
    ],
)
def test_a_view_is_told_and_never_a_graph_that_is_not_equal(server, sql, view):
    shown = explained(server, sql).stdout
    assert "NOT equal" not in shown
    assert view is None or f"not built: a view ({view})" in shown


@pytest.mark.live
def test_a_view_whose_trace_the_server_hides_gets_its_plans(server):
    shown = explained(server, "SELECT * FROM hidden h JOIN c ON h.x = c.x").stdout
    assert "not shown: the server shows this account no trace" in shown
    assert "The server's plan without it:" in shown


@pytest.mark.live
@pytest.mark.parametrize(
    "names",
    [
        ("a,b", "{c}", "x -> y"),
        ("a", "b,c", "d"),
        ("e1", "e2", "o [1]"),
        ("(p", "q)", "r, s"),
        ("1", "*", "="),
    ],
)
def test_an_alias_of_any_signs_has_its_graph(server, names):
    one, two, three = (f"`{name}`" for name in names)
    sql = f"SELECT 1 FROM a AS {one} JOIN b AS {two} ON {one}.x = {two}.x LEFT JOIN c AS {three} ON {two}.y = {three}.y"
    (block,) = json.loads(explained(server, sql, "--format", "json").stdout)["blocks"]
    assert {table["name"] for table in block["tables"]} == set(names)
    assert block["events_equal"] is True
    assert explained(server, sql).exit_code == 0


@pytest.mark.live
def test_a_run_is_refused(server):
    done = explained(server, JOIN, "--run", "3")
    assert "never run" in done.output
    assert done.exit_code == 2


@pytest.mark.live
def test_an_old_server_is_told_what_to_do():
    if not servers.runnable("5.7"):
        pytest.skip("no MySQL 5.7 on this machine")
    with servers.start("5.7") as old:
        done = CliRunner().invoke(
            join_order, ["explain", "--dsn", f"mysql://{old.user}:{old.password}@{old.host}:{old.port}", JOIN]
        )
    assert isinstance(done.exception, EngineRoomError)
    assert "no hypergraph optimizer" in done.exception.problem
    assert "statistics to a 9.7" in done.exception.remedy
