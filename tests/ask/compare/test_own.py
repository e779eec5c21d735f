"""`compare --dsn` on servers of somebody else's, what was saved of one, and two sides of one version."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from engineroom import servers
from engineroom.ask.compare import cli, instructions, report
from engineroom.ask.compare.loading import Session
from engineroom.ask.compare.sides import Comparison, Side, Variant, compare_many, compare_own
from engineroom.errors import EngineRoomError

needs = {
    version: pytest.mark.skipif(
        not servers.runnable(version), reason=f"{version} does not run here: engineroom doctor"
    )
    for version in ("5.7", "9.7")
}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE t SET n = 1", "UPDATE"),
        ("SELECT n FROM t FOR UPDATE", "FOR UPDATE"),
        ("CALL p()", "CALL"),
    ],
)
def test_a_statement_that_writes_is_refused_before_a_server_is_asked(statement, said):
    with pytest.raises(EngineRoomError) as refused:
        compare_own(["SELECT 1", statement], servers=[])
    assert refused.value.problem == f"a server of your own is only read, and this is {said}: {statement}"
    assert ("--allow-writes" in refused.value.remedy) == (said != "CALL")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--dsn", "mysql://h", "--rows", "3", "--b-option", "x=1"], "--rows and --b-option cannot be given"),
        (["--dsn", "mysql://h", "--versions", "9.7"], "--versions cannot be given"),
        (["--dsn", "mysql://h", "--instructions"], "--dsn cannot be given"),
        (["--instructions", "--versions", "9.7", "--save", "x.json"], "--save cannot be given"),
        (["--instructions", "--against", "query.sql", "--b-option", "x=1"], "--against cannot be given"),
        (
            ["--instructions", "--versions", "5.7,9.7", "--b-query", "query.sql", "--schema", "query.sql"],
            "A and B are of one version",
        ),
        (["--dsn", "mysql://h", "--statistics", "query.sql"], "--statistics cannot be given"),
        (["--dsn", "h"], "--dsn is not a server's address"),
        (["--dsn", "mysql://me:secret@127.0.0.1:1", "--dsn", "h"], "the server of --dsn number 1 does not"),
        (["--allow-writes"], "--allow-writes cannot be given"),
        (["--save", "x.json"], "--save keeps one side, and there are 2"),
        (["--versions", "9.7", "--b-query", "query.sql", "--save", "x.json"], "there are 2"),
        (["--versions", "5.7,9.7", "--b-option", "x=1"], "A and B are of one version"),
        (["--versions", "9.7", "--save", "nowhere/x.json"], "nowhere/x.json cannot be written"),
        (["--against", "query.sql"], "the saved comparison query.sql is not JSON"),
        (["--b-sql", "nowhere.sql"], "the SQL of B nowhere.sql cannot be read"),
        (["--b-query", "two.sql"], "two.sql holds 2 statements, not one"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_remedy(tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(instructions.instructions, "why_not", lambda: None)
    (tmp_path / "query.sql").write_text("SELECT 1")
    (tmp_path / "two.sql").write_text("SELECT 1; SELECT 2")
    done = CliRunner().invoke(cli.compare, ["query.sql", *arguments])
    assert isinstance(done.exception, EngineRoomError)
    assert problem in done.exception.problem
    assert done.exception.remedy
    assert "secret" not in str(done.exception)


def test_b_has_one_statement():
    with pytest.raises(EngineRoomError, match="B has one statement, and A has 2"):
        compare_many(["SELECT 1", "SELECT 2"], versions=["9.7"], b=Variant(statement="SELECT 3"))


def test_where_no_cpu_time_can_be_read_elapsed_times_are_compared():
    one, two = (
        Side(version="9.7.4", note="", label=label, wall_s=s, wall_repeats_s=(s, 2 * s), digest="x")
        for label, s in (("A", 0.01), ("B", 0.03))
    )
    found = Comparison(
        statement="SELECT 1", sides=(one, two), equal_settings={}, repeats=2, made_rows=None, provenance={},
        control_wall_s=0.011, is_own=True,
    )  # fmt: skip
    lines = [" ".join(line.split()) for line in report.text(found).splitlines()]
    at = lines.index("elapsed, median 10.00 ms 30.00 ms")
    assert lines[at - 2 : at] == ["9.7.4 A 9.7.4 B", "server CPU, median of 2 cannot be read cannot be read"]
    assert lines[at + 1 : at + 4] == [
        "times the first 1.00 3.00",
        "least to most 1.00 to 2.00 3.00 to 6.00",
        "the first once more 1.10",
    ]


TABLES = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
    "CREATE TABLE shop.m (n INT) ENGINE=MyISAM",
    "CREATE TABLE shop.watched (n INT)",
    "CREATE TRIGGER shop.tr AFTER INSERT ON shop.watched FOR EACH ROW INSERT INTO shop.m VALUES (NEW.n)",
    "CREATE FUNCTION shop.f() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO shop.t (n) VALUES (9); RETURN 1; END",
    "INSERT INTO shop.t (n) VALUES (1), (2), (3)",
    "CREATE USER tester IDENTIFIED BY 'secret'",
    "GRANT ALL ON shop.* TO tester",
)


@pytest.fixture(scope="module")
def both() -> Iterator[list[servers.Server]]:
    if not all(servers.runnable(version) for version in ("5.7", "9.7")):
        pytest.skip("5.7 and 9.7 do not both run here: engineroom doctor")
    with servers.start("5.7") as old, servers.start("9.7") as new:
        for server in (old, new):
            server.execute(*TABLES)
        yield [old, new]


def run(tmp_path, query: str, *on: servers.Server | str, account: str = "tester:secret") -> Result:
    (tmp_path / "query.sql").write_text(query)
    arguments = [str(tmp_path / "query.sql"), "--repeats", "2"]
    for each in on:
        address = "" if isinstance(each, str) else f"mysql://{account}@{each.host}:{each.port}/shop"
        arguments += [each] if isinstance(each, str) else ["--dsn", address]
    return CliRunner().invoke(cli.compare, arguments)


def state(server: servers.Server) -> list[tuple[object, ...]]:
    counts = [f"(SELECT COUNT(*) FROM {name})" for name in ("shop.t", "shop.m", "shop.watched", "mysql.user")]
    return server.query("SHOW DATABASES") + server.query(f"SELECT {', '.join(counts)}")


@pytest.mark.live
def test_own_servers_are_only_read_and_compared_as_versions_are(both, tmp_path):
    before = list(map(state, both))
    shown = run(tmp_path, "SELECT n FROM t ORDER BY n", *both, "--format", "json").output
    found = json.loads(shown)
    assert found["results"] == "agree"
    assert [side["version"][:3] for side in found["sides"]] == ["5.7", "9.7"]
    assert [side["first_rows"] for side in found["sides"]] == [[["1"], ["2"], ["3"]]] * 2
    assert all(side["wall_s"] > 0 for side in found["sides"])
    assert "secret" not in shown
    writes = run(tmp_path, "SELECT f()", *both)
    assert writes.exit_code == 1
    assert "READ ONLY transaction" in writes.output
    assert "What to do: on a test server give --allow-writes" in writes.output
    several = run(tmp_path, "SELECT COUNT(*) FROM t; DELETE FROM t; CALL p()", *both)
    assert "#1  select count(*) from t" in several.output
    assert "  DELETE is not run without --allow-writes: delete from t" in several.output
    assert "  CALL is not run on a server of your own: call p" in several.output
    assert list(map(state, both)) == before


@pytest.mark.live
def test_the_cpu_time_of_a_server_on_this_computer_is_read(both, tmp_path):
    account = f"{both[1].user}:{both[1].password}"
    found = json.loads(
        run(tmp_path, "SELECT SUM(n) FROM t", both[1], "--format", "json", account=account).output
    )
    if both[1].pid is None:
        pytest.skip("the server runs in a container")
    assert found["sides"][0]["server_cpu_s"] > 0
    assert found["remarks"] == []


@pytest.mark.live
def test_writes_that_are_allowed_are_rolled_back_and_others_are_not_run(both, tmp_path):
    before = list(map(state, both))
    deletes = run(tmp_path, "DELETE FROM t WHERE n < 3", *both, "--allow-writes", "--format", "json")
    assert [side["affected_rows"] for side in json.loads(deletes.output)["sides"]] == [2, 2]
    for statement, why in (
        ("DELETE FROM m", "MyISAM, the engine of m, rolls nothing back"),
        ("INSERT INTO watched VALUES (1)", "MyISAM, the engine of m, rolls nothing back"),
        ("TRUNCATE t", "TRUNCATE is not rolled back"),
        ("SET GLOBAL read_only = 1", "SET is not rolled back"),
        ("SELECT 1 INTO OUTFILE 'x'", "INTO OUTFILE is not rolled back"),
        ("UPDATE mysql.user SET host = 'x'", "UPDATE of the server's own tables is not rolled back"),
    ):
        done = run(tmp_path, statement, *both, "--allow-writes")
        assert f"it is not run on a server of your own: {why}" in done.output
        assert "What to do: compare it on servers that are started for it" in done.output
        assert done.exit_code == 1
    assert list(map(state, both)) == before


@pytest.mark.live
def test_what_a_rollback_left_is_seen_after_one_run_and_not_run_again(both, tmp_path, monkeypatch):
    known = Session._known
    monkeypatch.setattr(Session, "_known", lambda self: known(self)._replace(lasting={}))
    both[1].execute("INSERT INTO shop.m VALUES (1), (2)")
    done = run(tmp_path, "DELETE FROM m LIMIT 1", both[1], "--allow-writes")
    assert "it is not run again on a server of your own: ROLLBACK did not bring back" in done.output
    assert both[1].query("SELECT COUNT(*) FROM shop.m") == [(1,)]
    both[1].execute("DELETE FROM shop.m")


@pytest.mark.live
def test_a_missing_database_is_told(both, tmp_path):
    done = run(tmp_path, "SELECT 1", "--dsn", f"mysql://tester:secret@{both[1].host}:{both[1].port}/nowhere")
    assert isinstance(done.exception, EngineRoomError)
    assert "behind the last slash of --dsn" in done.exception.remedy


@pytest.mark.live
def test_a_server_is_compared_with_what_was_saved_of_another_time(both, tmp_path):
    file = str(tmp_path / "before.json")
    run(tmp_path, "SELECT n FROM t; SELECT COUNT(*) FROM m", both[0], "--save", file)
    assert "secret" not in (tmp_path / "before.json").read_text()
    one = json.loads(run(tmp_path, "SELECT n FROM t", both[1], "--against", file, "--format", "json").output)
    assert one["results"] == "agree"
    assert [side.get("label") for side in one["sides"]] == ["saved", None]
    some = run(
        tmp_path, "SELECT n FROM t; SELECT COUNT(*) FROM m; SELECT MAX(n) FROM t", both[1], "--against", file
    )
    assert "Results of 2 statements: 1 agree, 1 agree over no rows." in some.output
    assert "  --against has no result of it: select max(n) from t" in some.output
    other = run(tmp_path, "SELECT n + 0 FROM t", both[1], "--against", file)
    assert "has no result of this statement" in str(other.exception)


@pytest.mark.live
def test_two_texts_are_compared_on_one_server(both, tmp_path):
    (tmp_path / "b.sql").write_text("SELECT n FROM t IGNORE INDEX (PRIMARY) WHERE id = 2")
    shown = run(
        tmp_path, "SELECT n FROM t WHERE id = 2", both[1], "--b-query", str(tmp_path / "b.sql")
    ).output
    assert "IGNORE INDEX" in shown
    assert "Results: agree" in shown
    assert "Plan of 9.7.4 A:" in shown
    assert "Table scan" in shown.partition("Plan of 9.7.4 B:")[2]


@pytest.mark.live
@needs["9.7"]
def test_side_b_has_an_option_and_an_index_of_its_own(tmp_path):
    (tmp_path / "s.sql").write_text("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    (tmp_path / "b.sql").write_text("CREATE INDEX i ON t (n)")
    arguments = ["--schema", str(tmp_path / "s.sql"), "--rows", "200", "--b-sql", str(tmp_path / "b.sql")]
    arguments += ["--b-option", "sort_buffer_size=65536", "--format", "json"]
    found = json.loads(run(tmp_path, "SELECT COUNT(*) FROM t WHERE n = 7", *arguments).output)
    assert found["results"] == "agree"
    a, b = found["sides"]
    assert (a["label"], b["label"]) == ("A", "B")
    assert "using i" in b["plan"] and "using i" not in a["plan"]  # noqa: PT018
    assert found["settings_that_differ"] == {"sort_buffer_size": {"9.7.4 A": "262144", "9.7.4 B": "65536"}}
    (tmp_path / "b.sql").write_text("CREATE INDEX i ON t (nothing)")
    refused = json.loads(run(tmp_path, "SELECT 1", *arguments).output)["sides"]
    assert refused[0]["refused"] is None
    assert "b.sql, line 1" in refused[1]["refused"]
