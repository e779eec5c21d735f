"""In the jail: a notebook's cells, run as IPython runs them, and a copy of its namespace per question, for the tests.

The first process here runs no line of a student's. It forks one that does, and where a cell ends that one or takes too long, another,
which leaves the cell out: so no cell costs the others. Each copy is a fork, too, made at the last check of its question.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from engineroom.teach import refused
from engineroom.teach.grading import talk
from engineroom.teach.grading.apart import forked
from engineroom.teach.grading.jail import Limits

__all__ = ["FIRST_KEPT", "MOST_OPEN", "serve", "shell"]

FIRST_KEPT, MOST_OPEN = 512, 1 << 16  # descriptors: below are those of a process alone
OWN = 3  # of these, a run's reports, and a copy's conversation with the tests
PR_SET_CHILD_SUBREAPER = 36
LONGEST_LINE = 1 << 16
UNBOUND = object()


def shell(folder: Path) -> Any:
    """IPython without terminal, history and other programs. A magic that needs what is not here does nothing."""
    from IPython.core.interactiveshell import InteractiveShell  # takes as long as all else together
    from IPython.utils.text import LSString, SList
    from traitlets.config import Config

    class Quiet(InteractiveShell):
        def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
            with contextlib.suppress(Exception):
                return super().run_line_magic(magic_name, line, _stack_depth + 1)

        def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
            with contextlib.suppress(Exception):
                return super().run_cell_magic(magic_name, line, cell)  # type: ignore[no-untyped-call]

        def system(self, cmd: str) -> None:
            pass

        def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:  # noqa: ARG002
            return SList() if split else LSString()

        def showtraceback(self, *_: Any, **__: Any) -> None:
            pass

        showsyntaxerror = showindentationerror = showtraceback

    made: Any = Quiet.instance(config=Config({"HistoryManager": {"enabled": False}}), ipython_dir=str(folder))
    made.run_cell("pass")  # what a first cell loads is there for all notebooks
    return made


def serve(channel: Connection, ends: list[int], limits: Limits, ipython: Any) -> None:
    """Runs the notebook that it is sent and tells what became of its cells; then has each question's copy ready, and ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # whatever a run leaves is ours to end
    with contextlib.suppress(talk.Ended):
        order = json.loads(talk.received(channel))
        refused.refuse(order["refused"])
        numbered = dict(zip(order["asked"], ends, strict=True))
        kept = _Kept(_Task(order["cells"], order["asked"], numbered, limits, ipython))
        try:
            talk.send(channel, json.dumps(kept.ran()).encode())
            while True:
                what, question = json.loads(talk.received(channel))
                said = {"begin": kept.begin, "end": kept.end}[what](question)
                talk.send(channel, json.dumps(said).encode())
        finally:
            kept.clear()


@dataclass
class _Task:
    """A notebook to run."""

    cells: list[dict[str, str]]
    asked: dict[str, list[str]]  # the names of each question's answer
    ends: dict[str, int]  # the descriptor by which each question's tests are heard
    limits: Limits
    ipython: Any
    skipped: dict[int, str] = field(default_factory=dict)  # why a cell is left out


