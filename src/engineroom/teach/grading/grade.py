"""All questions of a folder of submissions, each in processes of its own, with a journal to go on from."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import queue
import secrets as chance
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach.grading.jail import Limits
from engineroom.teach.grading.sandbox import Sandbox
from engineroom.teach.grading.submissions import Given, Handouts, Submission, answer_cells

__all__ = ["PARTIAL", "Result", "grade", "journal_of", "read_journal", "secrets"]

Key = tuple[str, str, str]  # student, chapter, question
SAID = ("name", "said", "shown", "given", "hidden", "looks_like")  # of a test that failed
PARTIAL = 0.25  # of the points, at most, for an answer that fails a test


@dataclass(frozen=True)
class Work:
    """One question of one student, with the cells to run for it and what its result depends on."""

    key: Key
    given: Given
    cells: list[dict[str, str]]
    digest: str


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

    All answers of a journal meet the same inputs, drawn when it was begun. So those that are the same, as what nobody has
    changed in a handout is, are graded once.
    """
    seed = _seed_of(journal_of(out))
    conditions = json.dumps([asdict(limits), seed, SAID])
    wanted = [
        (each, given, question)
        for each in submissions
        if not each.fault and (given := handouts.of(each.student, each.chapter))
        for question in given.questions
    ]
    kept = read_journal(journal_of(out))
    done: dict[Key, Result] = {}
    left: dict[Key, list[Work]] = {}
    for submission, given, question in wanted:
        cells = answer_cells(given, submission, question)
        digest = _digest(cells, given, question, conditions)
        key = (submission.student, given.chapter, question)
        if key in kept and kept[key].digest == digest:
            done[key] = kept[key]
        else:
            left.setdefault((given.chapter, question, digest), []).append(Work(key, given, cells, digest))

    modules = [f"engineroom.chapters.{chapter}.exercises" for chapter in handouts.chapters()]
    covered = [each for each in hidden if _can_hide(each)]  # of the book's own files; no others are there
    idle: queue.Queue[Sandbox] = queue.Queue()
    with contextlib.ExitStack() as stack, journal_of(out).open("a") as journal:
        sandboxes = [
            stack.enter_context(Sandbox(modules, covered, limits, isolation))
            for _ in range(max(1, min(jobs, len(left))))
        ]
        for sandbox in sandboxes:
            idle.put(sandbox)

        def one(work: Work) -> Result:
            sandbox = idle.get()
            try:
                return _graded(sandbox, work, limits, seed)
            finally:
                idle.put(sandbox)

        pool = stack.enter_context(ThreadPoolExecutor(len(sandboxes)))
        futures = {pool.submit(one, same[0]): same for same in left.values()}
        try:
            for future in progress.bar(
                as_completed(futures), total=len(futures), desc="Answers", unit="answer"
            ):
                try:
                    result = future.result()
                except (OSError, EOFError) as error:
                    raise EngineRoomError(
                        "a grading process was ended from outside, perhaps for want of memory",
                        remedy="run the same command again: it goes on from the journal; fewer --jobs take less memory",
                    ) from error
                for work in futures[future]:
                    done[work.key] = replace(result, student=work.key[0])
                    journal.write(json.dumps(asdict(done[work.key])) + "\n")
                journal.flush()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.stop()
            raise
        used = sandboxes[0].isolation
    return [done[each.student, given.chapter, question] for each, given, question in wanted], used


def _graded(sandbox: Sandbox, work: Work, limits: Limits, seed: int) -> Result:
    question = work.key[2]
    test, most = work.given.tests[question], work.given.points[question]
    order = {
        "cells": work.cells,
        "answers": work.given.answers[question],
        "test": test,
        "memory_mib": limits.memory_mib,
        "seed": seed,
    }
    lines, ended = sandbox.ask(order)
    cases = {line["name"]: line for line in lines if "name" in line}
    notes = [f"its cell raised {error}" for line in lines for error in line.get("errors", [])]
    if all(cell["name"] == "given" for cell in work.cells):
        notes.append("no answer was found")
    names = [node.name for node in ast.parse(test).body if isinstance(node, ast.FunctionDef)]
    failures = [{k: case[k] for k in SAID} for case in cases.values() if not case["passed"]]
    missing = [name for name in names if name not in cases]
    cut = "the grading process ended early"
    if ended["is_late"]:
        cut = f"it took longer than {limits.wall_seconds:g} seconds by the clock"
    if ended["is_late"] or missing:
        notes.append(cut)
    if any("its process ended" in each["said"] for each in failures):
        notes.append(_ended(ended["status"], ended["cpu_seconds"], limits))
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
    points = _points(most, passed, len(names))
    return Result(*work.key, points, most, failures, "; ".join(notes), work.digest)


def _points(most: float, passed: int, tests: int) -> float:
    """All of them for an answer that passes every test; any other is wrong, and has `PARTIAL` of them at most."""
    if not tests:
        return 0.0
    return most if passed == tests else round(PARTIAL * most * passed / tests, 4)


def _ended(status: int, cpu_seconds: float, limits: Limits) -> str:
    # The kernel's limit is kept by SIGXCPU, or by SIGKILL in a process table of its own. It counts by
    # samples: on a full machine up to a quarter more than was used.
    if -status in (signal.SIGKILL, signal.SIGXCPU) and cpu_seconds > limits.seconds / 2:
        return f"it used more than {limits.seconds:g} seconds of processor time"
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process ended itself with exit code {status}"


def _can_hide(place: Path) -> bool:
    """Whether it can be covered: not where Python itself or the package lie in it."""
    resolved = place.resolve()
    needed = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__), Path(tempfile.gettempdir()))
    return resolved.exists() and not any(each.resolve().is_relative_to(resolved) for each in needed)


def secrets(class_folder: Path, submissions: Path, out: Path) -> list[Path]:
    """What no answer may read: tests, solutions, other answers, results."""
    found = [class_folder, submissions, out, journal_of(out)]
    with contextlib.suppress(EngineRoomError, OSError):
        root = paths.root()
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


def _digest(cells: list[dict[str, str]], given: Given, question: str, conditions: str) -> str:
    return hashlib.sha256(json.dumps([cells, given.tests[question], conditions]).encode()).hexdigest()
