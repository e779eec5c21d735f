"""Waits for metadata locks and their like: from performance_schema.metadata_locks where it is filled, else from the list of processes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from engineroom.ask.lock_waits.graph import Session, Wait

__all__ = ["QUERY", "UNSEEN", "behind_unseen", "is_waiting", "wait", "waits"]

# Of each object that somebody waits for, all locks; the time of a wait is in the list of processes.
QUERY = """
SELECT m.OBJECT_TYPE, m.OBJECT_SCHEMA, m.OBJECT_NAME, m.LOCK_TYPE, m.LOCK_STATUS, m.OWNER_THREAD_ID
FROM performance_schema.metadata_locks m JOIN
(SELECT DISTINCT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING') p
ON m.OBJECT_TYPE = p.OBJECT_TYPE AND m.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA AND m.OBJECT_NAME <=> p.OBJECT_NAME
"""
_STATE = re.compile(r"Waiting for (?P<kind>.* lock|table flush)|User lock")
_WRITES = {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE"}
# What a lock of each type cannot be granted beside; those of the server as a whole have the first three types alone.
_EXCLUDED_BY = {
    "INTENTION_EXCLUSIVE": {"SHARED", "EXCLUSIVE"},
    "SHARED": {"INTENTION_EXCLUSIVE", "EXCLUSIVE"},
    "SHARED_HIGH_PRIO": {"EXCLUSIVE"},
    "SHARED_READ": {"EXCLUSIVE", "SHARED_NO_READ_WRITE"},
    "SHARED_WRITE": {*_WRITES, "SHARED_READ_ONLY"},
    "SHARED_WRITE_LOW_PRIO": {*_WRITES, "SHARED_READ_ONLY"},
    "SHARED_UPGRADABLE": {*_WRITES, "SHARED_UPGRADABLE"},
    "SHARED_READ_ONLY": {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"},
    "SHARED_NO_WRITE": {*_WRITES, "SHARED_UPGRADABLE", "SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"},
}
_READS = {"INTENTION_EXCLUSIVE", "SHARED", "SHARED_HIGH_PRIO"}
_EXCLUDED_BY["SHARED_NO_READ_WRITE"] = {*_EXCLUDED_BY, *_WRITES} - _READS
_EXCLUDED_BY["EXCLUSIVE"] = set(_EXCLUDED_BY) | _WRITES
_KINDS = {"GLOBAL": "global read lock", "COMMIT": "commit lock"}
_ARE_OF_THE_SERVER = {"USER LEVEL LOCK", "BACKUP LOCK", "LOCKING SERVICE"}
# What a session did to have a lock, and how it would end it.
_HELD_BY = {
    ("GLOBAL", "SHARED"): "FLUSH TABLES WITH READ LOCK",
    ("COMMIT", "SHARED"): "FLUSH TABLES WITH READ LOCK",
    ("BACKUP LOCK", "SHARED"): "LOCK INSTANCE FOR BACKUP",
    ("TABLE", "SHARED_NO_READ_WRITE"): "LOCK TABLES {} WRITE",
    ("TABLE", "SHARED_READ_ONLY"): "LOCK TABLES {} READ",
    ("USER LEVEL LOCK", "EXCLUSIVE"): "GET_LOCK('{}')",
}
_CANDIDATES = 5
UNSEEN = -1

Process = tuple[Any, ...]  # id, user, host, command, seconds, state, statement


def is_waiting(process: Process) -> str:
    """What a process waits for besides rows, by its state; "" for nothing."""
    found = process[3] != "Sleep" and _STATE.match(str(process[5] or ""))
    kind = (found["kind"] or "user level lock") if found else ""
    return "metadata lock" if kind.endswith("metadata lock") else kind


def waits(
    rows: Iterable[tuple[Any, ...]], processes: Collection[Process]
) -> tuple[list[Wait], dict[int, set[str]], dict[int, str]]:
    """The waits that rows of `QUERY` show, their owners being connections; what holders did to get their locks; and whose wait, of
    what kind, no row explains."""
    by_number = {int(process[0]): process for process in processes}
    unseen = {int(process[0]): kind for process in processes if (kind := is_waiting(process))}
    of_object: defaultdict[tuple[str, ...], list[tuple[str, bool, int]]] = defaultdict(list)
    for type_, schema, name, mode, status, owner in rows:
        of_object[type_, schema or "", name or ""].append((mode, status != "PENDING", owner))
    found: list[Wait] = []
    holds: defaultdict[int, set[str]] = defaultdict(set)
    for (type_, schema, name), locks in of_object.items():
        granted = [(mode, owner) for mode, is_granted, owner in locks if is_granted]
        # The one that waits longest stands before the others.
        pending = sorted(
            ((mode, owner) for mode, is_granted, owner in locks if not is_granted),
            key=lambda lock: (-int(by_number.get(lock[1], (0,) * 5)[4] or 0), lock[1]),
        )
        full = ".".join(filter(None, (schema, name)))
        for mode, owner in granted:
            if words := _HELD_BY.get((type_, mode)):
                holds[owner].add(words.format(full))
        for mode, owner in pending:
            if owner not in by_number:  # a thread of the server's own, which is in nobody's way
                continue
            before = [
                lock for lock in granted if lock[1] != owner and lock[0] in _EXCLUDED_BY.get(mode, ())
            ] or [
                lock
                for lock in pending
                if lock[1] != owner
                and lock[0] in _EXCLUDED_BY.get(mode, ())
                and lock[0] in _WRITES | {"SHARED"}
            ][:1]
            kind = _KINDS.get(type_) or (type_.lower() if type_ in _ARE_OF_THE_SERVER else "metadata lock")
            if kind == "metadata lock":
                full = full or type_.lower()  # such as ACL CACHE, which has no name
            found += [
                wait(by_number[owner], other, kind, table=full, asked=mode, held=held)
                for held, other in before
            ]
            if before:
                unseen.pop(owner, None)
    return found, dict(holds), unseen


def behind_unseen(
    unseen: Mapping[int, str],
    processes: Collection[Process],
    sessions: Mapping[int, Session],
    suspects: Mapping[int, str],
) -> tuple[Session, list[Wait]]:
    """Those whose blocker no table shows, behind one that stands for it and names who may be it: `suspects` after a statement, or who is as old."""
    runs_s = {int(process[0]): int(process[4] or 0) for process in processes if process[3] == "Query"}
    more = [wait(process, UNSEEN, unseen[process[0]]) for process in processes if process[0] in unseen]
    longest = max((each.waited_s for each in more), default=0)
    ages = {
        number: max(session.transaction_s or 0, runs_s.get(number, 0))
        for number, session in sessions.items()
        if session.transaction_s is not None or number in runs_s
    }
    oldest = sorted((number for number in ages if ages[number] >= longest), key=lambda number: -ages[number])
    is_flush = set(unseen.values()) == {"table flush"}
    if is_flush:  # who runs no statement has closed its tables
        oldest = [number for number in oldest if number in runs_s]
    named = [number for number in dict.fromkeys([*suspects, *oldest]) if number not in unseen]
    said = "".join(
        f"\n  perhaps {sessions[number].said()}"
        + (f" after {suspects[number]}" if number in suspects else "")
        + (f"\n    {sessions[number].remedy()[0]}" if is_flush else "")
        for number in named[:_CANDIDATES]
    )
    said = (
        said or "; no transaction and no statement is as old as the wait: perhaps an idle session with a lock"
    )
    statement = f"these wait, and who is in their way is not to be seen{said}"
    root = Session(id=UNSEEN, statement=statement, does="unseen")
    return root, more


def wait(process: Process, blocking: int, kind: str, **more: str) -> Wait:
    """The wait of a process for another."""
    return Wait(waiting=int(process[0]), blocking=blocking, waited_s=int(process[4] or 0), kind=kind, **more)