@dataclass
class _Heard:
    """What a run has reported. A cell may have made it up, which costs its own notebook at most."""

    at: int = -1  # the cell that it has come to
    errors: dict[int, str] = field(default_factory=dict)
    copies: dict[str, int] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)

    def hear(self, line: bytes) -> None:
        try:
            said = json.loads(line)
            if "cell" in said:
                self.at = max(self.at, int(said["cell"]))
            elif "error" in said and self.at >= 0:
                self.errors[self.at] = str(said["error"])[:500]
            elif "copy" in said:
                self.copies[str(said["copy"])] = max(2, int(said["process"]))
            elif "unanswered" in said:
                self.unanswered = [str(each) for each in said["unanswered"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            return


class _Kept:
    """What outlives the runs: which cells are left out and why, and the copies of the last run."""

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._heard = _Heard()

    def ran(self) -> dict[str, Any]:
        """Runs the cells, as often as it takes to come to the end. What became of those that did not."""
        until = time.monotonic() + self._task.limits.wall_seconds * (1 + len(self._task.asked))
        while ended := self._run(until):
            left = [each for each in range(max(0, self._heard.at) + 1) if each not in self._task.skipped]
            if not left:
                break
            at = left[-1]  # the cell that it had come to, or one above that has set a trap for what follows
            self._task.skipped[at] = f"its cell was stopped: {ended}"
            if time.monotonic() > until:  # what stands above is run once more, what stands below is not
                late = dict.fromkeys(
                    range(at, len(self._task.cells)), "its cell was not run: the time was over"
                )
                self._task.skipped = late | self._task.skipped
                until += self._task.limits.wall_seconds
        raised = {at: f"its cell raised {error}" for at, error in self._heard.errors.items()}
        said = sorted((raised | self._task.skipped).items())
        return {"said": said, "unanswered": self._heard.unanswered}

    def begin(self, question: str) -> str:
        """The copy of a question is there, also where that of an earlier one has ended all that it could."""
        process = self._heard.copies.get(question, 0)
        if not process or _has_ended(process):
            self.ran()
        os.close(self._task.ends.pop(question))  # or who talks to the copy would not see it end
        return ""

    def end(self, question: str) -> str:
        """How the copy of a question has ended, now at the latest."""
        del self._task.asked[question]
        return _end(self._heard.copies.pop(question, 0), self._task.limits)

    def clear(self) -> None:
        """Nothing of a run is left."""
        for process in self._heard.copies.values():
            _end(process, self._task.limits)
        is_alone = os.getpid() == 1  # in a process table of its own
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            if is_alone:
                os.kill(-1, signal.SIGKILL)
            while os.waitpid(-1, 0 if is_alone else os.WNOHANG)[0]:
                pass

    def _run(self, until: float) -> str:
        """Runs the cells, and says why where it does not come to their end."""
        self.clear()
        self._heard, (hears, says) = _Heard(), os.pipe()

        def run() -> None:
            os.dup2(says, OWN)
            os.closerange(OWN + 1, FIRST_KEPT)
            _Run(self._task).run()

        process = forked(run)
        os.close(says)
        is_late = self._listened(process, hears, until)
        os.close(hears)
        ended = _end(process, self._task.limits)
        if self._heard.at >= len(self._task.cells):
            return ""
        return (
            f"it took longer than {self._task.limits.wall_seconds:g} seconds by the clock"
            if is_late
            else ended
        )

    def _listened(self, process: int, hears: int, until: float) -> bool:
        """Until the run has ended. Whether it was late, as a whole or with one cell."""
        rest, at, began = b"", -1, time.monotonic()
        while time.monotonic() < min(until, began + self._task.limits.wall_seconds):
            if select.select([hears], [], [], 0.2)[0]:
                part = os.read(hears, LONGEST_LINE)
                *lines, rest = (rest + part).split(b"\n")
                rest = rest[:LONGEST_LINE]
                for line in lines:
                    self._heard.hear(line)
                if not part or self._heard.at >= len(self._task.cells):
                    return False
            elif _has_ended(process):  # something that it has started is still there, with the pipe
                return False
            if self._heard.at > at:
                at, began = self._heard.at, time.monotonic()
        return True


def _has_ended(process: int) -> bool:
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _end(process: int, limits: Limits) -> str:
    """How it has ended, now at the latest."""
    if not process:
        return "its process did not begin"
    for kill in (os.killpg, os.kill):  # a copy leads a group, of all that it has started
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)
    try:
        _, status, usage = os.wait4(process, 0)
    except ChildProcessError:
        return "its process ended"
    code, cpu_seconds = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
    # Who ignores SIGXCPU is ended by SIGKILL a second later. The kernel counts by samples.
    if -code == signal.SIGXCPU or (-code == signal.SIGKILL and cpu_seconds > limits.seconds / 2):
        return f"it used more than {limits.seconds:g} seconds of processor time"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended itself with exit code {code}"


class _Run:
    """One run of the cells, in the process in which their names are bound."""

    def __init__(self, task: _Task) -> None:
        self._task, self._shell = task, task.ipython
        self._copies: dict[str, int] = {}
        self._bound: dict[str, Any] = {}
        self._answered: set[str] = set()
        self._is_students = False

    def run(self) -> None:
        otter, grader = ModuleType("otter"), _Grader(self._check)
        vars(otter)["Notebook"] = lambda *_, **__: grader
        sys.modules["otter"] = otter
        self._shell.user_ns["grader"] = grader
        for number, cell in enumerate(self._task.cells):
            _tell(cell=number)
            if number in self._task.skipped:
                continue
            self._is_students = cell["by"] == "student"
            _limit_processor(
                self._task.limits.seconds, (1 + len(self._task.asked)) * self._task.limits.seconds
            )
            if (error := self._raised(cell["source"])) is not None:
                _tell(error=f"{type(error).__name__}: {talk.text_of(error)}"[:500])
            self._note()
        left = [each for each in self._task.asked if each not in self._copies]
        _tell(unanswered=[each for each in left if not self._is_answered(each)])
        with self._shell.builtin_trap:
            for question in left:
                with contextlib.suppress(OSError):
                    self._copy(question)
        _tell(cell=len(self._task.cells))

    def _raised(self, source: str) -> Any:
        try:
            result = self._shell.run_cell(source)
        except BaseException as error:  # noqa: BLE001 (a cell may have changed the shell itself)
            return error
        return result.error_in_exec if result.error_before_exec is None else result.error_before_exec

    def _check(self, question: object = None, *_: object, **__: object) -> None:
        """In the place of otter's: the answer to the question is what its names mean here.

        Where one is not bound, or means what the handout's own cell says, the answer may follow below.
        """
        self._note()
        if isinstance(question, str) and question in self._task.asked and self._is_answered(question):
            self._copy(question)

    def _note(self) -> None:
        """Which names a student's cell has bound last."""
        for name in {name for names in self._task.asked.values() for name in names}:
            value = self._shell.user_ns.get(name, UNBOUND)
            if value is not self._bound.get(name, UNBOUND):
                self._bound[name] = value
                is_answer = self._is_students and value is not UNBOUND
                (self._answered.add if is_answer else self._answered.discard)(name)

    def _is_answered(self, question: str) -> bool:
        return self._answered.issuperset(self._task.asked[question])

    def _copy(self, question: str) -> None:
        if before := self._copies.pop(question, 0):
            os.kill(before, signal.SIGKILL)
            os.waitpid(before, 0)
        process = os.fork()
        if process:
            self._copies[question] = process
            _tell(copy=question, process=process)
            return
        try:
            os.setpgid(0, 0)
            os.dup2(self._task.ends[question], OWN)
            os.closerange(OWN + 1, MOST_OPEN)
            _limit_processor(self._task.limits.seconds, self._task.limits.seconds + 1)
            talk.serve(Connection(OWN), self._shell.user_ns)
        finally:
            os._exit(0)


class _Grader:
    """In the place of otter's: only its check does something."""

    def __init__(self, check: Any) -> None:
        self.check = check

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


def _tell(**line: Any) -> None:
    """A line of its own, whatever a cell has written there."""
    with contextlib.suppress(OSError):
        os.write(OWN, b"\n" + json.dumps(line).encode() + b"\n")


def _limit_processor(seconds: float, most: float) -> None:
    """So much from here on, and so much in all."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, before = resource.getrlimit(resource.RLIMIT_CPU)
    hard = math.ceil(most) if before == resource.RLIM_INFINITY else min(math.ceil(most), before)
    soft = min(math.ceil(used.ru_utime + used.ru_stime + seconds), hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
