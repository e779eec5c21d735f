"""`explain --dsn` on a server of somebody else's: it reads, makes nothing there, and refuses what writes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from engineroom import servers
from engineroom.ask.query_graphs.cli import join_order
from engineroom.ask.query_graphs.explain import refuse_unless_it_only_reads
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
            "CREATE USER reader IDENTIFIED BY 'secret'",
            "GRANT SELECT, EXECUTE ON shop.* TO reader",
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
        (["SELECT 1"], "/shop", "joins nothing"),
    ],
)
def test_what_cannot_be_explained_is_said(server, arguments, database, said):
    done = explained(server, *arguments, database=database)
    assert isinstance(done.exception, EngineRoomError)
    assert said in done.exception.problem
    assert done.exception.remedy


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
