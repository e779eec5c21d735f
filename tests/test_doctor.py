from __future__ import annotations

import platform
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engineroom import doctor as module
from engineroom import system_check
from engineroom.doctor import doctor, platform_notes
from engineroom.servers import catalogue, lifecycle
from engineroom.servers.catalogue import resolve


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINEROOM_CACHE", str(tmp_path))
    for series in catalogue():
        monkeypatch.delenv(f"ENGINEROOM_DSN_{series.replace('.', '_')}", raising=False)
    monkeypatch.delenv("ENGINEROOM_DSN", raising=False)


def run(*words: str) -> Result:
    return CliRunner().invoke(doctor, words, catch_exceptions=False)


def lack(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = (system_check.Piece("a compiler", "build", lambda: False, apt="g++", conda="cxx-compiler"),)
    monkeypatch.setattr(system_check, "PIECES", pieces)


def test_every_generation_is_listed_with_who_runs_it_or_the_command_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
):
    answers = {
        "dsn": None,
        "container": "no Docker or Podman",
        "on_path": "no mysqld on PATH",
        "unpack": "no",
    }

    def refusals(request: object) -> dict[str, str | None]:
        return dict(answers) if "9.7" in str(request) else dict(answers, dsn="not set")

    monkeypatch.setattr(lifecycle, "refusals", refusals)
    monkeypatch.setattr(module, "container_engine", lambda: "podman")
    text = run().output
    assert "9.7    runs here by dsn" in text
    assert "8.4    does not run here" in text
    assert "to add it: podman pull mysql:8.4" in text
    assert "on_path: no mysqld on PATH" in text


def test_what_is_missing_stands_there_with_the_same_line_as_the_system_check(monkeypatch: pytest.MonkeyPatch):
    lack(monkeypatch)
    text = run("--quiet").output
    assert "a compiler (for make book)" in text
    assert "apt-get install g++" in text
    assert "Servers:" not in text


def test_check_ends_with_1_when_something_is_missing(monkeypatch: pytest.MonkeyPatch):
    lack(monkeypatch)
    assert run("--check", "build").exit_code == 1


def test_check_ends_with_0_when_nothing_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(system_check, "PIECES", ())
    result = run("--check", "build")
    assert result.exit_code == 0
    assert "Nothing is missing for make book" in result.output
    assert run("--quiet", "--check", "build").output == ""


def test_it_asks_nobody_on_the_network(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert "Servers:" in run().output


def machine(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str, release: str, distribution: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    monkeypatch.setattr(platform, "release", lambda: release)
    monkeypatch.setattr(module, "_distribution", lambda: distribution)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (("Darwin", "arm64", "24.0", ""), "macOS is served by containers"),
        (("Windows", "AMD64", "10", ""), "Use Windows through WSL 2"),
        (("Linux", "aarch64", "6.8", "debian"), "Linux on aarch64 is served by containers"),
        (
            ("Linux", "x86_64", "6.8", "ubuntu"),
            "5.6, 5.7, 8.0.15 and 8.0.31 unpack here; 9.7 is served by containers",
        ),
        (
            ("Linux", "x86_64", "5.15-microsoft-standard-WSL2", "debian"),
            "WSL 2 is served like the Linux in it",
        ),
    ],
)
def test_another_kind_of_machine_is_told_what_serves_it_and_that_nobody_tried(
    monkeypatch: pytest.MonkeyPatch, kind: tuple[str, str, str, str], told: str
):
    machine(monkeypatch, *kind)
    notes = platform_notes()
    assert notes[0].startswith(told)
    assert "did not run the book" in notes[-1]


def test_the_authors_own_kind_of_machine_needs_no_note(monkeypatch: pytest.MonkeyPatch):
    machine(monkeypatch, "Linux", "x86_64", "6.1", "debian")
    assert platform_notes() == []


@pytest.mark.parametrize(
    ("series", "engine", "unpack", "command"),
    [
        ("5.6", None, "npm is not installed", "apt-get install npm"),
        (
            "9.7",
            None,
            "the package debian-archive-keyring is not installed",
            "apt-get install debian-archive-keyring",
        ),
        ("9.7", "docker", "only on Debian, this is Ubuntu", "docker pull mysql:9.7"),
        ("9.7", None, "only on Debian, this is Ubuntu", "conda install -c conda-forge mysql-server=9.7"),
        (
            "5.7",
            None,
            "the archives are for Linux on x86-64",
            "apt-get install podman, then podman pull mysql:5.7",
        ),
    ],
)
def test_one_command_adds_a_generation(
    monkeypatch: pytest.MonkeyPatch, series: str, engine: str | None, unpack: str, command: str
):
    monkeypatch.setattr(module, "container_engine", lambda: engine)
    refusals: dict[str, str | None] = {"dsn": "not set", "container": "", "on_path": "", "unpack": unpack}
    assert module.command_that_adds(resolve(series).entry, refusals).startswith(command)
