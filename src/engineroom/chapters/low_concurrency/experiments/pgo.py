"""Builds the chapter's kernels three times, plain and with two profiles, and measures each build on two workloads.

The program is native/kernels/low_concurrency/pgo.cpp. A profile comes from one workload; measuring on the other says what it is worth where
nobody trained it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom.chapters.low_concurrency.experiments.designs import FATAL_PATHS
from engineroom.errors import EngineRoomError
from engineroom.measuring import callgrind, instructions
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting

WORKLOADS = ("narrow", "wide")
BUILDS = ("plain", "trained on narrow", "trained on wide")
FLAGS = ("-std=c++20", "-O2")
_CHAPTER = "low_concurrency"
# Enough for every number to be of milliseconds.
_TRAINING_SCALE, _SCALE = 20, 10
# The fields of a narrow row (native/kernels/low_concurrency/pgo.cpp), which the join of the sources' figures is made of.
_FIELDS = 5
_JOIN_ROWS = 1_000_000


def _compiler() -> str:
    found = os.environ.get("CXX") or shutil.which("g++")
    if not found:
        raise EngineRoomError(
            "there is no g++, and profiles of other compilers differ",
            remedy="apt-get install g++, or set CXX",
        )
    return found


def _sources(root: Path) -> list[Path]:
    found = sorted((root / "native" / "kernels" / _CHAPTER).glob("*.cpp"))
    kernels = [path for path in found if path.stem not in ("binding", "wasm")]  # pgo.cpp is among them
    commit = [root / "native" / "kernels" / "redo_log" / f"{name}.cpp" for name in ("block", "commit_cost")]
    return [*kernels, *commit]


def _build(folder: Path, program: str, *flags: str) -> Path:
    root = paths.root()
    target = folder / program
    _run(
        [
            _compiler(),
            *FLAGS,
            *flags,
            f"-I{root / 'native'}",
            f"-I{root / 'native' / 'kernels'}",
            *map(str, _sources(root)),
            "-pthread",
            "-o",
            str(target),
        ],
        folder,
    )
    return target


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EngineRoomError(
            f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()[-2000:]}",
            remedy="the profile-guided builds need g++ 12 or later: engineroom doctor",
        )
    return done.stdout


def _builds(folder: Path) -> dict[str, Path]:
    made = {"plain": _build(folder, "plain")}
    trained = _build(folder, "program", "-fprofile-generate", "-fprofile-update=single")
    for workload in bar(WORKLOADS, desc="profile-guided builds", unit="build"):
        # A profile is found by the name of the object, beside it: each build has a folder of its own.
        own = folder / workload
        own.mkdir()
        _run([str(trained), workload, str(_TRAINING_SCALE)], folder)
        for profile in folder.glob("*.gcda"):
            profile.rename(own / profile.name)
        made[f"trained on {workload}"] = _build(
            own, "program", "-fprofile-use", "-fprofile-correction", "-Wno-missing-profile"
        )
    return made


# The designs of the redo log, as the recordings name a commit's variants.
_RECORDED = {"5.7": "mtr_5_7", "8.0": "mtr_8_0"}


def pgo_kernel(*, repeats: int = 9) -> Run:
    """CPU nanoseconds per operation of each kernel, by build and workload; builds take turns."""
    rows = []
    with Sitting("kernel", seed=1) as sitting, tempfile.TemporaryDirectory() as scratch:
        programs = _builds(Path(scratch))
        for repeat, workload, build in in_turns(repeats, WORKLOADS, BUILDS, desc="profile-guided builds"):
            for line in _run([str(programs[build]), workload, str(_SCALE)], Path(scratch)).splitlines():
                kernel, variant, cpu_ns, operations = line.split()
                variant = _RECORDED.get(variant, variant)
                rows.append(
                    {
                        "workload": workload,
                        "kernel": kernel,
                        "variant": variant,
                        "series": build,
                        "repeat": repeat,
                        "cpu_ns": int(cpu_ns) / int(operations),
                    }
                )
        version = _run([_compiler(), "--version"], Path(scratch)).splitlines()[0]
    return sitting.run(
        "own-low-concurrency-pgo",
        rows,
        compiler=version,
        flags=" ".join(FLAGS),
        summary="min",
        columns={
            "workload": "what was measured: narrow rows of integers, or wide rows with texts and row versions",
            "kernel": "which kernel",
            "variant": "which variant of it",
            "series": "the build: plain, or with the profile of one workload",
            "cpu_ns": "CPU time of the thread over operations (rows, records or fields), nanoseconds",
        },
    )


# What a row of a join takes, in either build: its offsets, and a conversion of each field.
_PATHS = {
    "stock": ("plain", "inline_stream"),
    "optimized": ("trained on narrow", "cold_call"),
}


def join_counted() -> Run:
    """Figure 4 in instructions of the same row path. They say nothing of branches, which a profile moves as well.

    Not figure 3: beside a log writer, what a commit executes depends on how Valgrind lets the two run in turns. Nor the statement on joins,
    which asks for calls per second.
    """
    rows: list[dict[str, Any]] = []
    with Sitting("instructions", seed=1) as sitting, tempfile.TemporaryDirectory() as scratch:
        programs = _builds(Path(scratch))
        for build, (program, path) in _PATHS.items():
            for repeat in range(2):
                offsets, field = (
                    _counted(programs[program], kernel)
                    for kernel in ("record_offsets/v80", f"field_store/{path}")
                )
                row = offsets + _FIELDS * field
                rows.append(
                    {
                        "build": build,
                        "series": "join_time",
                        "repeat": repeat,
                        "instructions": _JOIN_ROWS * row,
                    }
                )
    columns = {
        "build": "which side of the comparison",
        "instructions": f"of the row path of a join of {_JOIN_ROWS} rows of {_FIELDS} integers",
    }
    return sitting.run("fig-deg-4", rows, summary="min", flags=" ".join(FLAGS), columns=columns)


def _counted(program: Path, kernel: str) -> float:
    """Instructions of a kernel per operation: what a larger scale adds, so that the program's start is not among them."""
    seen = []
    for scale in (1, 3):
        with tempfile.TemporaryDirectory() as folder:
            said = _run(
                [
                    *instructions.valgrind(Path(folder), from_start=True),
                    str(program),
                    "narrow",
                    str(scale),
                    kernel,
                ],
                Path(folder),
            )
            parts = [part for file in Path(folder).glob("counts-*") for part in callgrind.read(file)]
        seen.append((sum(part.totals[0] for part in parts), int(said.split()[3])))
    (few, n), (many, m) = seen
    return (many - few) / (m - n)


