"""A pytest plugin: what each test costs, as a table at the end of a run and in full in `_build/test-times.csv`.

A test has two costs: the seconds that it took, and the processor's seconds of this process and of those that it started
and waited for. The second is what a test costs on a machine that does other things too. With pytest-xdist each worker
measures its own tests, and the process that gave them out adds up.
"""

from __future__ import annotations

import csv
import resource
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from engineroom import chapters, paths

__all__ = ["CHAPTER_BUDGET_S", "Cost", "table", "write"]

CHAPTER_BUDGET_S = 120  # of all tests of a chapter, one after the other; CONTRIBUTING says so
SHARED = "shared"  # by several chapters, or of none
SLOWEST = 20


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
        self._at = _cpu_seconds()

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


def _words() -> list[str]:
    return [chapter.word for chapter in chapters.book().chapters]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--times", action="store_true", help="end with a table of the slowest tests and of each chapter"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--times"):
        config.pluginmanager.register(_Measures())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(_Tells())
