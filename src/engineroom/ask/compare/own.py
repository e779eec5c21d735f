"""A session on a server of the reader's own, over the tables that are there: nothing is made, and what a run changes is rolled back."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom.ask.compare import repeating
from engineroom.ask.compare.dumps import SYSTEM
from engineroom.ask.compare.loading import Session
from engineroom.errors import EngineRoomError
from engineroom.measuring.thread_clock import thread_of
from engineroom.servers.server import ONE_STATEMENT

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Own"]

_LASTING = frozenset(("mysql", "performance_schema"))  # databases whose engines may roll nothing back


class Own(Session):
    """A session that may only read unless `allows_writes`. CPU time is known of a server on this computer that says which process it is."""

    is_own = True

    def __init__(
        self, server: Server, about: Mapping[str, Any], *, database: str | None, allows_writes: bool
    ) -> None:
        super().__init__(server, about)
        self._database, self._allows_writes = database, allows_writes
        self._connect()
        if server.pid is None:
            server.pid = _process_of(server, self.connection.connection_id)
        if server.pid is None:
            self.remarks[
                f"CPU time of MySQL {server.version} cannot be read here, elapsed times are compared"
            ] = None

    def undo(self, statement: str) -> repeating.Undo:
        """As on other servers, but that a trigger may change any table. Without writes the server sees to it that nothing is changed."""
        said = repeating.writes(statement)
        if not repeating.may_roll_back(statement):
            return repeating.Undo(copy=True, why=f"{said} is not rolled back")
        words = repeating.names(statement) | {(self._database or "").casefold()}
        if said in repeating.CHANGES and words & _LASTING:
            return repeating.Undo(copy=True, why=f"{said} of the server's own tables is not rolled back")
        if not self._allows_writes:
            return repeating.undo(statement, engines={})
        if self._catalogue is None:
            found = self._names("SELECT schema_name FROM information_schema.schemata")
            self._databases = [name for name in found if name.casefold() not in SYSTEM] or [""]
            known = self._known()
            with_triggers = self._names("SELECT event_object_table FROM information_schema.triggers")
            self._catalogue = known._replace(routines=known.routines.union(map(str.casefold, with_triggers)))
        return super().undo(statement)

    def state(self, statement: str) -> list[tuple[Any, ...]]:  # noqa: ARG002 (the server says it of any)
        """What a ROLLBACK just before this has not brought back, in the server's own words."""
        import mysql.connector

        with self.connection.cursor() as cursor:
            cursor.execute("SHOW WARNINGS")
            left = mysql.connector.errorcode.ER_WARNING_NOT_COMPLETE_ROLLBACK
            return [row for row in cursor.fetchall() if row[1] == left]

    def clean(self) -> None:
        """Make the session what it was."""
        if self._is_lost:
            self._connect()
        self._is_lost = False

    def _connect(self) -> None:
        import mysql.connector

        self.hang_up()
        try:
            self.connection = self.server.connect(self._database, client_flags=ONE_STATEMENT)
            with self.connection.cursor() as cursor:
                if not self._allows_writes:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
                if self.about["variables"].get("query_cache_type", "OFF") != "OFF":  # or it would be measured
                    cursor.execute("SET SESSION query_cache_type = OFF")
        except mysql.connector.Error as error:
            raise EngineRoomError(
                f"MySQL {self.server.version} gives no session: {error}",
                remedy="see whether it runs, and name a database of it behind the last slash of --dsn",
            ) from error


def _process_of(server: Server, client: int) -> int | None:
    """The process of a server on this computer, by the thread that serves a connection."""
    with contextlib.suppress(EngineRoomError, OSError):
        status = Path(f"/proc/{thread_of(server, client)}/status").read_text(encoding="utf-8")
        if found := re.search(r"^Tgid:\s*(\d+)", status, re.MULTILINE):
            return int(found[1])
    return None
