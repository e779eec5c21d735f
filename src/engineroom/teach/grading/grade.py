"""All notebooks of a folder of submissions, each in processes of its own, with a journal to go on from."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import queue
import secrets as chance
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import refused
from engineroom.teach.grading.jail import Limits
from engineroom.teach.grading.sandbox import Sandbox
from engineroom.teach.grading.submissions import Given, Handouts, Submission, answer_cells

__all__ = ["PARTIAL", "Result", "grade", "journal_of", "read_journal", "secrets"]

Key = tuple[str, str, str]  # student, chapter, question
SAID = ("name", "said", "shown", "given", "hidden", "looks_like")  # of a test that failed
PARTIAL = 0.25  # of the points, at most, for an answer that fails a test


@dataclass(frozen=True)
class Work:
    """One student's notebook, as the cells to run, and what its results depend on."""

    student: str
    given: Given
    cells: list[dict[str, str]]
    digest: str

    @property
    def keys(self) -> list[Key]:
        return [(self.student, self.given.chapter, question) for question in self.given.questions]


@dataclass(frozen=True)
class Result:
    """What one question of one student earned, and why not all of it."""

    student: str
    chapter: str
    question: str
    points: float
    most: float
    failures: list[dict[str, Any]]
    note: str
    digest: str


def journal_of(out: Path) -> Path:
    """The file beside `out` that keeps each result as soon as it is there."""
    return out.with_name(out.name + ".journal")


def grade(
    submissions: list[Submission],
    handouts: Handouts,
    *,
    out: Path,
    hidden: list[Path],
    limits: Limits,
    jobs: int,
    isolation: str = "auto",
) -> tuple[list[Result], str]:
    """The results of all questions, in order, and the isolation that was used. What the journal has is not graded again.

    All answers of a journal meet the same inputs, drawn when it was begun. So notebooks that are the same, as those that
    nobody has changed, are graded once.
    """
    seed = _seed_of(journal_of(out))
    conditions = json.dumps([asdict(limits), seed, SAID])
    works = []
    for each in submissions:
        if not each.fault and (given := handouts.of(each.student, each.chapter)):
            cells = answer_cells(given, each)
            works.append(Work(each.student, given, cells, _digest(cells, given, conditions)))
    kept = read_journal(journal_of(out))
    done: dict[Key, Result] = {}
    left: dict[str, list[Work]] = {}
    for work in works:
        if all(key in kept and kept[key].digest == work.digest for key in work.keys):
            done |= {key: kept[key] for key in work.keys}
        else:
            left.setdefault(work.digest, []).append(work)

    chapters = handouts.chapters()
    modules = [f"engineroom.chapters.{chapter}.exercises" for chapter in chapters]
    tests = "\n".join(test for each in chapters.values() for test in each.tests.values())
    idle: queue.Queue[Sandbox] = queue.Queue()
    with contextlib.ExitStack() as stack, journal_of(out).open("a") as journal:
        sandboxes = [
            stack.enter_context(Sandbox(modules, hidden, limits, isolation, tuple(refused.named(tests))))
            for _ in range(max(1, min(jobs, len(left))))
        ]
        for sandbox in sandboxes:
            idle.put(sandbox)

        def one(work: Work) -> list[Result]:
            sandbox = idle.get()
            try:
                return _graded(sandbox, work, limits, seed)
            finally:
                idle.put(sandbox)

        pool = stack.enter_context(ThreadPoolExecutor(len(sandboxes)))
        futures = {pool.submit(one, same[0]): same for same in left.values()}
        try:
            for future in progress.bar(
                as_completed(futures), total=len(futures), desc="Notebooks", unit="notebook"
            ):
                try:
                    results = future.result()
                except (OSError, EOFError) as error:
                    raise EngineRoomError(
                        "a grading process was ended from outside, perhaps for want of memory",
                        remedy="run the same command again: it goes on from the journal; fewer --jobs take less memory",
                    ) from error
                for work in futures[future]:
                    for key, result in zip(work.keys, results, strict=True):
                        done[key] = replace(result, student=work.student)
                        journal.write(json.dumps(asdict(done[key])) + "\n")
                journal.flush()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.stop()
            raise
        used = sandboxes[0].isolation
    return [done[key] for work in works for key in work.keys], used


