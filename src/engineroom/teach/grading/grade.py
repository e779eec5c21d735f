"""All questions of a folder of submissions, each in a pair of processes of its own, with a journal to go on from."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import queue
import secrets as chance
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach.grading import forks
from engineroom.teach.grading.jail import Limits
from engineroom.teach.grading.submissions import Given, Handouts, Submission, answer_cells

__all__ = ["ISOLATIONS", "PARTIAL", "Result", "can_hide", "grade", "journal_of", "read_journal", "secrets"]

PARTIAL = 0.25  # of the points, at most, for an answer that fails a test
ISOLATIONS = {
    "namespaces": "Linux namespaces: no network, no other process, nothing writable but an empty folder; "
    "limits of time, memory, processes and files",
    "limits": "limits of time, memory and files only: an answer can reach the network and the files and processes "
    "of the account that grades",
}


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
    conditions = json.dumps([asdict(limits), seed])
    wanted = [
        (each, given, question)
        for each in submissions
        if not each.fault and (given := handouts.of(each.student, each.chapter))
        for question in given.questions
    ]
    kept = read_journal(journal_of(out))
    done: dict[tuple[str, str, str], Result] = {}
    left: dict[tuple[str, str, str], list[Any]] = {}
    for submission, given, question in wanted:
        cells = answer_cells(given, submission, question)
        digest = _digest(cells, given, question, conditions)
        key = (submission.student, given.chapter, question)
        if key in kept and kept[key].digest == digest:
            done[key] = kept[key]
        else:
            left.setdefault((given.chapter, question, digest), []).append((key, given, cells, digest))

    modules = sorted(
        {
            name
            for given in handouts.chapters().values()
            for cells in given.cells.values()
            for cell in cells
            for name in _imports(cell)
        }
    )
    idle: queue.Queue[_Pair] = queue.Queue()
    with contextlib.ExitStack() as stack, journal_of(out).open("a") as journal:
        pairs = [
            stack.enter_context(_pair(modules, hidden, limits, isolation, seed))
            for _ in range(max(1, min(jobs, len(left))))
        ]
        for pair in pairs:
            idle.put(pair)

        def one(work: Any) -> Result:
            pair = idle.get()
            try:
                return pair.grade(*work)
            finally:
                idle.put(pair)

        pool = stack.enter_context(ThreadPoolExecutor(len(pairs)))
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
                for key, *_ in futures[future]:
                    done[key] = replace(result, student=key[0])
                    journal.write(json.dumps(asdict(done[key])) + "\n")
                journal.flush()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for pair in pairs:
                pair.stop()
            raise
        used = pairs[0].isolation
    return [done[each.student, given.chapter, question] for each, given, question in wanted], used


class _Pair:
    """Two processes that fork: one for the students' answers, one for the tests."""

    def __init__(
        self, student: socket.socket, judge: socket.socket, base: dict[str, Any], scratch: Path, seed: int
    ) -> None:
        self._student, self._judge, self._base, self._scratch = student, judge, base, scratch
        self._seed = seed
        self.isolation = ""

    def start(self, modules: list[str]) -> None:
        order = self._base | {"modules": modules, "scratch": str(self._scratch)}
        forks.send(self._student, order)
        forks.send(self._judge, order)
        self.isolation = forks.receive(self._student)[0]["isolation"]
        forks.receive(self._judge)

    def stop(self) -> None:
        """End what runs; its question has no result."""
        for control in (self._student, self._judge):
            with contextlib.suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)

    def grade(
        self, key: tuple[str, str, str], given: Given, cells: list[dict[str, str]], digest: str
    ) -> Result:
        """One question; whatever the answer does, this returns in the time limit and a moment."""
        question = key[2]
        limits = Limits(**self._base["limits"])
        answers = given.answers[question]
        ours = [cell["source"] for cell in cells if cell["name"] == "given"]
        theirs, mine = socket.socketpair()
        heard, told = os.pipe()
        scratch = Path(tempfile.mkdtemp(dir=self._scratch))
        scratch.chmod(0o777)
        begun = time.monotonic()
        order = self._base | {"cells": cells, "answers": answers, "scratch": str(scratch)}
        forks.send(self._student, order, (theirs.fileno(),))
        forks.send(
            self._judge,
            {
                "given": ours,
                "answers": answers,
                "test": given.tests[question],
                "memory_mib": limits.memory_mib,
                "seed": self._seed,  # in the order to the grading process only
            },
            (mine.fileno(), told),
        )
        for each in (theirs, mine):
            each.close()
        os.close(told)
        is_late, text = False, b""
        while True:
            patience = begun + limits.wall_seconds - time.monotonic()
            if patience <= 0 or not select.select([heard], [], [], patience)[0]:
                is_late = True
                break
            part = os.read(heard, 65536)
            if not part:
                break
            text += part
        os.close(heard)
        forks.send(self._student, {})
        forks.send(self._judge, {})
        ended = forks.receive(self._student)[0]
        forks.receive(self._judge)
        shutil.rmtree(scratch, ignore_errors=True)
        return _result(
            key,
            given,
            digest,
            text=text,
            ended=_ended(ended["status"], ended["cpu_seconds"], limits),
            is_late=is_late,
            wall_seconds=limits.wall_seconds,
            has_answer=len(cells) > len(ours),
        )


