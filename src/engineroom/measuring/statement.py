"""One statement on one server: what it answered, what it cost the server, and what it did there."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engineroom.errors import EngineRoomError
from engineroom.servers import session_status

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["COUNTED", "Measured", "join_of", "measure", "plan"]

# Where the names of the counters begin that tell what a statement did.
COUNTED = (
    "Created_tmp_", "Handler_", "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads",
    "Innodb_log_write_requests", "Innodb_rows_", "Select_", "Sort_",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run answered and cost; of several statements the answer is the last one's."""

    answer: list[tuple[Any, ...]]
    columns: tuple[str, ...]  # none when the statement answers with no rows
    affected_rows: int
    wall_s: float
    known_cpu_s: float | None  # None when the server is no process of this machine
    counters: dict[str, int]  # those that moved, and how far

    @property
    def cpu_s(self) -> float:
        """CPU time of all threads of the server."""
        if self.known_cpu_s is None:
            raise EngineRoomError(
                "the server's CPU time cannot be read",
                remedy="measure on Linux with a server that runs as a process of this machine: engineroom doctor lists them",
            )
        return self.known_cpu_s


def measure(
    server: Server, connection: Any, *statements: str, settings: Sequence[str] = (), rolled_back: bool = False
) -> Measured:
    """Run the statements once and return the last one's answer, the server's CPU seconds and the counters that all of them moved.

    With `rolled_back` they are one transaction that leaves no row behind. Counters are differences, and no server counts the
    statement that shows them. Others' work would be counted as CPU time and as pages read: what is measured here has no
    other client.
    """
    with connection.cursor() as cursor:
        for setting in settings:
            cursor.execute(setting)
        if rolled_back:
            cursor.execute("START TRANSACTION")
        before = _counters(connection)
        cpu_before, start = _cpu_seconds(server), time.monotonic()
        for sql in statements:
            cursor.execute(sql)
            answer = cursor.fetchall() if cursor.with_rows else []
            columns, affected_rows = tuple(cursor.column_names) if cursor.with_rows else (), cursor.rowcount
            while cursor.nextset():  # a procedure has several results, and one without rows behind them
                answer += cursor.fetchall() if cursor.with_rows else []
        wall_s = time.monotonic() - start
        cpu_after = _cpu_seconds(server)
        after = _counters(connection)
        measured = Measured(
            answer=answer,
            columns=columns,
            affected_rows=affected_rows,
            wall_s=wall_s,
            known_cpu_s=None if cpu_before is None or cpu_after is None else cpu_after - cpu_before,
            counters={
                name: moved for name, value in after.items() if (moved := value - before.get(name, 0)) > 0
            },
        )
        if rolled_back:
            cursor.execute("ROLLBACK")
    return measured


def _counters(connection: Any) -> dict[str, int]:
    return {name: value for name, value in session_status(connection).items() if name.startswith(COUNTED)}


def plan(server: Server, connection: Any, sql: str) -> str:
    """The plan as the version shows it best: a tree where there is one, else the table's lines as text."""
    with connection.cursor() as cursor:
        if server.supports("explain_tree"):
            cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
            tree = str(cursor.fetchall()[0][0]).rstrip()
            # What the tree's executor cannot run, such as a changing statement of early 8.0, has no tree.
            if "not executable" not in tree:
                return tree
        cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {sql}")
        names = [column[0] for column in cursor.description]
        lines = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return "\n".join(
        f"{line['table'] or '-'}: {line['type'] or '-'}, key {line['key'] or 'none'}, {line['rows'] or '-'} rows"
        + (f", {line['Extra']}" if line["Extra"] else "")
        for line in lines
    )


def join_of(tree: str) -> str:
    """The join node of a plan printed as a tree, without its costs; the whole text when it has none."""
    found = re.search(r"-> (.*join.*?)(?:  \(cost=|$)", tree, flags=re.MULTILINE)
    return found[1] if found else tree


# The system books a thread's time when it leaves the processor, or at its next tick. Of 400 EXPLAINs of a chain of 15
# tables 13 counted as less than half of the median without a rest before the clock was read, one with a rest of 2 ms,
# none where two readings agree.
UNTIL_BOOKED_S = 0.002
STILL_S = 0.0001
MOST_LOOKS = 20


def _cpu_seconds(server: Server) -> float | None:
    """The server's CPU time once it stands still, but for what its own housekeeping takes."""
    before = server.cpu_seconds()
    if before is None:
        return None
    for _ in range(MOST_LOOKS):
        time.sleep(UNTIL_BOOKED_S)
        seconds = server.cpu_seconds()
        if seconds is None or seconds - before < STILL_S:
            break
        before = seconds
    return seconds
