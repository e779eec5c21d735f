"""One question in two processes: the answer's, confined, and that of its tests. Nothing of one question is left for the next.

A `Sandbox` starts `python -m engineroom.teach.grading.sandbox DESCRIPTOR`, which reads its order there, imports everything and forks the two per question.
It never sees an answer or a test: the tests' process reads them from the program that grades, and gives the answer's its cells.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.teach.grading import jail, judge, talk

__all__ = ["ISOLATIONS", "Sandbox"]

ISOLATIONS = {
    "namespaces": "Linux namespaces: no network, no other process, no file but Python's and the book's, nothing writable "
    "but an empty folder; limits of time, memory, processes and files",
    "landlock": "Linux Landlock: no file but Python's and the book's, nothing writable but an empty folder; limits of time, "
    "memory and files: an answer can reach the network and the processes of the account that grades",
    "limits": "limits of time, memory and files only: an answer can reach the network and the files and processes "
    "of the account that grades",
}
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "ENGINEROOM_GRADING_DEBUG")
MOST_OPEN = 1 << 16


class Sandbox:
    """Whoever enters it can ask one question after the other."""

    def __init__(self, modules: list[str], hidden: list[Path], limits: jail.Limits, isolation: str) -> None:
        self._order = {
            "modules": modules,
            "hidden": [str(place) for place in hidden],
            "limits": asdict(limits),
            "isolation": isolation,
        }
        self._control: socket.socket
        self.isolation = ""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
        Path(self._folder.name).chmod(0o755)
        self._control, theirs = socket.socketpair()
        order = json.dumps(self._order | {"scratch": self._folder.name})
        fixed = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "HOME": "/nonexistent"}  # fmt: skip
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "engineroom.teach.grading.sandbox", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env={name: os.environ[name] for name in KEPT if name in os.environ} | fixed,
                stdin=subprocess.DEVNULL,
                cwd="/",
            )
        self._said = self._control.makefile("r")
        try:
            self._control.sendall(order.encode() + b"\n")
            self.isolation = self._heard()["isolation"]
        except (EOFError, OSError) as error:
            self.__exit__()
            raise EngineRoomError(
                "the process for the answers did not start",
                remedy="engineroom doctor, and look at the message above",
            ) from error
        if self._order["isolation"] == "namespaces" and self.isolation != "namespaces":
            self.__exit__()
            raise EngineRoomError(
                "this machine lets us have no Linux namespaces",
                remedy="grade in a virtual machine or a container of its own with --isolation limits",
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._said.close()
        self._control.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._folder.cleanup()

    def stop(self) -> None:
        """End what runs; its question has no result."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def ask(self, order: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What the tests say, line by line, and how the answer's process ended; in the time limit and a moment, whatever an answer does."""
        desk, theirs = socket.socketpair()
        with desk:
            with theirs:
                socket.send_fds(self._control, [b"?"], [theirs.fileno()])
            with contextlib.suppress(OSError):  # who reads no order has no lines
                desk.sendall(json.dumps(order).encode())
                desk.shutdown(socket.SHUT_WR)
            with desk.makefile("rb") as file:
                lines = file.read().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")], self._heard()

    def _heard(self) -> dict[str, Any]:
        line = self._said.readline()
        if not line:
            raise EOFError
        said: dict[str, Any] = json.loads(line)
        return said