def _result(
    key: tuple[str, str, str],
    given: Given,
    digest: str,
    *,
    text: bytes,
    ended: str,
    is_late: bool,
    wall_seconds: float,
    has_answer: bool,
) -> Result:
    most = given.points[key[2]]
    lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
    notes = [f"its cell raised {error}" for line in lines for error in line.get("errors", [])]
    if not has_answer:
        notes.append("no answer was found")
    cases = {line["name"]: line for line in lines if "name" in line}
    names = _names(given.tests[key[2]])
    passed = sum(case["passed"] for case in cases.values())
    failures = [
        {k: case[k] for k in ("name", "said", "given", "hidden", "looks_like")}
        for case in cases.values()
        if not case["passed"]
    ]
    missing = [name for name in names if name not in cases]
    if is_late:
        notes.append(f"it took longer than {wall_seconds:g} seconds by the clock")
    elif missing:
        notes.append("the grading process ended early")
    if any("its process ended" in each["said"] for each in failures):
        notes.append(ended)
    failures += [
        {
            "name": name,
            "said": notes[-1],
            "given": "",
            "hidden": f"hidden=True)\ndef {name}" in given.tests[key[2]],
            "looks_like": [],
        }
        for name in missing
    ]
    return Result(*key, _points(most, passed, len(names)), most, failures, "; ".join(notes), digest)


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


def _names(test: str) -> list[str]:
    return [node.name for node in ast.parse(test).body if isinstance(node, ast.FunctionDef)]


@contextlib.contextmanager
def _pair(
    modules: list[str], hidden: list[Path], limits: Limits, isolation: str, seed: int
) -> Iterator[_Pair]:
    environment = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "ENGINEROOM_GRADING_DEBUG")
        if name in os.environ
    } | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "HOME": "/nonexistent"}
    with contextlib.ExitStack() as stack:
        scratch = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True))
        )
        scratch.chmod(0o755)
        controls = []
        for kind in ("student", "judge"):
            ours, theirs = socket.socketpair()
            stack.enter_context(ours)
            command = [sys.executable, "-m", "engineroom.teach.grading.forks", kind, str(theirs.fileno())]
            child = subprocess.Popen(
                command, pass_fds=(theirs.fileno(),), env=environment, stdin=subprocess.DEVNULL, cwd="/"
            )
            theirs.close()
            stack.callback(_ended_with, ours, child)
            controls.append(ours)
        base = {
            "limits": asdict(limits),
            "isolation": isolation,
            "hidden": [str(place) for place in hidden if can_hide(place)],
        }
        pair = _Pair(controls[0], controls[1], base, scratch, seed)
        try:
            pair.start(modules)
        except (EOFError, OSError) as error:
            raise EngineRoomError(
                "the process for the answers did not start",
                remedy="engineroom doctor, and look at the message above",
            ) from error
        if isolation == "namespaces" and pair.isolation != "namespaces":
            raise EngineRoomError(
                "this machine lets us have no Linux namespaces",
                remedy="grade in a virtual machine or a container of its own with --isolation limits",
            )
        yield pair


def _ended_with(control: socket.socket, child: subprocess.Popen[bytes]) -> None:
    control.close()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def can_hide(place: Path) -> bool:
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


def read_journal(file: Path) -> dict[tuple[str, str, str], Result]:
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
    if journal.exists():
        first = journal.read_text(errors="replace").partition("\n")[0]
        with contextlib.suppress(ValueError, TypeError, KeyError):
            return int(json.loads(first)["seed"])
    seed = chance.randbits(62)
    kept = journal.read_text(errors="replace") if journal.exists() else ""
    journal.write_text(json.dumps({"seed": seed}) + "\n" + kept)
    return seed


def _digest(cells: list[dict[str, str]], given: Given, question: str, conditions: str) -> str:
    return hashlib.sha256(json.dumps([cells, given.tests[question], conditions]).encode()).hexdigest()


def _imports(cell: str) -> Iterator[str]:
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
