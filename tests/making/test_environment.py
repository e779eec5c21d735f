"""The virtual environment is there whole or not at all; one Ctrl-C ends what makes and fills it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from engineroom import paths
from engineroom.making import environment
from engineroom.servers.server import wait_until

# An environment's Python for which `-m pip install` is what the test says.
FAKE = """#!/bin/sh
case "$3" in
  --version | config) exit 0 ;;
  install) echo try >>"$(dirname "$0")/tries"; {installs} ;;
esac
"""


def start(folder: Path, tries: int, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "engineroom.making.environment", folder, str(tries), *arguments],
        env={**os.environ, "PYTHONPATH": str(paths.root() / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def fake(folder: Path, installs: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(FAKE.format(installs=installs))
    (folder / "bin" / "python").chmod(0o755)
    return folder / "bin" / "tries"


@pytest.mark.slow
def test_an_interrupt_while_it_is_made_leaves_none_and_the_next_call_makes_it_whole(tmp_path: Path):
    folder = tmp_path / "env"
    with start(folder, 1, "--version") as making:
        assert wait_until((tmp_path / "env.new" / "bin" / "python").exists, seconds=30)
        making.send_signal(signal.SIGINT)
        said = making.communicate(timeout=30)[1]
    assert making.returncode == 1
    assert "the next make goes on" in said
    assert "Traceback" not in said
    assert not folder.exists()
    with start(folder, 1, "--version") as making:
        said = making.communicate(timeout=120)[0]
    assert making.returncode == 0
    assert str(folder) in said
    assert not (tmp_path / "env.new").exists()
    # Its programs know where they are.
    pip = subprocess.run([folder / "bin" / "pip", "--version"], capture_output=True, text=True, check=True)
    assert str(folder) in pip.stdout
    assert all(
        b"env.new" not in file.read_bytes() for file in (folder / "bin").iterdir() if not file.is_symlink()
    )


def test_an_environment_without_pip_is_made_again(tmp_path: Path, monkeypatch):
    """As a Ctrl-C left them when they were made in their place."""
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    calls = []

    def instead(command, **_):
        calls.append(command)
        (command[-1] / "bin").mkdir(parents=True)
        (command[-1] / "pyvenv.cfg").write_text(f"command = {command[-1]}\n")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.children, "run", instead)
    assert environment.make(folder) == folder / "bin" / "python"
    assert len(calls) == 1
    assert (folder / "pyvenv.cfg").read_text() == f"command = {folder}\n"


def test_a_failed_install_is_tried_again_so_often_and_no_oftener(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(environment, "PAUSE_S", 0)
    tries = fake(tmp_path / "env", "exit 7")
    python = environment.make(tmp_path / "env")
    assert environment.install(python, ["install", "it"], tries=3) == 7
    assert tries.read_text().count("try") == 3


def test_one_ctrl_c_ends_the_install_and_its_tries(tmp_path: Path):
    tries = fake(tmp_path / "env", "trap 'exit 2' INT; sleep 60 & wait")
    with start(tmp_path / "env", 3, "install", "it") as installing:
        assert wait_until(tries.exists, seconds=30)
        installing.send_signal(signal.SIGINT)
        assert installing.wait(30) == 1
    assert tries.read_text().count("try") == 1


def test_make_calls_no_pip_but_the_environments_own():
    text = (paths.root() / "Makefile").read_text()
    calls = [line for line in text.splitlines() if "pip " in line and "install" in line]
    assert calls
    assert all(
        "engineroom.making.environment" in line or "$(call" in line or "python -m pip" in line
        for line in calls
    )


def copied(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout with an environment that has the book's code, as by pip's editable install, and a copy of it."""
    original, copy = tmp_path / "original", tmp_path / "copy"
    for folder in ("src", "data/published"):
        (original / folder).mkdir(parents=True)
    shutil.copytree(
        paths.root() / "src" / "engineroom",
        original / "src" / "engineroom",
        ignore=lambda *_: ["chapters", "_native"],
    )
    shutil.copy(paths.root() / "Makefile", original)
    venv.create(original / ".venv", symlinks=True)
    (site,) = (original / ".venv" / "lib").glob("*/site-packages")
    packages = [each for each in sys.path if each.endswith("-packages")]
    (site / "engineroom.pth").write_text("\n".join([str(original / "src"), *packages]))
    for command in ("activate", "engineroom"):
        (original / ".venv" / "bin" / command).write_text(f"#!{original}/.venv/bin/python\n{SHOWS_ROOT}")
        (original / ".venv" / "bin" / command).chmod(0o755)
    shutil.copytree(original, copy, symlinks=True)
    return original, copy


SHOWS_ROOT = """\
from engineroom import paths
from engineroom.errors import EngineRoomError
try:
    print(paths.root())
except EngineRoomError as error:
    print(error)
"""


def test_a_copied_checkout_is_refused_and_the_remedy_named(tmp_path: Path):
    original, copy = copied(tmp_path)

    def said(*command: object, **more: str) -> str:
        env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | more
        done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert said(original / ".venv" / "bin" / "engineroom") == f"{original}\n"
    for refused in (
        said(copy / ".venv" / "bin" / "engineroom"),
        said(copy / ".venv" / "bin" / "python", "-c", SHOWS_ROOT),
    ):
        assert f"{copy / '.venv'} belongs to another checkout" in refused
        assert f"cd {copy} && make clean && make book" in refused
    own = {"PYTHONPATH": str(copy / "src")}
    assert said(copy / ".venv" / "bin" / "python", "-c", SHOWS_ROOT, **own) == f"{copy}\n"
    assert "run `make clean`" in said("make", "-C", copy, "-n", "serve")
    assert "moved or copied" not in said("make", "-C", original, "-n", "serve")
    assert "moved or copied" not in said("make", "-C", copy, "help", "clean")
    assert not (copy / ".venv").exists()