def main(control: socket.socket) -> None:
    """Serve the program that started us, until it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the program that started us ends us
    with control.makefile("r") as file:
        order = json.loads(file.readline())
    for name in order["modules"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    order["seen"] = _seen()
    with_namespaces = order["isolation"] != "limits" and _can_have_namespaces(order)
    without = "landlock" if jail.landlock_version() else "limits"
    said: dict[str, Any] = {"isolation": "namespaces" if with_namespaces else without}
    while True:
        control.sendall(json.dumps(said).encode() + b"\n")
        asked, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not asked:
            return
        said = _question(order, control, descriptors[0], with_namespaces)


def _seen() -> list[Path]:
    """What an answer needs of this machine's files: Python, its packages and libraries, the book's package and its data."""
    prefixes = (sys.prefix, sys.base_prefix, "/", "/usr", "/usr/local")
    found = [Path(prefix, name) for prefix in prefixes for name in ("lib", "lib32", "lib64", "libx32")]
    found += [Path(each) for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    found += [Path("/etc", each) for each in ("alternatives", "ld.so.cache", "localtime")]
    found += [Path("/dev", each) for each in ("null", "zero", "full", "random", "urandom")]
    found += [Path("/usr/share/zoneinfo")]
    for name, module in list(sys.modules.items()):
        if "." not in name and name != "__main__":
            place = getattr(module, "__path__", None) or [getattr(module, "__file__", None)]
            found += [Path(each) for each in place if each]
    with contextlib.suppress(OSError):
        found += [
            Path(line.split(maxsplit=5)[5])
            for line in Path("/proc/self/maps").read_text().splitlines()
            if "/" in line
        ]
    with contextlib.suppress(EngineRoomError):
        found.append(paths.data())
    seen: list[Path] = []
    for each in sorted({each for place in found for each in (place, place.resolve())}):
        if not os.path.exists(each):  # noqa: PTH110 (also false in a folder that we may not enter)
            continue
        if not any(each.is_relative_to(above) for above in seen):
            seen.append(each)
    return seen


def _question(
    order: dict[str, Any], control: socket.socket, desk: int, with_namespaces: bool
) -> dict[str, Any]:
    ours, theirs = Pipe()
    done, is_done = os.pipe()
    with tempfile.TemporaryDirectory(dir=order["scratch"], ignore_cleanup_errors=True) as scratch:

        def tests() -> None:
            theirs.close()
            judge.run(socket.socket(fileno=desk), ours)

        of_tests = _forked(tests)
        outer, inner = _start_answer(order, Path(scratch), theirs.fileno(), with_namespaces)
        for each in (ours, theirs):
            each.close()
        for descriptor in (desk, is_done):
            os.close(descriptor)
        ready, _, _ = select.select([done, control.fileno()], [], [], order["limits"]["wall_seconds"])
        os.close(done)
        status, cpu_seconds = _ended(outer, inner)
        _ended(of_tests, of_tests)
    return {"status": status, "cpu_seconds": cpu_seconds, "is_late": not ready}


def _start_answer(
    order: dict[str, Any], scratch: Path, channel: int | None, with_namespaces: bool
) -> tuple[int, int]:
    """The two processes: one that waits outside, and the answer's, the first of a process table of its own."""
    here, there = socket.socketpair()
    scratch.chmod(0o777)

    def wait_for_inner() -> None:
        # Before the capabilities are there, root's rights are needed to be counted as somebody else.
        is_in = with_namespaces and jail.enter_namespaces()
        there.send(b"1" if is_in else b"0")
        there.recv(1)
        inner = os.fork()
        if inner == 0:
            _alone(lambda: _be_answer(order, scratch, channel, is_in))
        there.send(str(inner).encode())
        os.closerange(3, MOST_OPEN)
        _, status = os.waitpid(inner, 0)
        code = os.waitstatus_to_exitcode(status)
        os._exit(128 - code if code < 0 else code)

    outer = _forked(wait_for_inner)
    there.close()
    with here, contextlib.suppress(OSError):
        if here.recv(1) == b"1":
            with contextlib.suppress(OSError):  # it fails in its first mount then, and says so by its status
                jail.map_ids(outer)
        here.send(b"1")
        return outer, int(here.recv(20) or outer)
    return outer, outer


def _be_answer(order: dict[str, Any], scratch: Path, channel: int | None, is_in: bool) -> None:
    os.setsid()
    hidden = [Path(place) for place in order["hidden"]]
    jail.close_in(scratch, order["seen"], hidden, jail.Limits(**order["limits"]), is_in_namespaces=is_in)
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    if channel is not None:
        if channel != 3:
            os.dup2(channel, 3)
        os.closerange(4, MOST_OPEN)
        talk.serve(Connection(3))


def _can_have_namespaces(order: dict[str, Any]) -> bool:
    """Whether they can be had here, with all that is mounted in them."""
    with tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        outer, _ = _start_answer(order, Path(scratch), None, True)
        _, status = os.waitpid(outer, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _forked(what: Callable[[], None]) -> int:
    process = os.fork()
    if process == 0:
        _alone(what)
    return process


def _alone(what: Callable[[], None]) -> None:
    """Run it as all that this forked process does; on Linux, it ends with the one that forked it."""
    code = 99
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(jail.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        what()
        code = 0
    except BaseException as error:  # noqa: BLE001 (a forked process must not go on with its parent's work)
        if os.environ.get("ENGINEROOM_GRADING_DEBUG"):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def _ended(outer: int, inner: int) -> tuple[int, float]:
    """How the process ended: its exit code, or the signal as a negative number; -9 if only we ended it. And its processor time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # Also what it has started and left, where no process table ends with it.
        os.killpg(inner, signal.SIGKILL)
    if os.waitid(os.P_PID, outer, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(inner, signal.SIGKILL)
    _, status, usage = os.wait4(outer, 0)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code > 128 else code, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        main(socket.socket(fileno=int(sys.argv[1])))
