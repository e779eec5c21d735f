"""`engineroom compare` on real servers, and its refusals."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask import compare as package
from engineroom.ask.compare import cli, report, sides
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.cli import main
from engineroom.errors import EngineRoomError

needs_servers = pytest.mark.skipif(
    not all(servers.runnable(version) for version in ("5.7", "9.7")),
    reason="5.7 and 9.7 do not both run here: engineroom doctor",
)

SCHEMA = """
CREATE TABLE customer (
  id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60) NOT NULL UNIQUE, kind ENUM('a', 'b', 'c'), born DATE,
  balance DECIMAL(10, 2) NOT NULL, doubled DECIMAL(12, 2) AS (balance * 2)
) CHARSET=latin1;
CREATE TABLE orders (
  id BIGINT PRIMARY KEY, customer_id INT NOT NULL, placed DATETIME, amount SMALLINT UNSIGNED NOT NULL, note TEXT,
  CONSTRAINT buyer FOREIGN KEY (customer_id) REFERENCES customer (id)
);
"""


@pytest.fixture
def files(tmp_path):
    def write(query: str, **others: str) -> list[str]:
        (tmp_path / "query.sql").write_text(query)
        arguments = [str(tmp_path / "query.sql")]
        for name, text in others.items():
            (tmp_path / f"{name}.sql").write_text(text)
            arguments += [f"--{name}", str(tmp_path / f"{name}.sql")]
        return arguments

    return write


def run(arguments: list[str]) -> str:
    done = CliRunner().invoke(cli.compare, arguments, catch_exceptions=False, standalone_mode=False)
    return done.output


@pytest.mark.live
@needs_servers
def test_a_join_over_made_rows_shows_cost_counters_plans_and_settings_of_both(files) -> None:
    query = "SELECT kind, COUNT(*), SUM(amount) FROM customer JOIN orders ON customer.id = customer_id GROUP BY kind ORDER BY kind;"
    found = json.loads(
        run([*files(query, schema=SCHEMA), "--rows", "400", "--repeats", "2", "--format", "json"])
    )
    assert found["results"] == "agree"
    old, new = found["sides"]
    assert (old["version"][:3], new["version"][:3]) == ("5.7", "9.7")
    for side in (old, new):
        assert side["refused"] is None
        assert side["rows"] == 4  # three kinds and NULL
        assert sum(int(row[1]) for row in side["first_rows"]) == 400
        assert min(side["cpu_repeats_s"]) <= side["server_cpu_s"] <= max(side["cpu_repeats_s"])
        assert len(side["cpu_repeats_s"]) == 2
        # every order finds its customer: a row read for each of both
        assert side["counters"]["Innodb_rows_read"] in range(795, 806)
    assert found["control_cpu_s"] > 0
    assert found["rows_that_differ"] == {}
    assert "customer" in old["plan"]
    assert "Nested loop" in new["plan"]
    assert found["equal_settings"]["innodb_adaptive_hash_index"] == "OFF"
    differing = found["settings_that_differ"]
    assert not set(differing) & {
        "innodb_adaptive_hash_index",
        "character_set_server",
        "log_bin",
        "innodb_flush_method",
    }
    assert "optimizer_switch.hash_join" in differing
    assert "datadir" not in json.dumps(found)


@pytest.mark.live
@needs_servers
def test_each_side_has_the_counters_of_its_own_server(files) -> None:
    """Until 5.7 a GROUP BY sorted its groups, asked or not."""
    arguments = files("SELECT kind, COUNT(*) FROM customer GROUP BY kind", schema=SCHEMA)
    found = json.loads(run([*arguments, "--rows", "40", "--repeats", "1", "--format", "json"]))
    old, new = (side["counters"] for side in found["sides"])
    assert old["Sort_rows"] == found["sides"][0]["rows"]
    assert "Sort_rows" not in new
    assert old["Handler_read_rnd_next"] > 0 < new["Handler_read_rnd_next"]


@pytest.mark.live
@needs_servers
def test_what_one_version_refuses_is_shown_with_its_own_error(files) -> None:
    arguments = files("WITH one AS (SELECT 1 AS n) SELECT n FROM one")
    shown = run([*arguments, "--repeats", "1"])
    assert "MySQL 5.7" in shown
    assert "refuses the statement: 1064" in shown
    assert "refused" in shown.splitlines()[3]
    found = json.loads(run([*arguments, "--repeats", "1", "--format", "json"]))
    assert found["sides"][0]["refused"].startswith("1064")
    assert found["sides"][1]["first_rows"] == [["1"]]
    assert found["results"] == "nothing to compare"


@pytest.mark.live
@needs_servers
def test_a_statement_that_no_version_runs_is_told_what_to_do_and_shown_no_settings(files) -> None:
    done = CliRunner().invoke(cli.compare, files("SELECT * FROM orders"))
    assert done.exit_code == 1
    assert "MySQL 9.7.4 refuses the statement: 1146" in done.output
    assert "What to do: give the tables with --schema" in done.output
    assert "Settings" not in done.output


@pytest.mark.live
@needs_servers
@pytest.mark.parametrize("limit", [[], ["--limit", "9"]])
@pytest.mark.parametrize("statement", ["shutdown", "kill connection_id()"])
def test_what_would_end_its_session_or_the_server_ends_in_a_message(files, statement, limit) -> None:
    done = CliRunner().invoke(cli.compare, [*files(statement), "--versions", "9.7", *limit])
    assert done.exit_code == 1
    assert "MySQL 9.7.4 refuses the statement: 1" in done.output
    assert "What to do: " in done.output


@pytest.mark.live
@needs_servers
def test_a_changing_statement_is_rolled_back_after_each_run(files) -> None:
    arguments = files(
        "DELETE FROM t WHERE n < 3",
        schema="CREATE TABLE t (n INT PRIMARY KEY)",
        data="INSERT INTO t VALUES (1), (2), (3)",
    )
    found = json.loads(run([*arguments, "--versions", "9.7", "--repeats", "3", "--format", "json"]))
    assert found["sides"][0]["affected_rows"] == 2
    assert found["sides"][0]["counters"]["Handler_delete"] == 2
    assert len(found["sides"][0]["cpu_repeats_s"]) == 3


@pytest.mark.live
@needs_servers
def test_rows_that_differ_are_shown_and_versions_are_measured_in_turns(files, monkeypatch) -> None:
    order = []
    measure = sides.measure
    monkeypatch.setattr(
        sides, "measure", lambda server, *_, **k: order.append(server.series) or measure(server, *_, **k)
    )
    shown = run([*files("SELECT 1 UNION ALL SELECT LEFT(VERSION(), 3)"), "--repeats", "2"])
    assert order == ["5.7", "9.7", "5.7"] * 3
    assert "in 5.7.22, not in 9.7.4: (5.7)" in shown
    assert "in 9.7.4, not in 5.7.22: (9.7)" in shown
    assert "the first once more" in shown


@pytest.mark.live
@needs_servers
def test_a_statement_that_changes_tables_runs_over_tables_made_afresh_and_has_no_plan(files) -> None:
    arguments = [*files("CREATE TABLE made (n INT)"), "--versions", "9.7", "--repeats", "2"]
    found = json.loads(run([*arguments, "--format", "json"]))
    (side,) = found["sides"]
    assert (side["refused"], side["plan"], len(side["cpu_repeats_s"])) == (None, None, 2)
    assert found["remarks"] == ["Each run had tables made afresh: CREATE is not rolled back."]
    assert "read or change rows" in side["plan_refused"]


@pytest.mark.live
@needs_servers
def test_a_schema_that_every_version_refuses_is_an_error_and_of_one_is_shown(files) -> None:
    with pytest.raises(
        EngineRoomError,
        match=r"(?s)MySQL 5\.7\.\d+ refuses the schema: 1064.*MySQL 9\.7\.\d+ refuses the schema: 1064",
    ):
        run(files("SELECT 1", schema="CREATE TABEL t (n INT)"))
    schema = "CREATE TABLE u (n INT);\nCREATE TABLE t (n INT, INDEX i ((n + 1)))"
    shown = run([*files("SELECT * FROM t", schema=schema), "--repeats", "1"])
    assert "refuses the schema: 1064" in shown
    assert "(schema.sql, line 2, table t)" in shown
    shown = " ".join(run([*files("SELECT * FROM u", schema=schema), "--repeats", "1"]).split())
    assert "refuses" not in shown
    assert "MySQL 5.7.22 does without schema.sql, line 2, table t: 1064" in shown


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        (["--versions", "4.1"], "unknown server version '4.1'"),
        (["--versions", "5.7,5.7"], "versions are 5.7, 5.7"),
        (["--versions", ""], "versions are none"),
        (["--versions", "9.7,mariadb"], "mariadb is not MySQL"),
        (["--rows", "10"], "no --schema whose tables it could fill"),
        (["--repeats", "0"], "repeats are 0"),
        (["-o", "datadir=/tmp/x"], "the option datadir cannot be chosen"),
        (["--schema", "/nowhere/schema.sql"], "the schema /nowhere/schema.sql cannot be read"),
    ],
)
def test_arguments_that_cannot_work_are_refused_before_a_server_starts(files, extra, problem) -> None:
    with pytest.raises(EngineRoomError) as refused:
        run([*files("SELECT 1"), *extra])
    assert problem in refused.value.problem
    assert refused.value.remedy


def test_rows_come_from_one_source(files) -> None:
    arguments = files("SELECT 1", schema="CREATE TABLE t (n INT)", data="INSERT INTO t VALUES (1)")
    with pytest.raises(EngineRoomError, match="both --data and --rows"):
        run([*arguments, "--rows", "3"])


def test_the_command_exists_and_a_missing_file_is_no_traceback(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["engineroom", "compare", "/nowhere/query.sql"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "the query /nowhere/query.sql cannot be read" in capsys.readouterr().err


def _comparison(*sides: Side) -> Comparison:
    return Comparison(
        statement="SELECT 1", sides=sides, equal_settings={}, repeats=1, made_rows=None, provenance={}
    )


@pytest.mark.parametrize(("refused", "code"), [((True, True), 1), ((True, False), 0), ((False, False), 0)])
def test_the_exit_code_is_not_zero_when_every_version_refuses(files, monkeypatch, refused, code) -> None:
    sides = [
        Side(
            version=f"{n}",
            note="",
            refused="1064: no" if no else None,
            refused_at="statement" if no else None,
        )
        for n, no in enumerate(refused)
    ]
    monkeypatch.setattr(cli, "compare_many", lambda *_, **__: [_comparison(*sides)])
    done = CliRunner().invoke(cli.compare, files("SELECT 1"))
    assert done.exit_code == code
    assert ("refuses the statement: 1064: no" in done.output) == any(refused)


def test_what_would_steer_a_terminal_is_shown_and_not_obeyed(files, monkeypatch) -> None:
    side = Side(version="9.7.4", note="", plan="-> Table scan on \x1b[2Jt\x9b31m\u202e")
    monkeypatch.setattr(cli, "compare_many", lambda *_, **__: [_comparison(side)])
    output = CliRunner().invoke(cli.compare, files("SELECT 1")).output
    assert "-> Table scan on \\x1b[2Jt\\x9b31m\\u202e" in output
    assert "\x1b" not in output


def test_results_say_whether_rows_and_their_order_agree() -> None:
    def side(version: str, digest: str, order: str) -> Side:
        return Side(version=version, note="", digest=digest, digest_in_order=order)

    assert _comparison(side("1", "a", "x"), side("2", "a", "x")).results == "agree"
    assert _comparison(side("1", "a", "x"), side("2", "a", "y")).results == "agree, in another order"
    assert _comparison(side("1", "a", "x"), side("2", "b", "y")).results == "differ"


def test_the_report_says_so_when_a_server_s_cpu_time_cannot_be_read() -> None:
    assert "cannot be read" in report.text(_comparison(Side(version="9.7.4", note="")))
    assert package.EQUAL_SETTINGS["skip_log_bin"] is True


def test_as_installed_makes_no_setting_equal_and_the_report_says_so() -> None:
    # What the book sets of its own is taken back, so that each version's default holds.
    assert all(value is False for value in package.AS_INSTALLED.values())
    assert set(package.AS_INSTALLED) <= set(package.EQUAL_SETTINGS)
    assert "Settings made equal: none, each version has its own." in report.text(
        _comparison(Side(version="9.7.4", note=""))
    )


@pytest.mark.live
@needs_servers
def test_as_installed_each_version_has_its_own_defaults(files) -> None:
    found = json.loads(run([*files("SELECT 1"), "--as-installed", "--repeats", "1", "--format", "json"]))
    assert found["equal_settings"] == {}
    differing = found["settings_that_differ"]
    assert list(differing["innodb_adaptive_hash_index"].values()) == ["ON", "OFF"]
    assert list(differing["log_bin"].values()) == ["OFF", "ON"]
    assert list(differing["character_set_server"].values()) == ["latin1", "utf8mb4"]
