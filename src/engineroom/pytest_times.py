"""A pytest plugin: what each test costs, as a table at the end of a run and in full in `_build/test-times.csv`, and how far it is.

A test has two costs: the seconds that it took, and the processor's seconds of this process and of those that it started
and waited for. The second is what a test costs on a machine that does other things too. With pytest-xdist each worker
measures its own tests, and the process that gave them out adds up.
"""

from __future__ import annotations

import csv
import resource
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from engineroom import chapters, paths

__all__ = ["CHAPTER_BUDGET_S", "Cost", "Progress", "read_seconds", "table", "write"]

CHAPTER_BUDGET_S = 120  # of all tests of a chapter, one after the other; CONTRIBUTING says so
SHARED = "shared"  # by several chapters, or of none
SLOWEST = 20
SAYS_EVERY_S = 30


@dataclass(frozen=True)
class Cost:
    """What a test took, or several together."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)


def table(costs: dict[str, Cost], words: Iterable[str], *, slowest: int = SLOWEST) -> list[str]:
    """Lines for a reader: the slowest files and tests, then each chapter and whether it keeps its budget."""
    words = list(words)
    of_file, of_chapter = defaultdict[str, Cost](Cost), defaultdict[str, Cost](Cost)
    for test, cost in costs.items():
        of_file[test.partition("::")[0]] += cost
        of_chapter[_chapter(test, words)] += cost
    lines = ["  seconds  of CPU"]
    for title, named in (("slowest files", of_file), ("slowest tests", costs), ("chapters", of_chapter)):
        lines.append(f"{title}:")
        ranked = sorted(named.items(), key=lambda item: item[1].seconds, reverse=True)
        for name, cost in ranked[: None if named is of_chapter else slowest]:
            is_over = name in words and cost.seconds > CHAPTER_BUDGET_S
            warning = f"  over the budget of {CHAPTER_BUDGET_S} s, see CONTRIBUTING" if is_over else ""
            lines.append(f"{cost.seconds:9.1f} {cost.cpu_seconds:7.1f}  {name}{warning}")
    everything = sum(costs.values(), Cost())
    lines.append(f"{everything.seconds:9.1f} {everything.cpu_seconds:7.1f}  all {len(costs)} tests")
    return lines


def write(costs: dict[str, Cost], path: Path) -> None:
    """Every test with its costs, the slowest first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["test", "seconds", "cpu_seconds"])
        for test, cost in sorted(costs.items(), key=lambda item: item[1].seconds, reverse=True):
            rows.writerow([test, f"{cost.seconds:.3f}", f"{cost.cpu_seconds:.3f}"])


def read_seconds(path: Path) -> dict[str, float]:
    """What each test took when `path` was written; nothing without such a file."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


class Progress:
    """How much of the work is done, in the seconds that the tests took the last time.

    The slow ones come first: by the number of tests a run would seem to stand still for half of its time.
    """

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._mean_s = fmean(seconds.values()) if seconds else 1.0
        self._tests: frozenset[str] = frozenset()
        self._total_s = 0.0
        self._done: set[str] = set()
        self._done_s = 0.0
        self._since: dict[str, float] = {}

    def found(self, tests: Iterable[str]) -> None:
        """The tests that will run; each worker finds the same."""
        self._tests = frozenset(tests)
        self._total_s = sum(map(self._of, self._tests))

    def started(self, test: str, at_s: float) -> None:
        self._since[test] = at_s

    def ended(self, test: str) -> None:
        self._since.pop(test, None)
        if test not in self._done:
            self._done.add(test)
            self._done_s += self._of(test)

    def line(self, now_s: float) -> str:
        """One line for a reader: the share done, and the test that runs for the longest time."""
        share = self._done_s / self._total_s if self._total_s else 0.0
        said = f"{share:.0%} of the work, {len(self._done)} of {len(self._tests)} tests"
        running = dict(self._since)
        if running:
            longest = min(running, key=running.__getitem__)
            said += f"; for {now_s - running[longest]:.0f} s: {longest}"
        return said

    def _of(self, test: str) -> float:
        return self._seconds.get(test, self._mean_s)


def _chapter(test: str, words: Iterable[str]) -> str:
    """The chapter whose word stands in a test's file or parameters, in the file first."""
    file, _, rest = test.partition("::")
    for part in (file, rest.partition("[")[2]):
        found = [word for word in words if word in part]
        if found:
            return max(found, key=len)
    return SHARED


def _cpu_seconds() -> float:
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


class _Measures:
    """In the process that runs the tests: what each of a test's phases cost the processor goes with its report."""

    def __init__(self) -> None:
        self._at = 0.0

    def pytest_runtestloop(self) -> None:
        self._at = _cpu_seconds()  # to find the tests is no test's cost

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._at = self._at, _cpu_seconds()
        report.cpu_seconds = self._at - before  # type: ignore[attr-defined]
        return report


class _Tells:
    """In the process that the user started: adds up, and tells at the end."""

    def __init__(self) -> None:
        self._costs = defaultdict[str, Cost](Cost)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._costs[report.nodeid] += Cost(report.duration, getattr(report, "cpu_seconds", 0.0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        path = paths.build() / "test-times.csv"
        write(self._costs, path)
        terminalreporter.section("what the tests cost")
        for line in table(self._costs, _words()):
            terminalreporter.line(line)
        terminalreporter.line(f"every test: {path.relative_to(paths.root())}")


class _TellsHowFar:
    """In the process that the user started: a line every half minute, also while nothing ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._progress = Progress(read_seconds(paths.build() / "test-times.csv"))
        self._over = threading.Event()
        self._start_s = time.monotonic()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def pytest_sessionstart(self) -> None:
        self._thread.start()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._progress.found(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self._progress.found(item.nodeid for item in session.items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._progress.started(nodeid, time.monotonic())

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._progress.ended(nodeid)

    def pytest_sessionfinish(self) -> None:
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        while not self._over.wait(SAYS_EVERY_S):
            now_s = time.monotonic()
            reporter.write(f"\n{(now_s - self._start_s) / 60:.1f} min: {self._progress.line(now_s)}\n")


def _words() -> list[str]:
    return [chapter.word for chapter in chapters.book().chapters]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--times", action="store_true", help="end with a table of the slowest tests and of each chapter"
    )
    parser.addoption(
        "--progress", action="store_true", help="say every half minute how much of the work is done"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--progress") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_TellsHowFar(config))
    if config.getoption("--times"):
        config.pluginmanager.register(_Measures())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(_Tells())
