"""The same source, the same seed, the same trace: on every compiler, at every optimisation level, and in WebAssembly."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engineroom import chapters, paths

pytestmark = pytest.mark.slow  # the machine is compiled for them
# clients, sockets, cores a socket, work, hold, fsyncs, microseconds, seed, random schedule
RUNS = (
    (2, 1, 2, 100, 100, 0, 2000, 1, 0),
    (64, 4, 8, 5000, 300, 0, 2000, 2, 0),
    (16, 1, 4, 20000, 500, 1, 5000, 3, 0),
    (12, 2, 2, 3000, 1000, 1, 5000, 4, 1),
)
ARGUMENTS = [str(number) for run in RUNS for number in run]
WASM = "book/web/explorables/machine.wasm"


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return compiled_and_run(tmp_path_factory.mktemp("reference"), "g++", "-O2")


def compiled_and_run(folder: Path, compiler: str, level: str) -> list[str]:
    """All sources as one: most of a compiler's time goes to the headers that each of them has."""
    program = folder / "runs"
    native = paths.root() / "native"
    module = next(each for each in chapters.modules() if each.word == "machine")
    sources = [file for file in module.files(native) if not file.startswith("wasm/small/")]
    whole = "".join(f'#include "{file}"\n' for file in sources)
    command = [
        compiler,
        "-std=c++20",
        level,
        "-Inative",
        "-Inative/kernels",
        "-x",
        "c++",
        "-",
        "-o",
        str(program),
    ]
    subprocess.run(command, cwd=paths.root(), input=whole, check=True, capture_output=True, text=True)
    return lines([str(program), *ARGUMENTS])


def lines(command: list[str]) -> list[str]:
    done = subprocess.run(command, cwd=paths.root(), check=True, capture_output=True, text=True)
    return [line.strip() for line in done.stdout.splitlines()]


def test_the_reference_runs_did_something(reference):
    events = [int(line.split()[1]) for line in reference]
    assert len(events) == len(RUNS)
    assert min(events) > 300
    assert len({line.split()[0] for line in reference}) == len(RUNS)


@pytest.mark.parametrize(
    ("compiler", "level"),
    [("g++", "-O1"), ("g++", "-O3"), ("clang++-19", "-O2")],
)
def test_every_compiler_and_level_gives_the_same_trace(reference, tmp_path, compiler, level):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    assert compiled_and_run(tmp_path, compiler, level) == reference


def test_webassembly_gives_the_same_trace(reference):
    assert shutil.which("node"), "the explorables need Node"
    assert lines(["node", "native/wasm/runs.mjs", WASM, *ARGUMENTS]) == reference
