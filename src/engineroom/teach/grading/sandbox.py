"""A notebook in two processes: the student's, confined, and that of its tests. Nothing of one notebook is left for the next.

A `Sandbox` starts `python -m engineroom.teach.grading.sandbox DESCRIPTOR`, which reads its order there, imports everything and forks the two per notebook.
It never sees an answer or a test: the tests' process reads them from the program that grades, and gives the student's its cells.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.teach import refused
from engineroom.teach.grading import jail, judge, notebook
from engineroom.teach.grading.apart import forked, silenced

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


class Sandbox:
    """Whoever enters it can ask about one notebook after the other. Refused where it could not hide `hidden`, unless only limits are asked for."""

    def __init__(
        self,
        modules: list[str],
        hidden: list[Path],
        limits: jail.Limits,
        isolation: str,
        without: tuple[str, ...] = (),
    ) -> None:
        self._order = {
            "modules": modules,
            "without": without,
            "hidden": [str(place.resolve()) for place in hidden],
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
            said = self._heard()
        except (EOFError, OSError) as error:
            self.__exit__()
            raise EngineRoomError(
                "the process for the answers did not start",
                remedy="engineroom doctor, and look at the message above",
            ) from error
        self.isolation = said["isolation"]
        if refused := self._refused(said["exposed"]):
            self.__exit__()
            raise refused
        return self

    def _refused(self, exposed: list[str]) -> EngineRoomError | None:
        asked = self._order["isolation"]
        alone = "grade in a virtual machine or a container that holds nothing else, with --isolation limits"
        if asked == "namespaces" != self.isolation:
            return EngineRoomError("this machine lets us have no Linux namespaces", remedy=alone)
        if asked == "auto" and self.isolation == "limits":
            return EngineRoomError(
                "this machine has neither namespaces nor Landlock, so answers could read tests and solutions",
                remedy=alone,
            )
        if exposed:
            return EngineRoomError(
                f"answers could read {', '.join(exposed)}, which lies among the files of Python or of the book",
                remedy="move it elsewhere, or Python's environment",
            )
        return None

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
        """End what runs; its notebook has no result."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def ask(self, order: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """What the tests say of each question that they came to, and whether they ran out of time; in a multiple of the limit, whatever a notebook does."""
        desk, theirs = socket.socketpair()
        with desk:
            with theirs:
                number = bytes([len(order["questions"])])
                socket.send_fds(self._control, [number], [theirs.fileno()])
            with contextlib.suppress(OSError):  # who reads no order has no lines
                desk.sendall(json.dumps(order).encode())
                desk.shutdown(socket.SHUT_WR)
            with desk.makefile("rb") as file:
                lines = [json.loads(line) for line in file.read().splitlines(True) if line.endswith(b"\n")]
        said = {question: what for line in lines for question, what in line.items()}
        return said, bool(self._heard()["is_late"])

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
    order["ipython"] = notebook.shell(Path(order["scratch"]))
    order["seen"] = _seen()
    order["covered"] = _among(order["hidden"], order["seen"])
    order["withheld"] = refused.files(order["without"])
    with_namespaces = order["isolation"] != "limits" and _can_have_namespaces(order)
    without = "landlock" if jail.landlock_version() else "limits"
    said: dict[str, Any] = {"isolation": "namespaces" if with_namespaces else without}
    said["exposed"] = [
        str(place)
        for place in order["covered"]
        if said["isolation"] == "landlock" or (with_namespaces and _is_needed(place, order["scratch"]))
    ]
    while True:
        control.sendall(json.dumps(said).encode() + b"\n")
        asked, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not asked:
            return
        said = _notebook(order, control, descriptors[0], asked[0], with_namespaces)


def _among(hidden: list[str], seen: list[Path]) -> list[Path]:
    """Those that lie in what is seen: of the others, nothing is there."""
    return [
        place for place in map(Path, hidden) if any(place.is_relative_to(each.resolve()) for each in seen)
    ]


def _is_needed(place: Path, scratch: str) -> bool:
    """Whether it cannot be covered: Python itself or the package lies in it."""
    needed = (sys.prefix, sys.base_prefix, __file__, scratch)
    return any(Path(each).resolve().is_relative_to(place) for each in needed)


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


def _notebook(
    order: dict[str, Any], control: socket.socket, desk: int, questions: int, with_namespaces: bool
) -> dict[str, Any]:
    pairs = [Pipe() for _ in range(1 + questions)]
    done, is_done = os.pipe()
    with _scratch(order["scratch"]) as scratch:

        def tests() -> None:
            for _, theirs in pairs:
                theirs.close()
            channel, *ends = (ours for ours, _ in pairs)
            judge.run(socket.socket(fileno=desk), channel, ends)

        of_tests = forked(tests)
        theirs = [their.fileno() for _, their in pairs]
        outer, inner = _start_answers(order, scratch, theirs, with_namespaces)
        for each in (each for pair in pairs for each in pair):
            each.close()
        for descriptor in (desk, is_done):
            os.close(descriptor)
        # Once for each cell that waits and each question whose tests do, and as much again for what is begun anew.
        most = 3 * (1 + questions) * order["limits"]["wall_seconds"]
        ready, _, _ = select.select([done, control.fileno()], [], [], most)
        os.close(done)
        _end(outer, inner)
        _end(of_tests, of_tests)
    return {"is_late": not ready}


@contextlib.contextmanager
def _scratch(folder: str) -> Iterator[Path]:
    """A folder for answers. `rm` takes it away: Python's own way is as deep as the folders that an answer made."""
    name = tempfile.mkdtemp(dir=folder)
    try:
        yield Path(name)
    finally:
        subprocess.run(["rm", "-rf", "--", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _start_answers(
    order: dict[str, Any], scratch: Path, descriptors: list[int], with_namespaces: bool
) -> tuple[int, int]:
    """The two processes: one that waits outside, and that of the answers, the first of a process table of its own."""
    here, there = socket.socketpair()
    scratch.chmod(0o777)

    def wait_for_inner() -> None:
        # Before the capabilities are there, root's rights are needed to be counted as somebody else.
        is_in = with_namespaces and jail.enter_namespaces()
        there.send(b"1" if is_in else b"0")
        there.recv(1)
        inner = forked(lambda: _be_answers(order, scratch, descriptors, is_in))
        there.send(str(inner).encode())
        os.closerange(3, notebook.MOST_OPEN)
        _, status = os.waitpid(inner, 0)
        os._exit(int(status != 0))

    outer = forked(wait_for_inner)
    there.close()
    with here, contextlib.suppress(OSError):
        if here.recv(1) == b"1":
            with contextlib.suppress(OSError):  # it fails in its first mount then, and says so by its status
                jail.map_ids(outer)
        here.send(b"1")
        return outer, int(here.recv(20) or outer)
    return outer, outer


def _be_answers(order: dict[str, Any], scratch: Path, descriptors: list[int], is_in: bool) -> None:
    os.setsid()
    limits = jail.Limits(**order["limits"])
    hidden = [*order["covered"], *order["withheld"]]
    jail.close_in(scratch, order["seen"], hidden, limits, is_in_namespaces=is_in)
    silenced()
    if descriptors:
        os.closerange(notebook.FIRST_KEPT, notebook.MOST_OPEN)
        kept = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, notebook.FIRST_KEPT) for each in descriptors]
        os.closerange(3, notebook.FIRST_KEPT)
        notebook.serve(Connection(kept[0]), kept[1:], limits, order["ipython"])


def _can_have_namespaces(order: dict[str, Any]) -> bool:
    """Whether they can be had here, with all that is mounted in them."""
    with tempfile.TemporaryDirectory(dir=order["scratch"]) as scratch:
        outer, _ = _start_answers(order, Path(scratch), [], True)
        _, status = os.waitpid(outer, 0)
    return status == 0


def _end(outer: int, inner: int) -> None:
    """End both, if they have not ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # Also what it has started and left, where no process table ends with it.
        os.killpg(inner, signal.SIGKILL)
    if os.waitid(os.P_PID, outer, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(inner, signal.SIGKILL)
    os.waitpid(outer, 0)


if __name__ == "__main__":
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        main(socket.socket(fileno=int(sys.argv[1])))
