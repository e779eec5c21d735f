"""What make starts ends with make: by a signal, by Ctrl-C, and when it is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engineroom import children
from engineroom.servers.server import wait_until


@pytest.fixture
def seconds() -> Iterator[str]:
    """So many seconds as only this test sleeps, and nobody afterwards."""
    mark = f"{600 + os.getpid() % 1000}.{os.urandom(3).hex().translate(str.maketrans('abcdef', '012345'))}"
    yield mark
    for process in sleeping(mark):
        process.kill()


def sleeping(mark: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", mark]]


def program(folder: Path, mark: str) -> Path:
    file = folder / "program.py"
    file.write_text(
        textwrap.dedent(f"""
            from concurrent.futures import ThreadPoolExecutor
            from engineroom import children
            with children.ending_with_us(), ThreadPoolExecutor(1) as executor:
                command = ["sh", "-c", "sleep {mark} & sleep {mark}"]
                try:
                    executor.submit(children.run, command)
                    children.run(command)
                except BaseException:
                    children.end_all()
                    raise
        """)
    )
    return file


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_program_ends_the_commands_of_all_its_threads(
    tmp_path: Path, seconds: str, number: signal.Signals
):
    with subprocess.Popen([sys.executable, program(tmp_path, seconds)], stderr=subprocess.DEVNULL) as running:
        assert wait_until(lambda: len(sleeping(seconds)) == 4, seconds=30)
        running.send_signal(number)
        assert running.wait(30) != 0
    assert sleeping(seconds) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_killing_make_leaves_no_child(tmp_path: Path, seconds: str, number: signal.Signals):
    # As in ours: the recipe's shell gives way to the program, so that make is its parent.
    (tmp_path / "Makefile").write_text(
        f"SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nall:\n"
        f"\t@exec {sys.executable} {program(tmp_path, seconds)}\n"
    )
    with subprocess.Popen(["make", "-C", tmp_path], stderr=subprocess.DEVNULL) as make:
        assert wait_until(lambda: len(sleeping(seconds)) == 4, seconds=30)
        make.send_signal(number)
        make.wait(30)
    assert wait_until(lambda: not sleeping(seconds), seconds=30)


def test_a_command_that_ends_by_itself_gives_its_output_and_code(capfd: pytest.CaptureFixture[str]):
    told = children.run([sys.executable, "-c", "print('told'); raise SystemExit(3)"], is_read=True)
    assert (told.returncode, told.stdout) == (3, "told\n")
    shown = children.run([sys.executable, "-c", "print('shown')"])
    assert (shown.returncode, shown.stdout, capfd.readouterr().out) == (0, None, "shown\n")
    assert not children._running


def test_a_variable_is_as_before_when_its_block_ends(monkeypatch):
    monkeypatch.delenv("ENGINEROOM_TEST", raising=False)
    with children.variable("ENGINEROOM_TEST", "outer"):
        with children.variable("ENGINEROOM_TEST", "inner"):
            assert os.environ["ENGINEROOM_TEST"] == "inner"
        assert os.environ["ENGINEROOM_TEST"] == "outer"
    assert "ENGINEROOM_TEST" not in os.environ
