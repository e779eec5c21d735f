"""Waits for metadata locks and their like from rows made by hand, with and without the table that shows their holders."""

from __future__ import annotations

import re

import pytest

from engineroom.ask.lock_waits import metadata
from engineroom.ask.lock_waits.graph import LockWaits, Session

STATE = "Waiting for table metadata lock"


def process(number, state=STATE, *, seconds=5, command="Query", statement="SELECT 1"):
    return (number, "shop", "web", command, seconds, state, statement)


def idle(number, **more):
    return Session(id=number, **{"user": "shop", "transaction_s": 9, "idle_s": 9, **more})


@pytest.mark.parametrize(
    ("type_", "name", "modes", "kind", "holds"),
    [
        ("TABLE", "t", ("SHARED_READ", "EXCLUSIVE"), "metadata lock", None),
        ("TABLE", "t", ("SHARED_NO_READ_WRITE", "SHARED_READ"), "metadata lock", "LOCK TABLES d.t WRITE"),
        ("TABLE", "t", ("SHARED_READ_ONLY", "SHARED_WRITE"), "metadata lock", "LOCK TABLES d.t READ"),
        (
            "GLOBAL",
            None,
            ("SHARED", "INTENTION_EXCLUSIVE"),
            "global read lock",
            "FLUSH TABLES WITH READ LOCK",
        ),
        ("COMMIT", None, ("SHARED", "INTENTION_EXCLUSIVE"), "commit lock", "FLUSH TABLES WITH READ LOCK"),
        ("BACKUP LOCK", None, ("SHARED", "INTENTION_EXCLUSIVE"), "backup lock", "LOCK INSTANCE FOR BACKUP"),
        ("USER LEVEL LOCK", "job", ("EXCLUSIVE", "EXCLUSIVE"), "user level lock", "GET_LOCK('job')"),
        ("PROCEDURE", "p", ("SHARED", "EXCLUSIVE"), "metadata lock", None),
        ("GLOBAL", None, ("INTENTION_EXCLUSIVE", "SHARED"), "global read lock", None),
    ],
)
def test_each_kind_of_lock_has_its_words(type_, name, modes, kind, holds):
    held, asked = modes
    schema = "d" if type_ in ("TABLE", "PROCEDURE") else None
    rows = [(type_, schema, name, held, "GRANTED", 1), (type_, schema, name, asked, "PENDING", 2)]
    rows.append((type_, schema, name, "INTENTION_EXCLUSIVE", "GRANTED", 2))
    (wait,), found, unseen = metadata.waits(rows, [process(1, "", command="Sleep"), process(2)])
    assert (wait.waiting, wait.blocking, wait.kind, wait.held, wait.waited_s) == (2, 1, kind, held, 5)
    assert wait.table == ".".join(filter(None, (schema, name)))
    assert found.get(1) == ({holds} if holds else None)
    assert unseen == {}


def test_an_object_without_a_name_is_told_by_its_type():
    rows = [
        ("ACL CACHE", None, None, "SHARED", "GRANTED", 1),
        ("ACL CACHE", None, None, "EXCLUSIVE", "PENDING", 2),
    ]
    (wait,), _, _ = metadata.waits(rows, [process(1, "", command="Sleep"), process(2)])
    assert (wait.kind, wait.table) == ("metadata lock", "acl cache")


def test_readers_wait_for_the_alter_that_waits_for_an_idle_transaction():
    rows = [
        ("TABLE", "d", "t", "SHARED_READ", "GRANTED", 1),
        ("TABLE", "d", "t", "SHARED_UPGRADABLE", "GRANTED", 2),
    ]
    rows += [("TABLE", "d", "t", "SHARED_READ", "PENDING", n) for n in (3, 4, 5)]
    rows.append(("TABLE", "d", "t", "EXCLUSIVE", "PENDING", 2))
    found, _, _ = metadata.waits(rows, [process(n, seconds=20 - n) for n in (2, 3, 4, 5)])
    assert {(w.waiting, w.blocking) for w in found} == {(2, 1), (3, 2), (4, 2), (5, 2)}


@pytest.mark.parametrize(
    ("state", "command", "kind"),
    [
        (STATE, "Query", "metadata lock"),
        ("Waiting for stored procedure metadata lock", "Query", "metadata lock"),
        ("Waiting for global read lock", "Query", "global read lock"),
        ("Waiting for backup lock", "Query", "backup lock"),
        ("Waiting for table flush", "Query", "table flush"),
        ("Waiting for table level lock", "Execute", "table level lock"),
        ("User lock", "Query", "user level lock"),
        ("Waiting for source to send event", "Connect", ""),
        ("Waiting on empty queue", "Daemon", ""),
        ("updating", "Query", ""),
        (None, "Sleep", ""),
    ],
)
def test_the_state_of_a_process_says_what_it_waits_for(state, command, kind):
    assert metadata.is_waiting(process(1, state, command=command)) == kind


def test_without_the_table_it_says_who_may_be_in_the_way_and_that_it_is_not_seen():
    processes = [
        process(1, "", command="Sleep"),
        process(2),
        process(3, seconds=4),
        process(4, "", seconds=60),
    ]
    sessions = {
        1: idle(1),
        2: idle(2),
        3: idle(3),
        4: idle(4, transaction_s=None, idle_s=None),
        5: idle(5, transaction_s=1),
    }
    sessions[6] = idle(6, transaction_s=None)
    root, waits = metadata.behind_unseen(
        {2: "metadata lock", 3: "metadata lock"}, processes, sessions, {6: "LOCK TABLES t READ"}
    )
    text = LockWaits("5.6.24", {**sessions, root.id: root}, waits).text()
    assert "who is in their way is not to be seen" in text
    lines = [line for line in text.splitlines() if "perhaps" in line]
    assert [line.split()[2] for line in lines] == ["6", "4", "1"], (
        "after a statement that locks, then by age; 5 is too young"
    )
    assert lines[0].endswith("after LOCK TABLES t READ")
    assert "KILL" not in text


def test_a_flush_waits_for_statements_that_run_and_can_be_ended_by_name():
    processes = [
        process(1, "", command="Sleep"),
        process(2),
        process(3, seconds=4),
        process(4, "", seconds=60),
    ]
    sessions = {number: idle(number) for number in (1, 2, 3)} | {4: idle(4, idle_s=None)}
    root, waits = metadata.behind_unseen({2: "table flush", 3: "table flush"}, processes, sessions, {})
    text = LockWaits("8.0.36", {**sessions, root.id: root}, waits).text()
    assert "perhaps session 1" not in text, "an idle transaction has closed its tables"
    assert re.search(r"perhaps session 4.*\n    KILL QUERY 4; -- ends the statement", text)
