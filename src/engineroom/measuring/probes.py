"""Looking into a process: how often a server calls a function, and in which functions its CPU time goes.

Both need Linux, the right to trace the process, and a server whose binary names its functions. Nothing here is needed to
measure pages, counters or CPU time; what is missing is said in words.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engineroom.errors import EngineRoomError
from engineroom.measuring import perf

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "INLINED",
    "Calls",
    "counted_calls",
    "sampled_program",
    "sampled_stacks",
    "share",
    "why_no_calls",
    "why_no_samples",
]

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
INLINED = " (inlined)"
_UPROBE = Path("/sys/bus/event_source/devices/uprobe/type")


class Calls:
    """How many calls were counted; complete when the block has ended."""

    count = 0


class _Attributes(ctypes.Structure):
    """The part of perf_event_attr that a count of calls needs."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("config", ctypes.c_uint64),
        ("sample_period", ctypes.c_uint64),
        ("sample_type", ctypes.c_uint64),
        ("read_format", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("wakeup_events", ctypes.c_uint32),
        ("bp_type", ctypes.c_uint32),
        ("uprobe_path", ctypes.c_uint64),
        ("probe_offset", ctypes.c_uint64),
    )


def why_no_calls(server: Server, function: str) -> str | None:
    """The reason why calls of `function` (a regular expression over mangled names) cannot be counted, or None."""
    if server.pid is None or os.uname().machine not in _PERF_EVENT_OPEN or not _UPROBE.exists():
        return "this system has no uprobes for the server's process"
    if shutil.which("nm") is None or shutil.which("readelf") is None:
        return "nm and readelf (binutils) are not installed"
    if _offset(server, function) is None:
        return f"the binary of MySQL {server.version} does not name {function}"
    try:
        with counted_calls(server, function):
            pass
    except OSError as error:
        return f"the system does not allow it ({error.strerror})"
    return None


@contextlib.contextmanager
def counted_calls(server: Server, function: str) -> Iterator[Calls]:
    """Count the calls of a function in all threads that the server has when the block begins."""
    binary, offset = _binary(server), _offset(server, function)
    if binary is None or offset is None:
        raise EngineRoomError(
            f"calls of {function} in MySQL {server.version} cannot be counted",
            remedy="ask `why_no_calls` first",
        )
    path = ctypes.create_string_buffer(os.fsencode(binary))
    attributes = _Attributes(
        type=int(_UPROBE.read_text()),
        size=ctypes.sizeof(_Attributes),
        uprobe_path=ctypes.addressof(path),
        probe_offset=offset,
    )
    libc = ctypes.CDLL(None, use_errno=True)
    calls, counters = Calls(), []
    try:
        for task in Path(f"/proc/{server.pid}/task").iterdir():
            fd = libc.syscall(
                _PERF_EVENT_OPEN[os.uname().machine], ctypes.byref(attributes), int(task.name), -1, -1, 8
            )
            if fd < 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
            counters.append(fd)
        yield calls
        calls.count = sum(int.from_bytes(os.read(fd, 8), "little") for fd in counters)
    finally:
        for fd in counters:
            os.close(fd)


def why_no_samples(server: Server, function: str) -> str | None:
    """The reason why CPU time cannot be told by function, or None."""
    if server.pid is None:
        return "the server is not a process of this machine"
    if shutil.which("nm") is None:
        return "nm (binutils) is not installed"
    if reason := perf.why_not():
        return reason
    if _symbol(server, function) is None:
        return f"the binary of MySQL {server.version} does not name {function}"
    try:
        seen = sampled_stacks(server, lambda: None, seconds=0.2)
    except EngineRoomError as error:
        return f"perf failed: {error}"
    del seen
    return None


def sampled_stacks(
    server: Server, work: Callable[[], None], *, seconds: float, thread: int | None = None
) -> list[list[str]]:
    """Run `work` again and again while the CPU time of the server, or of one of its threads, is sampled; return the functions on each sample's stack."""
    if server.pid is None:
        raise EngineRoomError(
            "the server is not a process of this machine", remedy="ask `why_no_samples` first"
        )
    return _stacks(perf.of_process(server.pid, work, seconds=seconds, thread=thread, script=_script()))


def _script(*, by_source: bool = False) -> list[str]:
    return ["-F", "comm,tid,time,ip,sym", *([] if by_source else ["--no-inline", "--no-demangle"])]


def _stacks(samples: Sequence[str]) -> list[list[str]]:
    return [_frames(sample.splitlines()[1:]) for sample in samples]


def _frames(lines: Sequence[str]) -> list[str]:
    """The functions of a sample. Of an address that several were compiled into, perf may say the outermost first, and again last."""
    frames = [(words[0], words[1]) for line in lines if len(words := line.split(maxsplit=1)) > 1]
    return [
        name
        for i, (address, name) in enumerate(frames)
        if name.endswith(INLINED)
        or not (i + 1 < len(frames) and frames[i + 1][0] == address and frames[i + 1][1].endswith(INLINED))
    ]


def sampled_program(
    program: str, *, hertz: int = 997, by_source: bool = False
) -> tuple[str, list[list[str]]]:
    """Run a Python program under perf: what it printed, and the functions on each sample's stack, innermost first.

    The samples are of CPU time, in the program and in the system for it. `by_source` also tells functions that were compiled into
    their callers, as far as the binary has tables of them, and says ` (inlined)` after their names, which are then demangled.
    """
    printed, samples = perf.of_program(
        [sys.executable, "-c", program], hertz=hertz, script=_script(by_source=by_source)
    )
    return printed, _stacks(samples)


def share(stacks: Sequence[Sequence[str]], function: str) -> float:
    """The share of the samples that have a function with this regular expression anywhere on their stack."""
    return sum(any(re.search(function, name) for name in stack) for stack in stacks) / max(1, len(stacks))


def _binary(server: Server) -> Path | None:
    """The file with the server's code, also when a private loader started it."""
    try:
        maps = Path(f"/proc/{server.pid}/maps").read_text()
    except OSError:
        return None
    found = re.search(r"^\S+ r-xp .*?(/\S*mysqld)$", maps, flags=re.MULTILINE)
    return Path(found[1]) if found else None


def _symbol(server: Server, function: str) -> int | None:
    binary = _binary(server)
    if binary is None:
        return None
    for options in (["-D"], []):
        done = subprocess.run(
            ["nm", *options, "--defined-only", str(binary)], capture_output=True, text=True, check=False
        )
        for line in done.stdout.splitlines():
            address, kind, name = line.split(maxsplit=2)
            if kind in "tT" and re.search(function, name):
                return int(address, 16)
    return None


def _offset(server: Server, function: str) -> int | None:
    """Where the function's code begins in the file."""
    address = _symbol(server, function)
    if address is None:
        return None
    done = subprocess.run(
        ["readelf", "-lW", str(_binary(server))], capture_output=True, text=True, check=False
    )
    for line in done.stdout.splitlines():
        if line.strip().startswith("LOAD"):
            offset, start, _, size = (int(field, 16) for field in line.split()[1:5])
            if start <= address < start + size:
                return address - start + offset
    return None
