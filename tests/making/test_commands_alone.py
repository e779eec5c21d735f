"""The package as it is installed without a compiler: what needs no kernel runs, and what needs one refuses by name."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from engineroom import paths

pytestmark = pytest.mark.slow
PLAN = "-> Table scan on t  (cost=1.2 rows=9) (actual time=0.1..0.2 rows=9 loops=1)\n"
LOG = "# Time: 2026-01-01T00:00:00.1Z\n# User@Host: a[a] @  [10.0.0.1]\n# Query_time: 1.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 9\nSELECT 1;\n"  # fmt: skip
NOBODY = "mysql://me@127.0.0.1:1/shop"


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A folder with the package as its wheel has it."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", str(folder), str(paths.root())],
        env={**os.environ, "ENGINEROOM_COMMANDS_ALONE": "1", "PATH": os.path.dirname(sys.executable)},  # noqa: PTH120
        check=True,
    )  # fmt: skip
    (wheel,) = folder.glob("engineroom-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    for name, text in (("plan", PLAN), ("slow.log", LOG), ("query.sql", "SELECT 1")):
        (folder / name).write_text(text)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command with this Python's packages, but not with the book's own environment (-S), which has the kernels."""
    here = [
        str(folder / "installed"),
        *dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib")),
    ]
    code = f"import sys; sys.path[:0] = {here}; from engineroom.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "ENGINEROOM_CACHE": str(folder / "cache")},
        input="no report\n",
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["digest", "slow.log"], 0, "select ?"),
        (["join-order", "explain", "--plan", "plan"], 0, "Table scan on t"),
        (["deadlock", "-"], 1, "holds no deadlock in 1 lines"),
        (["locks", "--dsn", NOBODY], 1, "What to do"),
        (["compare", "query.sql", "--dsn", NOBODY], 1, "What to do"),
        (["compare", "query.sql", "--versions", "4.0"], 1, "4.0"),
        (["doctor", "--help"], 0, "Usage"),
        (["binlog", "sizes", "plan"], 1, "computes with compiled kernels, and the package was installed without"),
    ],
)  # fmt: skip
def test_each_command_runs_or_refuses_by_name(alone, arguments, code, said):
    done = run(alone, *arguments)
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_it_carries_what_commands_read_and_no_recording(alone):
    carried = alone / "installed" / "engineroom" / "share" / "data"
    assert (carried / "servers.toml").is_file()
    assert not (carried / "recorded").exists()
