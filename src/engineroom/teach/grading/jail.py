"""What a student's process cannot do: namespaces of Linux where the kernel lets us, else Landlock, and resource limits everywhere."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["INNER_ID", "Limits", "close_in", "enter_namespaces", "landlock_version", "map_ids"]

NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 0x1000, 0x4000, 0x40000
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, ATTR_RDONLY = 442, -100, 0x8000, 1
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
MNT_DETACH = 2
SYS_LANDLOCK, LANDLOCK_VERSION, LANDLOCK_BENEATH = 444, 1, 1  # of three calls, the first
LANDLOCK_READ, LANDLOCK_LIST, LANDLOCK_WRITE, LANDLOCK_OF_FILES = 0xD, 0x8, 0x2, 0x7
LANDLOCK_ALL = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}  # by version, of which later ones know these, too
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 8, 38, 24
CAP_DAC_READ_SEARCH = 2
INNER_ID, NOBODY = 1000, 65534


@dataclass(frozen=True)
class Limits:
    """Of one cell, and of the tests of one question. `seconds` are the processor's, of each process; `wall_seconds` end what sleeps.

    These are many, since a right answer waits for the processor where much else runs.
    """

    seconds: float = 20
    wall_seconds: float = 60
    memory_mib: int = 2048
    processes: int = 64  # of a notebook: each of its questions has one
    file_mib: int = 16


def enter_namespaces() -> bool:
    """Leave the network, the process table and the mounts of the rest; False where the kernel or the container refuses."""
    if sys.platform != "linux":
        return False
    flags = NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS
    return bool(ctypes.CDLL(None, use_errno=True).unshare(flags) == 0)


def map_ids(process: int) -> None:
    """Called outside: who the process is within its namespace. Root becomes nobody, for whom the kernel counts processes."""
    folder = Path("/proc") / str(process)
    is_root = os.geteuid() == 0
    (folder / "setgroups").write_text("deny")
    for name, own in (("uid_map", os.geteuid()), ("gid_map", os.getegid())):
        mapped = f"0 0 1\n{INNER_ID} {NOBODY} 1\n" if is_root else f"{INNER_ID} {own} 1\n"
        (folder / name).write_text(mapped)


def landlock_version() -> int:
    """Of what can keep files from a process that has no namespaces; 0 where the kernel has none."""
    if sys.platform != "linux":
        return 0
    version: int = ctypes.CDLL(None).syscall(SYS_LANDLOCK, None, ctypes.c_size_t(0), LANDLOCK_VERSION)
    return max(0, version)


def close_in(
    scratch: Path, seen: list[Path], hidden: list[Path], limits: Limits, *, is_in_namespaces: bool
) -> None:
    """Nothing can be written but in `scratch`, which is empty; nothing else is there but `seen`, less `hidden`; the limits hold, but that of the processor."""
    if is_in_namespaces:
        _mounts(scratch, seen, hidden)
    os.chdir(scratch)
    mib = 2**20
    for which, most in (
        (resource.RLIMIT_AS, limits.memory_mib * mib),
        (resource.RLIMIT_FSIZE, limits.file_mib * mib),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 1024),
        # Without a namespace the kernel would count all that the instructor runs.
        *([(resource.RLIMIT_NPROC, limits.processes)] if is_in_namespaces else []),
    ):
        resource.setrlimit(which, (most, most))
    libc = ctypes.CDLL(None, use_errno=True)
    if is_in_namespaces:
        is_root = os.geteuid() == 0
        if is_root:
            for capability in range(41):
                libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
            libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
            os.setresgid(INNER_ID, INNER_ID, INNER_ID)
            os.setresuid(INNER_ID, INNER_ID, INNER_ID)
        # Root's Python may lie in a folder that only root can read.
        kept = 1 << CAP_DAC_READ_SEARCH if is_root else 0
        header, sets = struct.pack("<Ii", 0x20080522, 0), struct.pack("<6I", kept, kept, 0, 0, 0, 0)
        if libc.capset(header, sets) != 0:
            raise OSError(ctypes.get_errno(), "capset")
    if sys.platform == "linux":
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of the account has ended it
        if not is_in_namespaces and landlock_version():
            _landlock(scratch, seen, hidden)
    os.environ.update(HOME=str(scratch), TMPDIR=str(scratch))


def _landlock(scratch: Path, seen: list[Path], hidden: list[Path]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    everything = LANDLOCK_ALL[min(3, landlock_version())]
    handled = struct.pack("<Q", everything)
    rules = libc.syscall(SYS_LANDLOCK, handled, ctypes.c_size_t(len(handled)), 0)
    waiting = [scratch, *seen]
    while waiting:
        place = waiting.pop()
        allowed = everything if place == scratch else LANDLOCK_READ
        if place.is_relative_to("/dev"):
            allowed |= LANDLOCK_WRITE
        if place in hidden or not place.exists():
            continue
        if any(each.is_relative_to(place) for each in hidden):  # what is allowed holds for all below
            waiting += place.iterdir()
            allowed = LANDLOCK_LIST
        at = os.open(place, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("<Qi", allowed if place.is_dir() else allowed & LANDLOCK_OF_FILES, at)
        if libc.syscall(SYS_LANDLOCK + 1, rules, LANDLOCK_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_add_rule", str(place))
    if libc.syscall(SYS_LANDLOCK + 2, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")


def _mounts(scratch: Path, seen: list[Path], hidden: list[Path]) -> None:
    """A root of its own, in which `seen` are where they were. The old one is let go."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: object) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(what))

    def mount(
        source: object, target: Path | str, kind: str | None, flags: int, data: str | None = None
    ) -> None:
        encoded = [None if text is None else str(text).encode() for text in (source, target, kind, data)]
        check(libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]), target)

    plain = MS_NOSUID | MS_NODEV
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", scratch, "tmpfs", plain, "size=64k,mode=0755")
    for place in (*seen, scratch):
        target = scratch / place.relative_to("/")
        (target if place.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
        if place in seen:
            if not place.is_dir():
                target.touch()
            mount(place, target, None, MS_BIND | MS_REC)
    os.chdir(scratch)
    check(libc.syscall(SYS_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    check(libc.umount2(b".", MNT_DETACH), "umount2")  # the old root, which lies over the new one
    attributes = struct.pack("<4Q", ATTR_RDONLY, 0, 0, 0)
    check(
        libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, attributes, len(attributes)),
        "mount_setattr",
    )
    mount("tmpfs", scratch, "tmpfs", plain, f"size=64m,mode=0700,uid={INNER_ID},gid={INNER_ID}")
    for place in hidden:
        if place.is_dir():
            mount("tmpfs", place, "tmpfs", plain | MS_RDONLY, "size=4k")
        elif place.exists():
            mount("/dev/null", place, None, MS_BIND)
