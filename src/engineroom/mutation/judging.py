"""Every mutant against the native tests, the quickest first, until one of them fails.

A test is tried only against what it reaches. Its limits are CPU time and memory of the sound run, many times over: what the computer
does besides is no reason to fail.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from engineroom.errors import EngineRoomError
from engineroom.progress import bar

__all__ = ["Judgement", "SoundTest", "judge_all", "sound_tests"]

_MEMORY_BYTES = 4 << 30
_TIMES_SOUND = 10


@dataclass(frozen=True)
class SoundTest:
    """A native test, what it took when nothing was wrong, and the mutants whose place it came by."""

    name: str
    cpu_s: float
    elapsed_s: float
    reaches: frozenset[int]


@dataclass(frozen=True)
class Judgement:
    """Which test failed with a mutant, and how; nothing when all that reach it passed."""

    killed_by: str
    how: str
    tests: int


def sound_tests(program: Path, jobs: int) -> list[SoundTest]:
    """Run every test of `program` without a mutant. Raises EngineRoomError when one fails."""
    listed = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True, check=True
    ).stdout
    names, suite = [], ""
    for line in listed.splitlines()[1:]:
        if line.startswith(" "):
            names.append(suite + line.split("#")[0].strip())
        else:
            suite = line.split("#")[0].strip()
    with ThreadPoolExecutor(jobs) as executor, tempfile.TemporaryDirectory() as scratch:
        tried = [
            executor.submit(_sound, program, name, Path(scratch, str(i))) for i, name in enumerate(names)
        ]
        return [one.result() for one in bar(tried, desc="sound tests")]


def _sound(program: Path, name: str, reached: Path) -> SoundTest:
    code, cpu_s, elapsed_s = _run(program, name, {"MUTANTS_REACHED": str(reached)}, 600, 1200)
    if code:
        raise EngineRoomError(
            f"the native test {name} fails without a mutant",
            remedy="mend it first: what a failing test says about mutants means nothing",
        )
    return SoundTest(name, cpu_s, elapsed_s, frozenset(int(n) for n in reached.read_text().split()))


def judge_all(
    program: Path, numbers: Sequence[int], tests: Sequence[SoundTest], jobs: int
) -> Iterator[tuple[int, Judgement]]:
    """Try each mutant, `jobs` at a time; gives their numbers and judgements as they come."""
    with ThreadPoolExecutor(jobs) as executor:
        tried = {executor.submit(_judge, program, number, tests): number for number in numbers}
        for one in bar(as_completed(tried), total=len(tried), desc="mutants"):
            yield tried[one], one.result()


def _judge(program: Path, number: int, tests: Sequence[SoundTest]) -> Judgement:
    fitting = sorted((test for test in tests if number in test.reaches), key=lambda test: test.cpu_s)
    for count, test in enumerate(fitting, start=1):
        cpu_limit_s = _TIMES_SOUND * test.cpu_s + 1
        code, cpu_s, _ = _run(
            program, test.name, {"MUTANT": str(number)}, cpu_limit_s, 60 + 20 * test.elapsed_s
        )
        if code:
            how = (
                "fails"
                if code == 1
                else "takes too long"
                if cpu_s >= cpu_limit_s or code == _LATE
                else "crashes"
            )
            return Judgement(test.name, how, count)
    return Judgement("", "", len(fitting))


_LATE = 999


def _run(
    program: Path, test: str, environment: dict[str, str], cpu_limit_s: float, limit_s: float
) -> tuple[int, float, float]:
    """Exit code, CPU and elapsed time of one test in a process of its own."""
    limits = [f"--cpu={math.ceil(cpu_limit_s)}", f"--as={_MEMORY_BYTES}", "--core=0"]
    start = time.monotonic()
    process = subprocess.Popen(
        ["nice", "prlimit", *limits, program, f"--gtest_filter={test}", "--gtest_fail_fast"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    code = _LATE
    deadline = start + limit_s
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            process.returncode = code
            break
        if time.monotonic() > deadline:
            process.kill()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = code
            break
        time.sleep(0.002)
    return code, usage.ru_utime + usage.ru_stime, time.monotonic() - start
