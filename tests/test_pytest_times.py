"""Tests on several workers: one marked `alone` is, a file's stay together, and the table at the end says what all cost."""

from __future__ import annotations

import csv
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engineroom import paths
from engineroom.pytest_times import CHAPTER_BUDGET_S, Cost, Progress, read_seconds, table, write

TESTS = """
import os, time
import pytest

@pytest.fixture
def ran(request):
    since = time.monotonic()
    yield
    with open("{log}", "a") as log:
        log.write(f"{{request.node.name}} {{since}} {{time.monotonic()}} {{os.getpid()}}\\n")

@pytest.mark.parametrize("n", range(8))
def test_{name}_beside(ran, n):
    sum(range(500_000))

@pytest.mark.alone
@pytest.mark.parametrize("n", range(2))
def test_{name}_alone(ran, n):
    time.sleep(0.05)
"""


@pytest.mark.slow
def test_workers_share_the_tests_and_tell_what_they_cost(tmp_path: Path):
    log = tmp_path / "log"
    (tmp_path / "data/published").mkdir(parents=True)
    shutil.copy(paths.root() / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path / "tests")
    for name in ("redo_log", "others"):
        (tmp_path / f"tests/test_{name}.py").write_text(TESTS.format(log=log, name=name))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "--dist",
            "loadfile",
            "--no-loadscope-reorder",
            "--times",
            "--progress",
        ],
        cwd=tmp_path,
        env={**os.environ, "ENGINEROOM_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"20 passed in .*", done.stdout.splitlines()[-1])
    assert re.search(r"^ +\d+\.\d +\d+\.\d  redo_log$", done.stdout, re.MULTILINE)

    runs = [line.split() for line in log.read_text().splitlines()]
    spans = sorted((float(since), float(until), name) for name, since, until, _ in runs)
    for (_, until, one), (since, _, other) in itertools.pairwise(spans):
        assert "alone" not in one + other or until <= since
    workers = [{worker for test, *_, worker in runs if name in test} for name in ("redo_log", "others")]
    assert len(workers[0]) == len(workers[1]) == 1
    assert workers[0] != workers[1]

    rows = list(csv.DictReader((tmp_path / "_build/test-times.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert all(float(row["cpu_seconds"]) > 0 for row in rows if "beside" in row["test"])


def test_the_table_names_the_chapters_over_their_budget():
    costs = {
        "tests/kernels/test_redo_log.py::test_a": Cost(CHAPTER_BUDGET_S - 1, 2),
        "tests/kernels/test_redo_log.py::test_b": Cost(2, 1),
        "tests/book/test_pages.py::test_c[hash_join]": Cost(CHAPTER_BUDGET_S - 1, 1),
        "tests/test_runs.py::test_d": Cost(1000, 1),
    }
    lines = table(costs, ["redo_log", "hash_join"])
    over = [line for line in lines if "over the budget" in line]
    assert [line.split()[2] for line in over] == ["redo_log"]
    assert lines[-1].split() == ["1240.0", "5.0", "all", "4", "tests"]


def test_a_chapters_tests_are_those_that_have_its_word():
    costs = {
        "tests/kernels/test_hash_join_fast.py::test_a[join_order]": Cost(1, 1),
        "tests/facts/test_join_order.py::test_b": Cost(2, 2),
        "tests/test_doctor.py::test_joins": Cost(4, 4),
    }
    words = ["join", "hash_join", "join_order"]
    chapters = table(costs, words)[table(costs, words).index("chapters:") + 1 : -1]
    assert {line.split()[2]: float(line.split()[0]) for line in chapters} == {
        "hash_join": 1, "join_order": 2, "shared": 4,
    }  # fmt: skip


def test_every_test_is_written_the_slowest_first(tmp_path: Path):
    write({"a": Cost(1, 0.5), "b": Cost(2, 0.25)}, tmp_path / "_build/times.csv")
    text = (tmp_path / "_build/times.csv").read_text()
    assert text.splitlines() == ["test,seconds,cpu_seconds", "b,2.000,0.250", "a,1.000,0.500"]


def test_progress_is_the_share_of_the_seconds_that_tests_took_the_last_time(tmp_path: Path):
    write({"slow": Cost(6, 1), "quick": Cost(2, 1), "gone": Cost(1, 1)}, tmp_path / "times.csv")
    progress = Progress(read_seconds(tmp_path / "times.csv"))
    progress.found(["slow", "quick", "new"])
    progress.started("slow", 10.0)
    progress.started("quick", 11.0)
    assert progress.line(15.0) == "0% of the work, 0 of 3 tests; for 5 s: slow"
    progress.ended("slow")
    assert progress.line(20.0) == "55% of the work, 1 of 3 tests; for 9 s: quick"  # a new one is taken as 3 s
    progress.ended("quick")
    progress.ended("new")
    assert progress.line(21.0) == "100% of the work, 3 of 3 tests"


def test_without_an_earlier_run_all_tests_count_alike(tmp_path: Path):
    progress = Progress(read_seconds(tmp_path / "none.csv"))
    assert progress.line(1.0) == "0% of the work, 0 of 0 tests"
    progress.found(["a", "b"])
    progress.ended("a")
    assert progress.line(1.0) == "50% of the work, 1 of 2 tests"
