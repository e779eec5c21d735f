"""What a statement costs the thread that serves it on a server of this computer, read from outside: nothing is put into the server.

Linux counts the CPU time of each thread when it leaves its processor. So it is read when the thread sleeps again, a few microseconds
behind the answer: receiving, computing, sending, going to sleep are all in it, as in `command_clock`. A client that is slow to send its
next statement lets the thread's caches cool, as there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["ThreadClock", "thread_of"]

_NAMES = ("mysqld", "connection")  # of a server's thread, by version
_MOST_LOOKS = 100_000
_SLEEPS = b"S"


class ThreadClock:
    """The CPU time of one thread of another process."""

    def __init__(self, thread: int, proc: Path = Path("/proc")) -> None:
        self._spent, self._state = proc / str(thread) / "schedstat", proc / str(thread) / "stat"

    def read_ns(self) -> int:
        """What it has spent so far, as soon as it sleeps. EngineRoomError when it has ended, or never sleeps."""
        try:
            for _ in range(_MOST_LOOKS):
                # Between a name in parentheses, which may hold anything, and numbers.
                if self._state.read_bytes().rpartition(b")")[2].split()[0] == _SLEEPS:
                    return int(self._spent.read_bytes().split()[0])
        except (OSError, IndexError, ValueError) as error:
            raise EngineRoomError(
                f"the CPU time of the server's thread cannot be read: {error}",
                remedy="measure on the server's own computer, under Linux, with the server still running",
            ) from error
        raise EngineRoomError(
            "the server's thread goes on computing when its statement is answered",
            remedy="let nothing else use this connection, and try again",
        )


def thread_of(server: Server, client: int, proc: Path = Path("/proc")) -> int:
    """The number that this computer knows the thread of a connection by. EngineRoomError where the server is not here, or does not say."""
    import mysql.connector

    asked = f"SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {client}"
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(asked)
            rows = cursor.fetchall()
    except mysql.connector.Error as error:
        raise EngineRoomError(
            f"MySQL {server.version} does not say which thread serves a connection: {error}",
            remedy="GRANT SELECT ON performance_schema.* to the account; 5.6 has no such column: measure on 5.7 or later",
        ) from error
    thread = int(rows[0][0]) if rows and rows[0][0] else 0
    try:
        name = (proc / str(thread) / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        name = ""
    if not any(name.startswith(known) for known in _NAMES):
        raise EngineRoomError(
            f"the server at {server.host} does not run where this command does, or without performance_schema",
            remedy="measure on the server's own computer, outside of containers and with --save; simulate anywhere with --demands",
        )
    return thread
