"""`engineroom compare --instructions`: what changed between two profiles, as text, JSON and page; on real servers, and its refusals."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.compare import cli, instructions, instructions_page
from engineroom.ask.compare.instructions import Counts, changes, kind_of
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.errors import EngineRoomError
from engineroom.measuring import instructions as instrument
from engineroom.measuring.callgrind import Part
from engineroom.measuring.instructions import Profile, profile_of

VERSIONS = ("5.6", "5.7")  # start in 5 s under Valgrind
needs_servers = pytest.mark.skipif(
    instrument.why_not() is not None
    or not all("unpack" in servers.runnable(version) for version in VERSIONS),
    reason=f"Valgrind, or one of {VERSIONS}, is not here",
)
ROOT = ("main", "dispatch_command(THD*)", "mysql_execute_command(THD*)")


def profile(version: str, **own: int) -> Profile:
    """Own instructions of functions below the same root; a call of each per instruction."""
    paths = {(*ROOT, *name.split("__")): n for name, n in own.items()}
    part = Part(
        thread=1, events=("Ir",), own={path: (n,) for path, n in {ROOT: 10, **paths}.items()}, calls=paths
    )
    return profile_of(part, version=version, rows=100)


OLD = profile("5.7.22", sub_select=100, sub_select__fetch=400, sort=300, memcpy=100)
NEW = profile("9.7.4", Iterator=200, Iterator__fetch=700, sort=200, memcpy=101)


def side(version: str, **more) -> Side:
    counters = {"Handler_read_next": 90, "Handler_read_key": 10}
    return Side(version=version, note="", plan=f"plan <of> {version}", **{"counters": counters, **more})


def counts(*profiles: Profile, statement: str = "SELECT 1 <b>", **of_sides) -> Counts:
    comparison = Comparison(
        statement=statement,
        sides=tuple(side(each.version, **of_sides) for each in profiles)
        or (side("5.7.22", refused="no", refused_at="statement"),),
        equal_settings={"performance_schema": "OFF"},
        repeats=1,
        made_rows=None,
        provenance={},
    )
    return Counts(comparison=comparison, profiles=profiles)


def test_functions_are_matched_by_name_and_what_one_version_knows_counts_under_its_caller() -> None:
    found = [(change.name, change.net, change.kind) for change in changes(OLD, NEW)]
    assert found == [
        ("fetch", (400, 700), "grown"),
        ("mysql_execute_command", (110, 210), "grown"),
        ("memcpy", (100, 101), "same"),
        ("Iterator", (0, 0), "new"),
        ("dispatch_command", (0, 0), "same"),
        ("main", (0, 0), "same"),
        ("sub_select", (0, 0), "gone"),
        ("sort", (300, 200), "shrunk"),
    ]
    by_name = {change.name: change for change in changes(OLD, NEW)}
    assert sum(change.more for change in by_name.values()) == NEW.instructions - OLD.instructions
    assert by_name["mysql_execute_command"].own == (10, 10)
    assert by_name["mysql_execute_command"].within == (("Iterator", 200),)
    fetch = by_name["fetch"]
    assert (fetch.own, fetch.inclusive, fetch.calls) == ((400, 700), (400, 700), (400, 700))


def test_what_has_no_name_counts_under_its_caller_in_both() -> None:
    hidden = Part(thread=1, events=("Ir",), own={(*ROOT, "0x1 in mysqld"): (7,), ROOT: (1,)}, calls={})
    named = Part(thread=1, events=("Ir",), own={(*ROOT, "clever(int)"): (9,), ROOT: (1,)}, calls={})
    first = changes(*(profile_of(part, version="1") for part in (hidden, named)))[0]
    assert (first.name, first.net, first.within) == ("mysql_execute_command", (8, 10), (("clever", 9),))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (0, 5, "new"),
        (5, 0, "gone"),
        (0, 0, "same"),
        (100, 104, "same"),
        (100, 106, "grown"),
        (100, 94, "shrunk"),
    ],
)
def test_a_change_has_one_word(before: int, after: int, kind: str) -> None:
    assert kind_of(before, after) == kind


def test_the_text_has_totals_per_row_and_both_tables() -> None:
    said = instructions.text(counts(OLD, NEW))
    lines = [re.sub(r"  +", " | ", line.strip()) for line in said.splitlines()]
    assert "instructions | 910 | 1,211" in lines
    assert "times the first | 1.00 | 1.33" in lines
    assert "instructions per row read | 9 | 12" in lines
    more, less = (
        lines.index("More in 9.7.4 than in 5.7.22, by function:"),
        lines.index("Less in 9.7.4, by function:"),
    )
    assert lines[more + 2 : more + 4] == [
        "fetch | 400 | 700 | +300 | 400 | 700",
        "mysql_execute_command | 110 | 210 | +100 | 0 | 0",
    ]
    assert "mysql_execute_command: Iterator 200" in lines[more:less]
    assert lines[less + 2].startswith("sort | 300 | 200 | -100")
    assert "Results: agree" in said
    assert "plan <of> 9.7.4" in said


def test_rows_that_a_statement_changed_divide_its_instructions() -> None:
    assert instructions.rows_of(side("9.7.4", affected_rows=10)) == (10, "changed")
    assert instructions.rows_of(side("9.7.4")) == (100, "read")
    assert "instructions per row changed" in instructions.text(counts(OLD, NEW, affected_rows=10))


def test_what_did_not_settle_or_has_no_names_is_said() -> None:
    part = Part(thread=1, events=("Ir",), own={(*ROOT, "0x1 in mysqld"): (100,)}, calls={})
    said = " ".join(
        instructions.text(counts(profile_of(part, version="9.7.4", repeats=(5, 100, 130)))).split()
    )
    assert "9.7.4 did not settle: the last two of 3 runs are 30.0% apart" in said
    assert "A build without symbols hides names" in said
    assert "no name below mysql_execute_command" in said


def test_a_version_that_refuses_is_named_and_none_that_runs_is_an_answer_too() -> None:
    said = instructions.text(counts())
    assert "MySQL 5.7.22 refuses the statement: no" in said
    assert "refuses" in instructions_page.page(counts())


def test_json_has_every_function_of_every_version_and_no_time_that_valgrind_made() -> None:
    found = json.loads(json.dumps(instructions.json_of(counts(OLD, NEW))))
    assert [each["instructions"] for each in found["instructions"]] == [910, 1211]
    assert found["instructions"][1]["functions"][0]["name"] == "fetch"
    assert found["changes"][0] == {
        "name": "fetch",
        "full_names": ["fetch"],
        "net": [400, 700],
        "own": [400, 700],
        "inclusive": [400, 700],
        "calls": [400, 700],
        "within": [],
        "kind": "grown",
    }
    assert "cpu" not in json.dumps(found)


def test_boxes_stand_above_their_callers_as_wide_as_their_instructions() -> None:
    found = {box.name: box for box in instructions_page.boxes(counts(OLD, NEW))}
    assert "main" not in found  # the same before every statement
    assert found["dispatch_command"].depth == 0
    iterator, fetch = found["Iterator"], found["fetch"]
    assert fetch.depth == iterator.depth + 1
    assert fetch.share_percent == pytest.approx(100 * 700 / 1211, abs=0.001)
    assert iterator.start_percent <= fetch.start_percent
    assert (
        fetch.start_percent + fetch.share_percent <= iterator.start_percent + iterator.share_percent + 0.001
    )
    assert [found[name].kind for name in ("Iterator", "fetch", "sort", "memcpy")] == [
        "new",
        "grown",
        "shrunk",
        "same",
    ]
    assert fetch.label == "▲ fetch +75%"
    assert fetch.lines == (
        "fetch",
        "57.8 % of 9.7.4's instructions, calls 400 → 700",
        "with what it calls 400 → 700, own 400 → 700",
    )
    assert {box.kind for box in instructions_page.boxes(counts(NEW))} == {"same"}


def test_two_sides_of_one_version_are_told_apart_and_each_shows_its_text() -> None:
    a, b = (replace(NEW, version=f"9.7.4 {label}") for label in "AB")
    comparison = replace(
        counts(NEW).comparison,
        sides=(
            side("9.7.4", label="A"),
            side("9.7.4", label="B", statement="SELECT 2 <i>", affected_rows=7),
        ),
    )
    found = Counts(comparison=comparison, profiles=(a, b))
    assert [instructions.rows_of(found.side(each)) for each in (a, b)] == [(100, "read"), (7, "changed")]
    said = instructions.text(found)
    for words in (
        "SELECT 1 <b>",
        "SELECT 2 <i>",
        "Plan of 9.7.4 B:",
        "More in 9.7.4 B than in 9.7.4 A, by function:",
    ):
        assert words in said
    page = instructions_page.page(found)
    assert "SELECT 2 &lt;i&gt;" in page
    assert "<h3>9.7.4 B</h3>" in page
    assert [each["version"] for each in instructions.json_of(found)["instructions"]] == ["9.7.4 A", "9.7.4 B"]


def test_a_narrow_box_has_a_sign_or_nothing() -> None:
    labels = [instructions_page._label(share, "▲", "fetch", "+75%") for share in (5, 2, 1)]
    assert labels == ["▲ fetch +75%", "▲", ""]


def test_the_page_loads_nothing_and_its_boxes_can_be_reached_by_keyboard() -> None:
    text = instructions_page.page(counts(OLD, NEW))
    assert "SELECT 1 &lt;b&gt;" in text
    assert not re.search(r"<script|<link|https?://|url\((?!#)", text)
    drawing = ElementTree.fromstring(text[text.index('<svg class="flame"') : text.index("</svg></div>") + 6])
    found = drawing.findall("g[@tabindex='0']")
    assert len(found) == len(instructions_page.boxes(counts(OLD, NEW)))
    for box in found:
        title = box.find("title")
        assert title is not None
        assert title.text
        assert box.get("aria-label")
    assert (
        drawing.find("g[@class='box new']/svg/rect[@class='over']") is not None
    )  # hatched, besides the colour


SCHEMA = "CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c CHAR(20) NOT NULL);"


def run(arguments: list[str]) -> str:
    done = CliRunner().invoke(cli.compare, arguments, catch_exceptions=False, standalone_mode=False)
    return done.output


def write(folder: Path, query: str) -> list[str]:
    for name, text in (("query", query), ("schema", SCHEMA)):
        (folder / f"{name}.sql").write_text(text)
    return [
        str(folder / "query.sql"),
        "--schema",
        str(folder / "schema.sql"),
        "--rows",
        "300",
        "--versions",
        ",".join(VERSIONS),
    ]


@pytest.mark.live
@pytest.mark.slow
@needs_servers
def test_a_statement_that_changes_rows_is_counted_on_two_versions_and_rolled_back(tmp_path: Path) -> None:
    arguments = [*write(tmp_path, "UPDATE t SET c = CONCAT(a, 'x')"), "--instructions", "--format", "json"]
    found = json.loads(run(arguments))
    assert found["results"] == "agree"
    assert [each["version"] for each in found["instructions"]] == ["5.6.24", "5.7.22"]
    for each in found["instructions"]:
        assert each["is_settled"]
        assert (each["rows"], each["rows_are"]) == (300, "changed")
        assert 2_000 < each["instructions"] / 300 < 60_000
    change = next(each for each in found["changes"] if each["name"] == "ha_innobase::update_row")
    assert change["calls"] == [300, 300]


@pytest.mark.live
@pytest.mark.slow
@needs_servers
def test_two_texts_with_an_option_and_sql_of_bs_own_are_counted_on_one_version(tmp_path: Path) -> None:
    (tmp_path / "b.sql").write_text("SELECT a FROM t WHERE b = 7 AND a > 0")
    (tmp_path / "index.sql").write_text("CREATE INDEX by_b ON t (b)")
    arguments = [
        *write(tmp_path, "SELECT a FROM t WHERE b + 0 = 7"),
        "--versions",
        VERSIONS[0],
        "--instructions",
    ]
    arguments += ["--b-query", str(tmp_path / "b.sql"), "--b-sql", str(tmp_path / "index.sql")]
    arguments += ["--b-option", "sort_buffer_size=65536", "--format", "json"]
    found = json.loads(run(arguments))
    assert found["results"] == "agree"
    a, b = found["instructions"]
    assert (a["version"], b["version"]) == ("5.6.24 A", "5.6.24 B")
    assert b["instructions"] < a["instructions"]
    assert "by_b" in found["sides"][1]["plan"]
    assert found["settings_that_differ"]["sort_buffer_size"] == {"5.6.24 A": "262144", "5.6.24 B": "65536"}


@pytest.mark.parametrize(
    ("query", "more", "problem"),
    [
        ("CREATE TABLE x (a INT)", ["--instructions"], "CREATE cannot be run again and again"),
        ("SELECT 1; SELECT 2", ["--instructions"], "2 statements"),
        ("SELECT 1", ["--instructions", "--rows", "0"], "--rows is 0"),
        ("SELECT 1", ["--format", "html"], "--format html goes with --instructions"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_a_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, more: list[str], problem: str
) -> None:
    monkeypatch.setattr(instrument, "why_not", lambda: None)
    monkeypatch.setattr(servers.lifecycle, "start", None)
    with pytest.raises((EngineRoomError, click.UsageError), match=problem):
        run([*write(tmp_path, query), *more])


def test_without_valgrind_the_remedy_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineRoomError, match="Valgrind is not installed") as caught:
        run([*write(tmp_path, "SELECT 1"), "--instructions"])
    assert "apt-get install valgrind" in caught.value.remedy
