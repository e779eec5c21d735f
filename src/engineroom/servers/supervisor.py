"""The keeper of one server: a small process that ends the server and removes its folder when its owner is gone.

Run as `python -I -S supervisor.py FOLDER OWNER_PID LOCK_FD`; only the standard library is used, so that it starts at once.
It reads FOLDER/launch.json, starts the command, writes FOLDER/pid and, when the command ends, FOLDER/exit. It stops when
its standard input closes, when the owner dies (also by kill -9, and also when a forked child of the owner keeps the pipe
open), when FOLDER is removed, or by SIGTERM. OWNER_PID 0 means that nobody owns the server: it lives until SIGTERM.

The lock on LOCK_FD is held for as long as this process lives: a folder whose lock is free has no keeper.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
# Landlock's system calls have one number on every architecture, and each version of it knows more ways to write.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_WRITES = {1: 0b1_1111_1111_0010, 2: 0b11_1111_1111_0010, 3: 0b111_1111_1111_0010}
LOOK_S = 2  # how often to look whether the folder is still there


def main() -> None:
    folder, owner = Path(sys.argv[1]), int(sys.argv[2])
    if not owner and os.fork():
        os._exit(0)  # nobody's child: no parent has to collect it
    write(folder / "keeper", str(os.getpid()))
    launch = json.loads((folder / "launch.json").read_text())
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.set_wakeup_fd(wake_write)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    watched = [wake_read]
    if owner:
        watched.append(sys.stdin.fileno())
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):  # the owner is gone: its pipe is closed as well
                watched.append(os.pidfd_open(owner))

    child = start(folder, launch)
    write(folder / "pid", str(child.pid))
    stopping = ended = False
    while not stopping:
        ready, _, _ = select.select(watched, [], [], LOOK_S)
        if child.poll() is not None and not ended:
            ended = True
            with contextlib.suppress(OSError):  # on a full disk nobody learns the code
                write(folder / "exit", str(child.returncode))
        for file in ready:
            if file == wake_read:
                signals = os.read(wake_read, 64)
                stopping = stopping or signal.SIGTERM in signals or signal.SIGHUP in signals
            else:
                stopping = True
        # Where there is no pidfd (macOS), a keeper whose owner died belongs to another process.
        stopping = stopping or bool(owner and os.getppid() != owner)
        stopping = stopping or not (folder / "launch.json").exists()

    for command in launch["on_stop"]:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    # The datadir goes with the server, so nothing is gained by letting it shut down in good order.
    with contextlib.suppress(OSError):
        child.kill()
    child.wait()
    for path in [*launch["remove"], str(folder)]:
        shutil.rmtree(path, ignore_errors=True)


def start(folder: Path, launch: dict[str, object]) -> subprocess.Popen[bytes]:
    """Start the command with its output in FOLDER/log; it is killed if this process dies."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    writable = launch["writable"]
    assert isinstance(writable, list)

    def die_with_keeper() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if writable:
                confine(libc, [*writable, os.devnull])

    command = launch["command"]
    stdin = Path(str(launch["stdin"])) if launch["stdin"] else Path(os.devnull)
    assert isinstance(command, list)
    with (folder / "log").open("ab") as log, stdin.open("rb") as source:
        try:
            return subprocess.Popen(
                command,
                stdin=source,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, **launch["environment"]},  # type: ignore[dict-item]
                start_new_session=True,
                preexec_fn=die_with_keeper,  # noqa: PLW1509 (this process has one thread)
            )
        except OSError as error:
            log.write(f"{command[0]}: {error.strerror}\n".encode())
            return subprocess.Popen(["false"])


def has_landlock() -> bool:
    """Whether the kernel can confine a process to folders."""
    return sys.platform == "linux" and landlock(ctypes.CDLL(None)) > 0


def landlock(libc: ctypes.CDLL) -> int:
    """The version of Landlock that the kernel has; 0 or less without it."""
    return int(libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def confine(libc: ctypes.CDLL, writable: list[str]) -> None:
    """From here on this process and its children write, make and remove files below these paths alone."""
    version = landlock(libc)
    if version < 1:
        return
    writes = LANDLOCK_WRITES[min(version, 3)]
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, struct.pack("Q", writes), ctypes.c_size_t(8), 0)
    for path in writable:
        fd = os.open(path, os.O_PATH)
        allowed = writes if Path(path).is_dir() else writes & (1 << 1 | 1 << 14)
        libc.syscall(LANDLOCK_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
        os.close(fd)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError("the server cannot be confined to its folder")


def write(path: Path, text: str) -> None:
    """Write a small file so that a reader sees all of it or nothing."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


if __name__ == "__main__":
    main()
