"""A foreign file is read in a process of its own, which has so much memory and time: whatever it does there costs itself alone."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = ["apart"]

MEMORY_MIB, SECONDS = 1024, 20
MOST_SAID_BYTES = 16 * 2**20


def apart(read: Callable[[Path], Any], path: Path) -> Any:
    """What `read` makes of the file, as plain values; EngineRoomError where it needs too much, or its process breaks."""
    hears, says = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: the child uses none
        process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(hears)
            _limit()
            with os.fdopen(says, "wb") as file:
                file.write(json.dumps(read(path)).encode())
            code = 0
        finally:
            os._exit(code)
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


def _limit() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    with contextlib.suppress(OSError, ValueError):  # a system without /proc counts nothing to add to
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_MIB * 2**20,) * 2)
