"""One statement on one server: what it answered, what it cost the server, and what it did there."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Measured", "join_of", "measure", "plan"]


@dataclass(frozen=True)
class Measured:
    """`cpu_s` is CPU time of all threads of the server, `counters` the session status counters that moved."""

    answer: list[tuple[Any, ...]]
    cpu_s: float
    counters: dict[str, int]


def measure(server: Server, connection: Any, sql: str, *, settings: Sequence[str] = ()) -> Measured:
    """Run `sql` once and return its answer, the server's CPU seconds and the counters it moved.

    The counters are set to zero before the statement, so the connection must be ours alone. Others' work on the server
    would be counted as CPU time: the experiments' servers have no other client.
    """
    with connection.cursor() as cursor:
        for setting in settings:
            cursor.execute(setting)
        cursor.execute("FLUSH STATUS")
        before = _cpu_seconds(server)
        cursor.execute(sql)
        answer = cursor.fetchall() if cursor.with_rows else []
        cpu_s = _cpu_seconds(server) - before
        cursor.execute("SHOW SESSION STATUS")
        counters = {name: int(value) for name, value in cursor.fetchall() if re.fullmatch(r"\d+", value)}
    kept = ("Handler_", "Created_tmp_", "Select_", "Sort_")
    return Measured(
        answer=answer,
        cpu_s=cpu_s,
        counters={name: value for name, value in counters.items() if value and name.startswith(kept)},
    )


def plan(server: Server, connection: Any, sql: str) -> str:
    """The plan as the version shows it best: a tree where there is one, else the table's lines as text."""
    with connection.cursor() as cursor:
        if server.supports("explain_tree"):
            cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
            return str(cursor.fetchone()[0]).rstrip()
        cursor.execute(f"EXPLAIN {sql}")
        names = [column[0] for column in cursor.description]
        lines = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return "\n".join(
        f"{line['table']}: {line['type']}, key {line['key'] or 'none'}, {line['rows']} rows, {line['Extra'] or ''}".rstrip(
            ", "
        )
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


def _cpu_seconds(server: Server) -> float:
    """The server's CPU time once it stands still, but for what its own housekeeping takes."""
    before = _booked_seconds(server)
    for _ in range(MOST_LOOKS):
        time.sleep(UNTIL_BOOKED_S)
        seconds = _booked_seconds(server)
        if seconds - before < STILL_S:
            break
        before = seconds
    return seconds


def _booked_seconds(server: Server) -> float:
    seconds = server.cpu_seconds()
    if seconds is None:
        raise EngineRoomError(
            f"the CPU time of MySQL {server.version} cannot be read ({server.provider})",
            remedy="measure on Linux with a server that runs as a process of this machine: engineroom doctor lists them",
        )
    return float(seconds)