def _graded(sandbox: Sandbox, work: Work, limits: Limits, seed: int) -> list[Result]:
    given = work.given
    order = {
        "cells": work.cells,
        "questions": [
            {
                "name": question,
                "given": given.cells[question],
                "answers": given.answers[question],
                "test": given.tests[question],
            }
            for question in given.questions
        ],
        "memory_mib": limits.memory_mib,
        "wall_seconds": limits.wall_seconds,
        "seed": seed,
    }
    said, is_late = sandbox.ask(order)
    cut = "the notebook took too long" if is_late else "the grading process ended early"
    return [_result(work, key, said.get(key[2], {}), cut, limits) for key in work.keys]


def _result(work: Work, key: Key, said: dict[str, Any], cut: str, limits: Limits) -> Result:
    test, most = work.given.tests[key[2]], work.given.points[key[2]]
    cases = {case["name"]: case for case in said.get("cases", [])}
    notes = list(said.get("said", []))
    if said.get("is_unanswered") and not notes:
        notes.append("no answer was found")
    names = [node.name for node in ast.parse(test).body if isinstance(node, ast.FunctionDef)]
    failures = [{k: case[k] for k in SAID} for case in cases.values() if not case["passed"]]
    missing = [name for name in names if name not in cases]
    if said.get("is_late"):
        cut = f"it took longer than {limits.wall_seconds:g} seconds by the clock"
    if said.get("is_late") or missing:
        notes.append(cut)
    if any("its process ended" in each["said"] for each in failures):
        notes.append(said["ended"])
    failures += [
        {
            "name": name,
            "said": notes[-1],
            "shown": cut,
            "given": "",
            "hidden": f"hidden=True)\ndef {name}" in test,
            "looks_like": [],
        }
        for name in missing
    ]
    passed = sum(case["passed"] for case in cases.values())
    return Result(*key, _points(most, passed, len(names)), most, failures, "; ".join(notes), work.digest)


def _points(most: float, passed: int, tests: int) -> float:
    """All of them for an answer that passes every test; any other is wrong, and has `PARTIAL` of them at most."""
    if not tests:
        return 0.0
    return most if passed == tests else round(PARTIAL * most * passed / tests, 4)


def secrets(class_folder: Path, submissions: Path, out: Path) -> list[Path]:
    """What no answer may read: tests, solutions, other answers, results."""
    found = [class_folder, submissions, out, journal_of(out)]
    with contextlib.suppress(EngineRoomError, OSError):
        root = paths.root()
        if root == paths.CARRIED:  # a wheel has none of these
            return [each.resolve() for each in found]
        found += [root / "notebooks", root / "tests", root / ".git", root / "book"]
        # The built book shows the solutions, too; the kernels are needed.
        found += [each for each in (root / "_build").glob("*") if each.name != "native"]
    return [each.resolve() for each in found]


def read_journal(file: Path) -> dict[Key, Result]:
    """What was finished; a last line that was cut off is left out."""
    found = {}
    if file.exists():
        for line in file.read_text(errors="replace").splitlines():
            try:
                result = Result(**json.loads(line))
            except (ValueError, TypeError):
                continue
            found[result.student, result.chapter, result.question] = result
    return found


def _seed_of(journal: Path) -> int:
    """What the inputs follow from: in the first line of the journal, which no answer can read."""
    kept = journal.read_text(errors="replace") if journal.exists() else ""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return int(json.loads(kept.partition("\n")[0])["seed"])
    seed = chance.randbits(62)
    journal.write_text(json.dumps({"seed": seed}) + "\n" + kept)
    return seed


def _digest(cells: list[dict[str, str]], given: Given, conditions: str) -> str:
    said = [cells, given.chapter, given.cells, given.answers, given.tests, given.points, conditions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