def source_figures_kernel(run: Run | None = None) -> list[Run]:
    """Figures 3 and 4 of the degradation article and its gain on joins, as far as the isolated causes carry them.

    A row of a bulk insert is parsed into its list and committed as one mini-transaction. `older` is the plain build with the list and
    the commit of 5.7; `newer_optimized` is the trained build with the list and the commit of 8.0. A row of a join has its offsets
    found and its fields converted. `stock` is the plain build with the fatal path in place; `optimized` is the trained build with
    it moved out. Training and measuring are on the same workload, as in the source.
    """
    run = run or pgo_kernel()
    narrow = run.table[run.table["workload"] == "narrow"]
    ns: pd.Series[float] = narrow.set_index(["series", "kernel", "variant", "repeat"])["cpu_ns"]
    bulk: list[dict[str, Any]] = []
    join: list[dict[str, Any]] = []
    rate: list[dict[str, Any]] = []
    for repeat in sorted(set(narrow["repeat"])):
        for name, build, commit in (
            ("older", "plain", "mtr_5_7"),
            ("newer_optimized", "trained on narrow", "mtr_8_0"),
        ):
            row_ns = ns[build, "insert_values", "list_5_7", repeat] + ns[build, "mtr_commit", commit, repeat]
            bulk.append(
                {
                    "build": name,
                    "series": "bulk_insert",
                    "repeat": repeat,
                    "statements_per_second": 1e9 / row_ns / 10_000,
                }
            )
        for name, build, path in (
            ("stock", "plain", "inline_stream"),
            ("optimized", "trained on narrow", "cold_call"),
        ):
            row_ns = (
                ns[build, "record_offsets", "v80", repeat] + _FIELDS * ns[build, "field_store", path, repeat]
            )
            join.append(
                {"build": name, "series": "join_time", "repeat": repeat, "seconds": _JOIN_ROWS * row_ns / 1e9}
            )
            rate.append(
                {"build": name, "series": "join_rate", "repeat": repeat, "value": 1e9 / (_JOIN_ROWS * row_ns)}
            )
            if name == "stock":
                rate.append(
                    {
                        "build": name,
                        "series": "hot_calls_per_second",
                        "repeat": repeat,
                        "value": 1e9 * _FIELDS / row_ns,
                    }
                )
    columns = {
        "build": "which side of the comparison",
        "seconds": f"CPU time of the row path of a join of {_JOIN_ROWS} rows of {_FIELDS} integers, seconds",
        "statements_per_second": "INSERTs of 10000 rows over seconds of CPU time of the row path",
        "value": "joins, or conversions of a field, over seconds of CPU time of the row path",
    }
    return [
        Run(
            figure=figure,
            method="kernel",
            table=pd.DataFrame(table),
            provenance=run.provenance,
            summary="min" if figure == "fig-deg-4" else "max",
            columns=columns,
        )
        for figure, table in (("fig-deg-3", bulk), ("fig-deg-4", join), ("num-deg-2", rate))
    ]


def code_sizes() -> pd.DataFrame:
    """Bytes of machine code of the conversion in each variant of the fatal path, at the server's optimisation level."""
    root = paths.root()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for variant in FATAL_PATHS:
            target = Path(scratch) / f"{variant}.o"
            source = root / "native" / "kernels" / _CHAPTER / f"field_store_{variant}.cpp"
            include = [f"-I{root / 'native'}", f"-I{root / 'native' / 'kernels'}"]
            _run([_compiler(), *FLAGS, *include, "-c", str(source), "-o", str(target)], Path(scratch))
            hot = cold = 0
            for line in _run(["nm", "-S", "-C", str(target)], Path(scratch)).splitlines():
                found = re.fullmatch(r"[0-9a-f]+ ([0-9a-f]+) [tTW] (.*(?:store_|check|fail).*)", line)
                if found and (found[2].endswith(("[clone .cold]", ".cold")) or "fail(" in found[2]):
                    cold += int(found[1], 16)
                elif found:
                    hot += int(found[1], 16)
            rows.append({"variant": variant, "hot_bytes": hot, "cold_bytes": cold})
    return pd.DataFrame(rows)
