from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from engineroom import system_check
from engineroom.system_check import Piece, apt_line, conda_line, missing, report

SCRIPT = Path(system_check.__file__)


def piece(name: str, *, found: bool, group: str = "build", conda: str = "") -> Piece:
    return Piece(name, group, lambda: found, apt=f"{name}-dev", conda=conda)


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        system_check,
        "PIECES",
        (
            piece("here", found=True),
            piece("one", found=False, conda="one"),
            piece("two", found=False),
            piece("three", found=False, group="servers", conda="three"),
        ),
    )


@pytest.mark.usefixtures("pieces")
def test_everything_missing_is_reported_at_once_with_one_line_for_each_client():
    text = report(missing(["build", "servers"]))
    assert [line.strip() for line in text.splitlines()[1:4]] == [
        "one (for make book)",
        "two (for make book)",
        "three (for the museum servers 5.6 to 8.0.31, optional)",
    ]
    assert text.count("apt-get install") == text.count("apt-get update && ") == 1
    assert "apt-get install one-dev two-dev three-dev" in text
    assert "conda install -c conda-forge one three" in text


@pytest.mark.usefixtures("pieces")
def test_only_the_groups_that_are_asked_for_are_looked_at():
    assert [lacking.name for lacking in missing(["servers"])] == ["three"]


@pytest.mark.parametrize(("apt", "lacking"), [(True, False), (False, True)])
def test_no_library_is_asked_for_where_we_bring_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apt: bool, lacking: bool
):
    monkeypatch.setattr(system_check.ctypes.util, "find_library", lambda _: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(system_check, "_programs", lambda *_: lambda: apt)
    names = {piece.name for piece in missing(["servers"])}
    assert ({"libaio", "libnuma"} <= names) == lacking


def test_valgrind_is_optional_and_its_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(system_check.shutil, "which", lambda *_, **__: None)
    text = report(missing(["counts"]))
    assert "Valgrind (for engineroom compare --instructions, optional)" in text
    assert "apt-get install valgrind" in text


@pytest.mark.parametrize(("release", "brings"), [("12", "containernetworking-plugins"), ("13", "netavark")])
def test_what_a_fresh_system_needs_beyond_its_packages_recommendations_is_named(
    monkeypatch: pytest.MonkeyPatch, release: str, brings: str
):
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": release})
    monkeypatch.setenv("PATH", "/nonexistent")
    fresh = importlib.util.module_from_spec(importlib.util.spec_from_file_location("fresh", SCRIPT))
    fresh.__spec__.loader.exec_module(fresh)
    monkeypatch.setattr(fresh.Path, "exists", lambda _: False)
    text = fresh.report(fresh.missing(["build", "load", "test"]))
    assert "sysbench (for labs under load and engineroom record, optional)" in text
    assert "a network for Podman: its plugins, and iptables (for make test)" in text
    assert all(f" {each}" in text for each in ("sysbench", "iptables", brings))


def test_nothing_missing_is_an_empty_report():
    assert report([]) == apt_line([]) == conda_line([]) == ""


def test_it_runs_as_a_script_with_the_standard_library_only():
    done = subprocess.run([sys.executable, "-I", "-S", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_machine_without_tools_gets_the_apt_line_and_exit_code_1():
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, "build"],
        env={"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "apt-get install g++ cmake" in done.stderr


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(("words", "code"), [(["test"], 0), (["build"], 1)])
def test_what_is_optional_is_reported_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: int
):
    monkeypatch.setattr(sys, "argv", ["system_check.py", *words, "--optional", "servers"])
    with pytest.raises(SystemExit) as ended:
        system_check.main()
    assert ended.value.code == code
    said = capsys.readouterr().err
    assert ("Missing from this system:\n  one (for make book)" in said) == bool(code)
    assert "  three (for the museum servers 5.6 to 8.0.31, optional)" in said
    assert said.count("apt-get install") == 1
    assert "three-dev" in said


def test_an_unknown_group_is_refused():
    done = subprocess.run([sys.executable, SCRIPT, "cellar"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "unknown group cellar; choose from read, build, servers, load, test" in done.stderr


def test_a_compiler_that_knows_no_cpp20_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert not system_check._compiler()


@pytest.mark.parametrize("names", [["clang-format"], ["clang-format-19"], []])
def test_what_counts_as_clang_format_is_what_the_checks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]
):
    for name in names:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (piece,) = [piece for piece in system_check.PIECES if piece.name == "clang-format"]
    assert piece.found() is bool(names)
    monkeypatch.delitem(sys.modules, "engineroom.making.checks", raising=False)
    checks = importlib.import_module("engineroom.making.checks")
    (check,) = [check for check in checks.CHECKS if check.name == "C++ format"]
    assert check.commands[0][0] == (names[0] if names else "clang-format")
    assert list(check.needs) == [check.commands[0][0]]


@pytest.mark.parametrize(
    ("system", "package"),
    [
        ({"ID": "debian", "VERSION_ID": "12"}, "libaio1"),
        ({"ID": "debian", "VERSION_ID": "13"}, "libaio1t64"),
        ({"ID": "debian"}, "libaio1t64"),
        ({"ID": "ubuntu", "VERSION_ID": "22.04"}, "libaio1"),
        ({"ID": "ubuntu", "VERSION_ID": "24.04"}, "libaio1t64"),
        ({}, "libaio1"),
    ],
)
def test_a_library_has_the_name_that_this_release_gives_it(
    monkeypatch: pytest.MonkeyPatch, system: dict[str, str], package: str
):
    monkeypatch.setattr(system_check, "_os_release", lambda: system)
    assert system_check._t64("libaio1") == package
