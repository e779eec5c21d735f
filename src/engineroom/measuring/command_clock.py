"""What each command of a client costs the thread that serves it, by the thread's own clock and without a pause between two commands.

A library in the server notes, whenever a thread has received a command, how much CPU time the thread has used and what time it is. From
one command to the next that is all the thread did for the first: computing, sending the answer, going to sleep and waking up. A
client that looked at the server between two commands would let its caches cool: CPU time measured so was 1.3 to 2.3 times as much.
The library costs a command two system calls' time, about half a microsecond.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engineroom import children
from engineroom.errors import EngineRoomError
from engineroom.measuring.preload import preloaded

__all__ = ["EXECUTE", "QUERY", "CommandClock", "clocked", "commands_of", "noted"]

# First bytes of commands: the end of a connection, a statement as text, a prepared one.
QUIT, QUERY, EXECUTE = 0x01, 0x03, 0x17
_MOST_LOOKS, _LOOK_S = 1000, 0.01
_FILE, _PROCESSOR = "ENGINEROOM_COMMANDS", "ENGINEROOM_PROCESSOR"
_HEAD = 20
_RECORD = np.dtype([("cpu_ns", "<i8"), ("wall_ns", "<i8"), ("thread", "<i4"), ("head", "u1", _HEAD)])
# A message has four bytes of length and number before the command. Servers read them alone, or with what follows.
SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum { KEPT = 256, HEAD = 20, QUIT = 1 };
struct command { long long cpu_ns, wall_ns; int thread; unsigned char head[HEAD]; };
static __thread struct command kept[KEPT];
static __thread int n_kept, is_open, is_placed;
static int file = -1;
static long long ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
static void keep(void) {
  if (write(file, kept, n_kept * sizeof *kept) < 0) _exit(70);
  n_kept = 0;
}
static void place(void) {
  const char *processor = getenv("ENGINEROOM_PROCESSOR");
  is_placed = 1;
  if (!processor) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(atoi(processor), &only);
  if (sched_setaffinity(0, sizeof only, &only)) _exit(70);
}
static void received(const unsigned char *bytes, long size) {
  if (!is_placed) place();
  if (file < 0) {
    const char *path = getenv("ENGINEROOM_COMMANDS");
    if (!path || (file = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) < 0) return;
  }
  if (!is_open) {
    if (n_kept == KEPT) keep();
    kept[n_kept] = (struct command){ns(CLOCK_THREAD_CPUTIME_ID), ns(CLOCK_MONOTONIC), syscall(SYS_gettid), {0}};
    is_open = 1;
    if (size == 4) return;
    bytes += 4;
    size -= 4;
  }
  if (size > 0) memcpy(kept[n_kept].head, bytes, size < HEAD ? size : HEAD);
  is_open = 0;
  if (kept[n_kept++].head[0] == QUIT) keep();
}
ssize_t recv(int fd, void *buffer, size_t size, int flags) {
  static ssize_t (*next)(int, void *, size_t, int);
  if (!next) next = dlsym(RTLD_NEXT, "recv");
  ssize_t got = next(fd, buffer, size, flags);
  if (got > 0) received(buffer, got);
  return got;
}
"""


class CommandClock:
    """The notes of one server."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen = 0

    def skip(self) -> None:
        """Forget what was noted so far."""
        with contextlib.suppress(FileNotFoundError):
            size = self._file.stat().st_size
            self._seen = size - size % _RECORD.itemsize  # the last note may still be half written

    def taken(self, first: bytes) -> npt.NDArray[Any]:
        """What `commands_of` makes of the notes since the last call, once that connection has ended.

        EngineRoomError when the server noted nothing, or no such connection.
        """
        data = b""
        # A server writes a connection's last notes when it hears that the client has gone, on a busy machine long after the client's end.
        for _ in range(_MOST_LOOKS):
            data = self._new()
            if len(data) % _RECORD.itemsize == 0 and _has_ended(np.frombuffer(data, _RECORD), first):
                break
            time.sleep(_LOOK_S)
        self._seen += len(data)
        return commands_of(noted(data), first)

    def _new(self) -> bytes:
        with contextlib.suppress(FileNotFoundError), self._file.open("rb") as file:
            file.seek(self._seen)
            return file.read()
        return b""


@contextmanager
def clocked(folder: Path, name: str, *, processor: int | None = None) -> Iterator[CommandClock]:
    """The server that is started in this block notes its clients' commands in a file of that name.

    The threads that serve clients stay on the processor of that number, from their first command on; without one, anywhere.
    """
    file = folder / name
    with (
        children.variable(_FILE, str(file)),
        contextlib.nullcontext() if processor is None else children.variable(_PROCESSOR, str(processor)),
        preloaded(SOURCE, what="the clock of single commands"),
    ):
        yield CommandClock(file)


def noted(data: bytes) -> npt.NDArray[Any]:
    """The notes in the bytes of a file. EngineRoomError when there are none, or half a one."""
    if not data or len(data) % _RECORD.itemsize:
        raise EngineRoomError(
            f"the server noted {len(data)} bytes of commands, in records of {_RECORD.itemsize}",
            remedy="its way of reading from a client is not the one that is known here: report it with its version",
        )
    return np.frombuffer(data, _RECORD)


def commands_of(notes: npt.NDArray[Any], first: bytes) -> npt.NDArray[Any]:
    """Statements of the connection that was last sent a statement that begins with `first`, from its first such one on: `command`, `text`
    (its first bytes, or the number of a prepared statement), `cpu_ns` and `wall_ns` until the next command, which the last one has none of.

    EngineRoomError when there is no such statement.
    """
    own = _connection(notes, first)
    if not len(own):
        raise EngineRoomError(
            f"no client sent a statement that begins with {first.decode()!r}",
            remedy="its way of reading from a client is not the one that is known here: report it with the server's version",
        )
    made = np.zeros(
        len(own) - 1, [("command", "u1"), ("text", f"S{_HEAD - 1}"), ("cpu_ns", "i8"), ("wall_ns", "i8")]
    )
    made["command"], made["text"] = own["head"][:-1, 0], [_text(head) for head in own["head"][:-1]]
    for name in ("cpu_ns", "wall_ns"):
        made[name] = np.diff(own[name])
    return made[np.isin(made["command"], (QUERY, EXECUTE))]


def _connection(notes: npt.NDArray[Any], first: bytes) -> npt.NDArray[Any]:
    """The notes of that connection, from its first such statement to its end; none when nobody sent one."""
    command = notes["head"][:, 0]
    starts = np.array(
        [i for i in np.flatnonzero(command == QUERY) if _text(notes["head"][i]).startswith(first)], int
    )
    if not len(starts):
        return notes[:0]
    own = np.flatnonzero(notes["thread"] == notes["thread"][starts[-1]])
    # A thread serves one connection after the other.
    ends = own[command[own] == QUIT]
    before, after = ends[ends < starts[-1]], ends[ends > starts[-1]]
    begin = np.intersect1d(starts[starts > (before[-1] if len(before) else -1)], own)[0]
    end = after[0] if len(after) else own[-1]
    found: npt.NDArray[Any] = notes[own[(own >= begin) & (own <= end)]]
    return found


def _has_ended(notes: npt.NDArray[Any], first: bytes) -> bool:
    own = _connection(notes, first)
    return len(own) > 0 and bool(own["head"][-1, 0] == QUIT)


def _text(head: npt.NDArray[Any]) -> bytes:
    """Clients that could send attributes of a statement say first that there are none."""
    return bytes(head[1:]).removeprefix(b"\0\1")
