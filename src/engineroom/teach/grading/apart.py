"""Processes of their own: for a foreign file, which has so much memory and time to be read and costs itself alone, and for answers and tests."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError
from engineroom.teach.grading.jail import PR_SET_PDEATHSIG

__all__ = ["apart", "forked", "silenced"]

MEMORY_MIB, SECONDS = 1024, 20
MOST_SAID_BYTES = 16 * 2**20


def apart(read: Callable[[Path], Any], path: Path) -> Any:
    """What `read` makes of the file, as plain values; EngineRoomError where it needs too much, or its process breaks."""
    hears, says = os.pipe()

    def tell() -> None:
        os.close(hears)
        _limit()
        with os.fdopen(says, "wb") as file:
            file.write(json.dumps(read(path)).encode())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: the child uses none
        process = forked(tell)
    os.close(says)
    with os.fdopen(hears, "rb") as file:
        said = file.read(MOST_SAID_BYTES + 1)
    _, status = os.waitpid(process, 0)
    if status == 0 and len(said) <= MOST_SAID_BYTES:
        return json.loads(said)
    raise EngineRoomError(
        f"{path.name} needs more than {MEMORY_MIB} MiB or {SECONDS} s to read, or ends what reads it",
        remedy="hand in the notebook",
    )


def forked(what: Callable[[], None]) -> int:
    """A process that does this and nothing else; on Linux, it ends with the one that forked it."""
    process = os.fork()
    if process:
        return process
    code = 99
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        what()
        code = 0
    except BaseException as error:  # noqa: BLE001 (a forked process must not go on with its parent's work)
        if os.environ.get("ENGINEROOM_GRADING_DEBUG"):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def silenced() -> None:
    """Nothing comes in, and what is printed is lost."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)


def _limit() -> None:
    silenced()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    with contextlib.suppress(OSError, ValueError):  # a system without /proc counts nothing to add to
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_MIB * 2**20,) * 2)
