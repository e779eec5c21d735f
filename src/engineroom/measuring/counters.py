"""What a server's own counters say that one connection's statements did: redo, row locks, latches and page requests.

They are read over another connection. With `latches` the instruments of InnoDB's latches are on for that time; without, nothing of the
server is changed, and 5.7, which counts a mini-transaction in ten, tells all only where those of its log are on already.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Counters", "is_purged", "locks_and_lsn", "moved"]

_HELD = ("row_locks", "lock_objects")
_LATCHES = (
    "SELECT event_name, count_star FROM performance_schema.events_waits_summary_by_thread_by_event_name"
    " WHERE thread_id = {thread} AND event_name LIKE 'wait/synch/%/innodb/%' AND count_star > 0"
)
_INSTRUMENTS = "UPDATE performance_schema.setup_instruments SET enabled = '{enabled}', timed = 'NO' WHERE name LIKE 'wait/synch/%/innodb/%'"
_STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_log_write_requests', 'Innodb_buffer_pool_read_requests')"
_TRUNCATES = "innodb_purge_rseg_truncate_frequency"  # from 5.7 on
_MOST_RESTS = 200
_STILL_S = 0.003
_UNTIL_PURGED_S = 30


def moved(before: Mapping[str, int], after: Mapping[str, int], *, ends: bool) -> dict[str, int]:
    """What a statement has added to the counters; `ends` says that it was a transaction's end."""
    moved = {name: value - before.get(name, 0) for name, value in after.items()}
    if "log_sys_mutex" in after:
        # One log latch: 5.7's counter leaves out what fits into the log's current block. Each mini-transaction with redo takes the
        # latch once, and so does waiting for the log to be written, behind another latch of its own.
        moved["mtrs"] = moved["log_sys_mutex"] - moved.get("log_sys_write_mutex", 0)
    # The end of a transaction takes no lock, and gives back what the others took.
    return moved | dict.fromkeys(_HELD, 0) if ends else moved


class Counters:
    """Counters of the server and of one of its connections, read over another one."""

    def __init__(self, server: Server, client: int, *, latches: bool = True) -> None:
        self._server, self._client, self._instruments = server, client, latches

    def __enter__(self) -> Self:
        if self._instruments:
            self._server.execute(_INSTRUMENTS.format(enabled="YES"))
        ((thread,),) = self._server.query(
            f"SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {self._client}"
        )
        self._latches = _LATCHES.format(thread=thread)
        self._connection, self._reader = self._server.connect(), self._server.connect()
        self._cursor = self._connection.cursor()
        with self._truncating() if self._instruments else contextlib.nullcontext():
            self._until_purged()
        # An old snapshot, so that purge, whose redo and page requests would be counted too, has nothing to do.
        reader = self._reader.cursor()
        reader.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")  # others keep no snapshot
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (self._connection, self._reader):
            with contextlib.suppress(Exception):
                connection.close()
        if self._instruments:
            self._server.execute(_INSTRUMENTS.format(enabled="NO"))

    def read(self) -> dict[str, int]:
        """Every counter by its name: mtrs, page_requests, lsn, row_locks, lock_objects, and latches by those of their instruments."""
        latches = {str(name).rpartition("/")[2]: int(count) for name, count in self._rows(self._latches)}
        return latches | self._of_server()

    def settled(self) -> dict[str, int]:
        """What `read` says when nothing moves any more."""
        before = self._of_server()
        for _ in range(_MOST_RESTS):
            time.sleep(_STILL_S)
            after = self._of_server()
            if after == before:
                break
            before = after
        return self.read()

    @contextmanager
    def _truncating(self) -> Iterator[None]:
        """Purge gives back undo logs at once, not at each 128th of its turns: what is left would come among the statements."""
        ((before,),) = self._rows(f"SELECT @@GLOBAL.{_TRUNCATES}")
        self._cursor.execute(f"SET GLOBAL {_TRUNCATES} = 1")
        try:
            yield
        finally:
            self._cursor.execute(f"SET GLOBAL {_TRUNCATES} = {before}")

    def _until_purged(self) -> None:
        """Wait until the server has put away what the first pass left, for `_UNTIL_PURGED_S` at most."""
        still = 0
        before = self._of_server()
        for _ in range(10 * _UNTIL_PURGED_S):
            time.sleep(0.1)
            after = self._of_server()
            ((_, _, text),) = self._rows("SHOW ENGINE INNODB STATUS")
            # On a busy machine nothing may move for long although purge has not come to its work yet.
            still = still + 1 if after == before and is_purged(text, truncated=self._instruments) else 0
            if still == 5:
                return
            before = after

    def _of_server(self) -> dict[str, int]:
        status = {name: int(value) for name, value in self._rows(_STATUS)}
        ((_, _, text),) = self._rows("SHOW ENGINE INNODB STATUS")
        return {
            "mtrs": status["Innodb_log_write_requests"],
            "page_requests": status["Innodb_buffer_pool_read_requests"],
            **locks_and_lsn(text, self._client),
        }

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        self._cursor.execute(sql)
        rows: list[tuple[Any, ...]] = self._cursor.fetchall()
        return rows


def is_purged(text: str, *, truncated: bool) -> bool:
    """Whether SHOW ENGINE INNODB STATUS says that purge rests, and, where it has `truncated` all that it purged, that it has left nothing.

    It rests, too, before it has heard of a commit.
    """
    rests = re.search(r"^Purge done for .* state: running but idle", text, re.MULTILINE)
    nothing_left = re.search(r"^History list length 0$", text, re.MULTILINE)
    return bool(rests and (nothing_left or not truncated))


def locks_and_lsn(text: str, client: int) -> dict[str, int]:
    """From what SHOW ENGINE INNODB STATUS prints: the log sequence number, and row locks and lock structures of a client's transaction."""
    lsn = re.search(r"^Log sequence number\s+(\d+)", text, re.MULTILINE)
    if lsn is None:
        raise EngineRoomError(
            "SHOW ENGINE INNODB STATUS says no log sequence number",
            remedy="report it with the version of the server",
        )
    own = next(
        (part for part in text.split("---TRANSACTION ")[1:] if re.search(rf"thread id {client}\b", part)), ""
    )
    objects, rows = (re.search(rf"(\d+) {what}", own) for what in (r"lock struct\(s\)", r"row lock\(s\)"))
    return {
        "lsn": int(lsn[1]),
        "lock_objects": int(objects[1]) if objects else 0,
        "row_locks": int(rows[1]) if rows else 0,
    }
