"""What `engineroom server` says; servers that really start are in test_servers.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mysql.connector
import pytest
from click.testing import CliRunner, Result

from engineroom.errors import EngineRoomError
from engineroom.servers import catalogue, cli, lifecycle
from engineroom.servers.catalogue import Request
from engineroom.servers.cli import server


def run(*words: str) -> Result:
    return CliRunner().invoke(server, words)


@pytest.mark.usefixtures("cache")
def test_list_shows_every_generation_with_its_note():
    lines = run("list").output.splitlines()
    assert len(lines) == len(catalogue())
    assert lines[0].startswith("5.6.24")
    assert "museum piece" in lines[0]


@pytest.mark.usefixtures("cache")
def test_list_as_json_is_for_programs():
    rows = json.loads(run("list", "--format", "json").output)
    assert [row["version"] for row in rows] == list(catalogue())
    assert all(isinstance(row["providers"], list) for row in rows)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "words", [["stop"], ["stop", "5.7", "--all"], ["fetch"], ["fetch", "5.7", "--available"]]
)
def test_a_choice_that_is_not_made_or_made_twice_is_a_usage_error(words: list[str]):
    assert run(*words).exit_code == 2


@pytest.mark.usefixtures("cache")
def test_an_option_without_a_value_is_a_usage_error():
    result = run("start", "5.7", "-o", "join_buffer_size")
    assert result.exit_code == 2
    assert "'join_buffer_size' is not NAME=VALUE" in result.output


@pytest.mark.usefixtures("cache")
def test_stopping_what_does_not_run_says_so():
    assert (
        run("stop", "9.7").output
        == "no such server was running; `engineroom server status` lists those that are\n"
    )


class OneServer:
    """A shared server with one answer: names and rows, or an error of the client."""

    version, series, called = "9.7.4", "9.7", "MySQL 9.7.4"

    def __init__(self, names: tuple[str, ...], rows: list[tuple[Any, ...]], error: Exception | None = None):
        self.column_names, self.with_rows = names, bool(names)
        self.rows, self.error, self.more = rows, error, 1

    def connect(self, database: str | None) -> OneServer:  # noqa: ARG002
        return self

    def cursor(self, *, raw: bool) -> OneServer:
        assert raw, "a TIME is printed as the server writes it"
        return self

    def nextset(self) -> bool:
        self.more -= 1
        return self.more > 0

    def close(self) -> None:
        pass

    def execute(self, statement: str) -> None:  # noqa: ARG002
        if self.error:
            raise self.error

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.rows


def test_a_row_stays_a_line_and_a_value_a_column_whatever_it_holds(monkeypatch: pytest.MonkeyPatch):
    rows = [("tab\there", b"line\nbreak"), ("back\\slash\0", None)]
    monkeypatch.setattr(lifecycle, "shared", lambda _: [OneServer(("a", "b\nc"), rows)])
    assert (
        run("sql", "9.7", "select").output == "a\tb\\nc\ntab\\there\tline\\nbreak\nback\\\\slash\\0\tNULL\n"
    )


def test_every_result_of_a_procedure_is_shown(monkeypatch: pytest.MonkeyPatch):
    several = OneServer(("n",), [(b"1",)])
    several.more = 2
    monkeypatch.setattr(lifecycle, "shared", lambda _: [several])
    assert run("sql", "9.7", "call p()").output == "n\n1\nn\n1\n"


@pytest.mark.parametrize(
    ("errno", "message", "remedy"),
    [
        (1064, "You have an error in your SQL syntax", "correct the statement"),
        (1146, "Table 't' doesn't exist", "correct the statement"),
        (1046, "No database selected", "--database"),
        (2013, "Lost connection to MySQL server during query", "engineroom server start 9.7"),
        (2002, "Can't connect to local MySQL server", "engineroom server status"),
        (1021, "Disk full (/tmp/x); waiting", "free disk space"),
        (3, "Error writing file 'x' (OS errno 28 - No space left on device)", "free disk space"),
        (1030, "Got error 28 from storage engine", "free disk space"),
        (1030, "Got error 128 from storage engine", "correct the statement"),
        (1213, "Deadlock found when trying to get lock", "run it again"),
    ],
)
def test_the_remedy_fits_the_kind_of_error(
    monkeypatch: pytest.MonkeyPatch, errno: int, message: str, remedy: str
):
    error = mysql.connector.Error(msg=message, errno=errno)
    monkeypatch.setattr(lifecycle, "shared", lambda _: [OneServer((), [], error)])
    failure = run("sql", "9.7", "select").exception
    assert isinstance(failure, EngineRoomError)
    assert message in failure.problem
    assert remedy in failure.remedy


def only_two_run(monkeypatch: pytest.MonkeyPatch, *, failing: str) -> None:
    def fetch(request: Request) -> str:
        if request.name == failing:
            raise EngineRoomError("no network", remedy="try later")
        return "unpack"

    monkeypatch.setattr(lifecycle, "fetch", fetch)
    monkeypatch.setattr(lifecycle, "runnable", lambda series: ["unpack"] if series in {"5.7", "9.7"} else [])


def test_fetching_what_is_available_reports_a_failure_and_goes_on(monkeypatch: pytest.MonkeyPatch):
    only_two_run(monkeypatch, failing="5.7")
    result = run("fetch", "--available")
    assert result.exit_code == cli.SOME_FAILED
    assert result.stdout == "MySQL 9.7 is ready, by unpack\n"
    assert "MySQL 5.7 is not available now: no network" in result.stderr


def test_fetching_what_is_available_names_the_others_in_one_short_line(monkeypatch: pytest.MonkeyPatch):
    only_two_run(monkeypatch, failing="none")
    said = run("fetch", "--available").stderr
    assert said == "Not on this machine: MySQL 5.6, 8.0.15, 8.0.31, 8.4 (engineroom doctor says why)\n"


def test_fetching_a_named_version_fails_when_it_cannot(monkeypatch: pytest.MonkeyPatch):
    only_two_run(monkeypatch, failing="5.7")
    assert isinstance(run("fetch", "5.7").exception, EngineRoomError)


def test_clean_empties_the_cache(cache: Path):
    (cache / "servers" / "5.7").mkdir(parents=True)
    (cache / "templates").mkdir()
    assert run("clean").output == "the cache is empty\n"
    assert not (cache / "servers").exists()
    assert not (cache / "templates").exists()
