"""`python -m engineroom.teach.grading.forks student|judge FD`: a process that has imported everything and forks one per question.

The student's process is forked from one that has never read a test, the grading process from another. Each question has a pair
of its own, so that nothing of one answer is left for the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from engineroom.teach.grading import jail, judge, student

__all__ = ["receive", "send"]


def send(control: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """A message of any length, with open files."""
    data = json.dumps(message).encode()
    socket.send_fds(control, [struct.pack(">I", len(data))], descriptors)
    control.sendall(data)


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message and its open files; EOFError when the other side is gone."""
    head, descriptors, _, _ = socket.recv_fds(control, 4, 4)
    if len(head) < 4:
        raise EOFError
    (length,) = struct.unpack(">I", head)
    data = bytearray()
    while len(data) < length:
        part = control.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return json.loads(data), list(descriptors)


def main(kind: str, descriptor: int) -> None:
    """Serve the orders of the program that started us, until it is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the program that started us ends us
    order, _ = receive(control)
    for name in order["modules"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with_namespaces = order["isolation"] != "limits"
    if kind == "student":
        is_closed = with_namespaces and _can_close(order)
        send(control, {"isolation": "namespaces" if is_closed else "limits"})
        with_namespaces = is_closed
    else:
        send(control, {})
    while True:
        order, descriptors = receive(control)
        if kind == "student":
            running = _start_student(order, descriptors, with_namespaces)
        else:
            running = _start_judge(order, descriptors)
        for each in descriptors:
            os.close(each)
        try:
            receive(control)  # the order to end
        finally:
            status, cpu_seconds = _end(*running)
        send(control, {"status": status, "cpu_seconds": cpu_seconds})


def _start_judge(order: dict[str, Any], descriptors: list[int]) -> tuple[int, int]:
    child = os.fork()
    if child == 0:
        _alone(lambda: judge.run(order, socket.socket(fileno=descriptors[0]), descriptors[1]))
    return child, child


def _start_student(order: dict[str, Any], descriptors: list[int], with_namespaces: bool) -> tuple[int, int]:
    """The two processes: one that waits outside, and the student's, the first of a process table of its own."""
    told, tell = os.pipe()
    heard, say = os.pipe()
    outer = os.fork()
    if outer == 0:

        def wait_for_inner() -> None:
            # Before the capabilities are there, root's rights are needed to be counted as somebody else.
            is_in = with_namespaces and jail.enter_namespaces()
            os.write(tell, b"\1" if is_in else b"\0")
            os.read(heard, 1)
            inner = os.fork()
            if inner == 0:
                _alone(lambda: _be_student(order, descriptors[0], is_in))
            os.close(descriptors[0])
            os.write(tell, struct.pack(">I", inner))
            _, status = os.waitpid(inner, 0)
            code = os.waitstatus_to_exitcode(status)
            os._exit(128 - code if code < 0 else code)

        _alone(wait_for_inner)
    for each in (tell, heard):
        os.close(each)
    try:
        if os.read(told, 1) == b"\1":
            with contextlib.suppress(OSError):  # it fails in its first mount then, and says so by its status
                jail.map_ids(outer)
        os.write(say, b"\1")
        (inner,) = struct.unpack(">I", os.read(told, 4))
    except struct.error:
        inner = outer
    finally:
        os.close(told)
        os.close(say)
    return outer, inner


def _be_student(order: dict[str, Any], descriptor: int, is_in: bool) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(jail.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    hidden = [Path(place) for place in order["hidden"]]
    jail.close_in(Path(order["scratch"]), hidden, jail.Limits(**order["limits"]), is_in_namespaces=is_in)
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    channel = os.dup2(descriptor, 3) if descriptor != 3 else 3
    os.closerange(4, 1 << 16)
    if order["cells"] is not None:
        student.run(order["cells"], order["answers"], socket.socket(fileno=channel))


def _can_close(order: dict[str, Any]) -> bool:
    """Whether the namespaces can be had here, with all that is mounted in them."""
    ours, theirs = socket.socketpair()
    trial = order | {"cells": None, "answers": []}
    outer, _ = _start_student(trial, [theirs.fileno()], True)
    ours.close()
    theirs.close()
    _, status = os.waitpid(outer, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _alone(what: Any) -> None:
    """Run it as all that this forked process does."""
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        what()
        code = 0
    except BaseException as error:  # noqa: BLE001 (a forked process must not go on with its parent's work)
        if os.environ.get("ENGINEROOM_GRADING_DEBUG"):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def _end(outer: int, inner: int) -> tuple[int, float]:
    """How the process ended: its exit code, or the signal as a negative number; -9 if only we ended it. And its processor time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(
            inner, signal.SIGKILL
        )  # also what it has started and left, where no process table ends with it
    if _is_running(outer):
        with contextlib.suppress(ProcessLookupError):
            os.kill(inner, signal.SIGKILL)
    _, status, usage = os.wait4(outer, 0)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code > 128 else code, usage.ru_utime + usage.ru_stime


def _is_running(process: int) -> bool:
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


if __name__ == "__main__":
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        main(sys.argv[1], int(sys.argv[2]))
