"""Commands that end with the program that runs them: by Ctrl-C, by a signal, by an error, and when its own parent is gone.

Each command is a process group of its own, so that a compiler which a build tool has started ends with it. Uses the standard
library only: it makes the environment that the rest needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

__all__ = ["end_all", "ending_with_us", "ends_with_its_parent", "run", "started", "variable"]

PR_SET_PDEATHSIG = 1
PATIENCE_S = 10  # for a command to end by itself, so that pytest can say what it did

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
_running: set[subprocess.Popen[str]] = set()
_lock = threading.Lock()
_is_ending = False


@contextlib.contextmanager
def ending_with_us() -> Iterator[None]:
    """However the block ends, no command outlives it. For the main thread, once, around all that a program does.

    SIGTERM, SIGHUP and the death of our parent (`kill -9` of make) raise SystemExit.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        yield
    finally:
        end_all()


def ends_with_its_parent() -> None:
    """For `preexec_fn` of a command that must not outlive a `kill -9` of its parent; Linux only."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    signal.signal(number, signal.SIG_IGN)  # make sends one, and its end would send another
    raise SystemExit(128 + number)


@contextlib.contextmanager
def started(
    command: Sequence[str | Path], *, cwd: Path | None = None, is_read: bool
) -> Iterator[subprocess.Popen[str]]:
    """A command that has ended when the block ends: by itself, or by force when the block ends by an error.

    `is_read` if its output is for this program, both streams as one, and not for the reader.
    """
    with _lock:
        if _is_ending:
            raise SystemExit(1)  # of a thread: the main one is leaving
        child = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if is_read else None,
            stderr=subprocess.STDOUT if is_read else None,
            text=True,
            errors="replace",
            process_group=0,
        )
        _running.add(child)
    try:
        yield child
        child.wait()
    except BaseException as error:
        _end(child, signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
        raise
    finally:
        if child.stdout is not None:
            child.stdout.close()
        with _lock:
            _running.discard(child)


def run(
    command: Sequence[str | Path], *, cwd: Path | None = None, is_read: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `stdout` of the result has its output if that `is_read`."""
    with started(command, cwd=cwd, is_read=is_read) as child:
        said, _ = child.communicate()
    return subprocess.CompletedProcess(command, child.returncode, said)


@contextlib.contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Whatever is started in this block has the variable in its environment; then it is as before."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _end(child: subprocess.Popen[str], number: signal.Signals) -> None:
    """End a command and all that it has started, with patience for its own last words."""
    _send(child, number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(PATIENCE_S)
    _send(child, signal.SIGKILL)  # also to what outlived it
    child.wait()


def end_all() -> None:
    """End every command that runs, in whichever thread, and let no thread start another."""
    global _is_ending  # noqa: PLW0603 (of the process, as its children are)
    with _lock:
        _is_ending = True
        left = list(_running)
    for child in left:
        _end(child, signal.SIGTERM)


def _send(child: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
