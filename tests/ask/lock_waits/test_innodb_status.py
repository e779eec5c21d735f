"""What the report of SHOW ENGINE INNODB STATUS tells of transactions, and whose view is the oldest."""

from __future__ import annotations

import pytest

from engineroom.ask.lock_waits import innodb_status

HEAD = "Trx id counter 1393\nPurge done for trx's n:o < 1294 undo n:o < 0 state: running but idle\nHistory list length 52\n"
WRITER = (
    "---TRANSACTION 1300, ACTIVE 90 sec\n2 lock struct(s)\nMySQL thread id 5, query id 24 localhost root\n"
)
VIEW = "Trx read view will not see trx with id >= 1292, sees < 1292\n"
OPEN, COMMITTED, RUNS = "REPEATABLE READ", "READ COMMITTED", "SELECT SLEEP(9)"


@pytest.mark.parametrize(
    ("text", "transactions", "holder"),
    [
        (HEAD + WRITER + VIEW, [("1300", OPEN, None)], "1300"),
        (HEAD + WRITER, [("1300", OPEN, None)], None),  # it has read nothing yet
        (
            HEAD + WRITER,
            [("1300", OPEN, None), ("42169", OPEN, None)],
            "42169",
        ),  # only read, so it is not listed
        (HEAD, [("42169", COMMITTED, None), ("42170", "SERIALIZABLE", None)], "42170"),
        (HEAD, [("42169", COMMITTED, RUNS)], "42169"),  # its statement has a view
        (
            HEAD + WRITER + WRITER.replace("1300", "1301") + VIEW,
            [("1300", OPEN, None), ("1301", OPEN, None)],
            "1301",
        ),
        (HEAD, [], None),
    ],
)
def test_the_oldest_transaction_with_a_view_holds_the_history_list(text, transactions, holder):
    status = innodb_status.parsed(f"------------\nTRANSACTIONS\n------------\n{text}--------\nFILE I/O\n")
    assert (status.history_length, status.purged_to) == (52, "1294")
    assert status.holder(transactions) == holder


def test_prepared_transactions_are_named():
    found = innodb_status.parsed(
        f"{HEAD}{WRITER}---TRANSACTION 1292, ACTIVE (PREPARED) 1 sec recovered trx\n"
    )
    assert (found.prepared, found.has_view) == ({"1292"}, {"1300": False, "1292": False})


@pytest.mark.parametrize(
    "text", ["", "\0\xff", "History list", "---TRANSACTION 1, ACTIVE 3 sec\n", "History list length x"]
)
def test_what_is_no_report_tells_nothing(text):
    assert innodb_status.parsed(text) is None
