"""What is read of a server's counters, and what a statement has added to them."""

from __future__ import annotations

import pytest

from engineroom.errors import EngineRoomError
from engineroom.measuring import counters

STATUS = """
---
LOG
---
Log sequence number          20481
Log flushed up to            20000
------------
TRANSACTIONS
------------
---TRANSACTION 1805, ACTIVE 3 sec
7 lock struct(s), heap size 1136, 40 row lock(s), undo log entries 2
MySQL thread id 80, OS thread handle 1, query id 9 localhost root
---TRANSACTION 1804, ACTIVE 0 sec
2 lock struct(s), heap size 1136, 5 row lock(s), undo log entries 2
MySQL thread id 8, OS thread handle 2, query id 7 localhost root
---TRANSACTION 4215, not started
MySQL thread id 9, OS thread handle 3, query id 8 localhost root
"""


def test_locks_are_those_of_the_client_and_of_nobody_whose_number_begins_alike():
    assert counters.locks_and_lsn(STATUS, 8) == {"lsn": 20481, "lock_objects": 2, "row_locks": 5}
    assert counters.locks_and_lsn(STATUS, 80) == {"lsn": 20481, "lock_objects": 7, "row_locks": 40}
    assert counters.locks_and_lsn(STATUS, 9) == {"lsn": 20481, "lock_objects": 0, "row_locks": 0}


def test_a_status_without_a_log_sequence_number_is_refused():
    with pytest.raises(EngineRoomError, match="no log sequence number"):
        counters.locks_and_lsn("TRANSACTIONS", 8)


def test_a_commit_takes_no_locks_and_an_older_log_is_counted_by_its_latch():
    before = {"row_locks": 5, "lock_objects": 2, "lsn": 100, "mtrs": 7, "log_sys_mutex": 10}
    after = {
        "row_locks": 0,
        "lock_objects": 0,
        "lsn": 150,
        "mtrs": 7,
        "log_sys_mutex": 12,
        "log_sys_write_mutex": 1,
    }
    moved = counters.moved(before, after, ends=True)
    assert (moved["row_locks"], moved["lock_objects"], moved["lsn"], moved["mtrs"]) == (0, 0, 50, 1)
    newer = counters.moved({"mtrs": 7, "row_locks": 1}, {"mtrs": 9, "row_locks": 3}, ends=False)
    assert newer == {"mtrs": 2, "row_locks": 2}


@pytest.mark.parametrize(
    ("state", "left", "whole", "seen"),
    [("running but idle", 0, True, True), ("running but idle", 7, False, True), ("running", 0, False, False)],
)
def test_purge_that_rests_may_have_left_something(state, left, whole, seen):
    text = f"Trx id counter 1566\nPurge done for trx's n:o < 1564 undo n:o < 0 state: {state}\nHistory list length {left}\n"
    assert counters.is_purged(text, truncated=True) == whole
    assert counters.is_purged(text, truncated=False) == seen
