"""Many statements in one comparison: what is chosen, the table, and the limit of time."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from engineroom import servers
from engineroom.ask.compare import cli, many, sides
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.ask.digests.counting import counted
from engineroom.ask.digests.slow_log import Event

needs_servers = pytest.mark.skipif(
    not all(servers.runnable(version) for version in ("5.7", "9.7")),
    reason="5.7 and 9.7 do not both run here: engineroom doctor",
)
TIMES = {"SELECT 1": 1.0, "CREATE TABLE t (n INT)": 0.5, "SELECT a FROM t": 0.2, "SELECT 2": 0.1}
SOME = counted((Event(*each) for each in TIMES.items()), Counter({"an event without a head": 2}))


def side(version: str, cpu_s: float | None, refused: str | None) -> Side:
    return Side(
        version=version,
        note="",
        server_cpu_s=cpu_s,
        refused=refused,
        refused_at="statement" if refused else None,
    )


def found(*sides: Side) -> Comparison:
    return Comparison(
        statement="",
        sides=sides,
        equal_settings={},
        repeats=1,
        made_rows=None,
        provenance={},
        control_cpu_s=0.0022,
    )


def test_what_cannot_be_repeated_and_what_is_too_much_is_left_out_with_the_reason():
    chosen = many.choose(SOME, most=1)
    assert [each.name for each in chosen.taken] == ["select ?"]
    assert [why for _, why in chosen.left_out] == ["CREATE cannot be run again and again", "--top is 1"]


def test_the_table_has_a_line_per_digest_and_the_text_of_each():
    chosen = many.choose(SOME, most=2)
    shown = many.text(
        chosen,
        [
            found(side("5.7", 0.002, None), side("9.7", 0.001, None)),
            found(side("5.7", 0.1, None), side("9.7", None, "no")),
        ],
    ).splitlines()
    assert shown[2].split() == [
        "#1",
        "2",
        "1.1",
        "s",
        "61.1%",
        "2.00",
        "ms",
        "1.00",
        "ms",
        "0.50",
        "1.10",
        "agree",
    ]
    assert shown[3].split()[-6:] == ["refused", "-", "0.02", "nothing", "to", "compare"]
    assert "#1  select ?" in shown
    assert "    MySQL 9.7 refuses the statement: no" in shown
    assert "Results of 2 statements: 1 agree, 1 nothing to compare." in shown
    assert any(line.startswith("last / first: CPU time of 9.7 by 5.7's.") for line in shown)
    assert (
        "  500.00 ms, 27.8% of the log, once: CREATE cannot be run again and again: create table t (n int)"
        in shown
    )
    assert "Skipped or mended: an event without a head, 2 times." in shown


def test_what_top_leaves_out_is_counted_and_not_listed():
    chosen = many.choose(SOME, most=1)
    said = " ".join(" ".join(many._left_out(chosen)).split())
    assert (
        "1 further digest, since --top is 1. They took 0.2 s of the 1.8 s of all in the log. --top 2 measures all"
        in said
    )
    assert "select a from t" not in said


def test_what_the_caller_has_something_against_is_left_out_with_the_reason():
    chosen = many.choose(SOME, 9, lambda statement: "too bad" if "FROM" in statement else "")
    assert [why for _, why in chosen.left_out] == ["CREATE cannot be run again and again", "too bad"]


def test_elapsed_times_stand_in_the_table_where_no_cpu_time_is_known():
    own = [
        replace(side(name, None, None), wall_s=s, digest="x") for name, s in (("5.7", 0.01), ("9.7", 0.02))
    ]
    shown = many.text(many.choose(SOME, most=1), [replace(found(*own), control_wall_s=0.011)]).splitlines()
    assert shown[0] == "Elapsed time per statement, medians:"
    assert shown[2].split()[-7:] == ["10.00", "ms", "20.00", "ms", "2.00", "1.10", "agree"]
    assert any(line.startswith("last / first: elapsed time of 9.7 by 5.7's.") for line in shown)


def test_what_is_left_out_has_its_time_and_share_in_the_json():
    of = many.json_of(many.choose(SOME, most=1), [found(side("5.7", 0.002, None))])
    keys = ("digest", "count", "log_s", "share", "why")
    assert [tuple(each[key] for key in keys) for each in of["left_out"]] == [
        ("create table t (n int)", 1, 0.5, 0.277778, "CREATE cannot be run again and again"),
        ("select a from t", 1, 0.2, 0.111111, "--top is 1"),
    ]
    assert of["digests"][0]["share"] == 0.611111
    assert of["skipped"] == {"an event without a head": 2}


def test_statements_in_executable_comments_are_measured():
    log = [Event(f"/*!40101 SELECT {what} FROM t */", 1.0) for what in ("COUNT(*)", "MAX(a)", "MAX(a)")]
    assert len(many.choose(counted(log, Counter()), most=9).taken) == 2


def test_a_log_whose_tables_are_missing_is_told_what_to_give():
    missing = replace(found(side("9.7", None, "1146: Table 'shop.t' doesn't exist")), statement="SELECT 1")
    assert "What to do: give the tables with --schema" in many.text(many.choose(SOME, most=1), [missing])


@pytest.mark.live
@needs_servers
def test_ctrl_c_shows_what_was_measured_until_then(tmp_path, monkeypatch):
    (tmp_path / "many.sql").write_text("SELECT 1; SELECT SLEEP(0); SELECT 2 + 2;")
    measure = sides.measure

    def measured(server, connection, statement, **how):
        if "SLEEP" in statement:
            os.kill(os.getpid(), signal.SIGINT)
        return measure(server, connection, statement, **how)

    monkeypatch.setattr(sides, "measure", measured)
    arguments = [str(tmp_path / "many.sql"), "--versions", "9.7", "--repeats", "1", "--top", "2"]
    done = CliRunner().invoke(cli.compare, arguments)
    assert done.exit_code == 130
    assert "#1  select ?" in done.stdout
    assert "  interrupted before it: select sleep(?)" in done.stdout
    assert "1 further digest, since --top is 2. --top 3 measures all" in " ".join(done.stdout.split())
    assert done.stderr.endswith("interrupted: 1 of 2 statements were measured\n")


@pytest.mark.live
@needs_servers
def test_a_file_of_statements_becomes_a_table_and_a_run_ends_at_its_limit(tmp_path):
    (tmp_path / "many.sql").write_text(
        "SELECT SUM(n) FROM t; SELECT SUM(n) FROM t WHERE n > 1; SELECT SUM(n) FROM t WHERE n > 2;\n"
        "WITH x AS (SELECT 1 AS n) SELECT n FROM x; DELETE FROM t; CREATE TABLE u (n INT);\n"
        "SELECT BENCHMARK(2000000000, SHA2('a', 512)); SELECT SLEEP(100);"
    )
    (tmp_path / "schema.sql").write_text("CREATE TABLE t (n INT PRIMARY KEY)")
    arguments = [str(tmp_path / "many.sql"), "--schema", str(tmp_path / "schema.sql"), "--rows", "50"]
    arguments += ["--repeats", "1", "--limit", "2", "--format", "json"]
    done: Result = CliRunner().invoke(cli.compare, arguments, catch_exceptions=False)
    found = json.loads(done.stdout)
    by_digest = {each["digest"]: each for each in found["digests"]}
    assert by_digest["select sum(n) from t"]["results"] == "agree"
    assert by_digest["select sum(n) from t where n > ?"]["count"] == 2
    assert by_digest["with x as (select ? as n) select n from x"]["sides"][0]["refused"].startswith("1064")
    assert [side["affected_rows"] for side in by_digest["delete from t"]["sides"]] == [50, 50]
    for stopped in ("select benchmark(?, sha?(?, ?))", "select sleep(?)"):
        name = next(digest for digest in by_digest if digest.startswith(stopped.split("(", maxsplit=1)[0]))
        assert [side["refused"] for side in by_digest[name]["sides"]] == ["stopped after 2 s, the limit"] * 2
    assert [each["why"] for each in found["left_out"]] == ["CREATE cannot be run again and again"]
