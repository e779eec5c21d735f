"""The graph of waits from rows made by hand: roots, trees, cycles, and the three forms."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from engineroom.ask.lock_waits import LockWaits, Session, Wait


def session(number: int, **more) -> Session:
    return Session(
        id=number,
        isolation="REPEATABLE READ",
        **{
            "user": "shop",
            "transaction_s": 60,
            "idle_s": None,
            "rows_locked": 2,
            "rows_changed": 1,
            "statement": f"UPDATE t SET v = {number}",
            **more,
        },
    )


def wait(waiting: int, blocking: int, waited_s: int = 5, data: str = "20") -> Wait:
    return Wait(
        waiting=waiting,
        blocking=blocking,
        table="shop.t",
        index="PRIMARY",
        data=data,
        asked="X,REC_NOT_GAP",
        held="X,REC_NOT_GAP",
        waited_s=waited_s,
    )


def graph(*waits: Wait, **idle: int) -> LockWaits:
    numbers = {number for each in waits for number in (each.waiting, each.blocking)}
    sessions = {
        number: session(
            number, **({"idle_s": idle[f"s{number}"], "statement": ""} if f"s{number}" in idle else {})
        )
        for number in sorted(numbers)
    }
    return LockWaits("9.7.4", sessions, waits)


def test_who_waits_for_nobody_stands_first_with_the_longest_waiter_below():
    found = graph(wait(2, 1, 5), wait(3, 1, 9), wait(4, 3, 4), s1=33)
    assert found.waiting == [2, 3, 4]
    assert found.roots == [1]
    lines = found.text().splitlines()
    assert lines[0] == "MySQL 9.7.4: 3 sessions wait for row locks"
    assert lines[1].startswith(
        "session 1 (shop), transaction of 60 s, 2 rows locked, 1 changed, idle for 33 s"
    )
    assert lines[2:4] == [
        "  KILL 1; -- loses 1 changed row",
        "├─ session 3 waits 9 s: X,REC_NOT_GAP on 20 of shop.t, index PRIMARY, behind X,REC_NOT_GAP",
    ]
    assert lines[4] == "│  UPDATE t SET v = 3"
    assert lines[5].startswith("│  └─ session 4 waits 4 s")
    assert lines[7].startswith("└─ session 2 waits 5 s")


def test_the_root_with_most_behind_it_comes_first():
    assert graph(wait(2, 1), wait(4, 3), wait(5, 4)).roots == [3, 1]


def test_a_cycle_that_nobody_ended_yet_is_told_once_and_ends():
    found = graph(wait(2, 1), wait(1, 2), wait(3, 2))
    assert found.roots == []
    text = found.text()
    assert text.count("session 1 (shop)") == 1
    assert text.count("session 3 waits") == 1
    assert "a cycle: it waits for session 2 itself" in text
    ET.fromstring(found.svg())


def test_a_waiter_behind_two_is_told_once_with_both():
    text = graph(wait(3, 1), wait(3, 2), wait(4, 3)).text()
    assert text.count("session 3 waits") == text.count("session 4 waits") == 1
    assert "behind X,REC_NOT_GAP, also behind session 2" in text


def test_without_waits_it_says_so_in_each_form():
    found = LockWaits("5.7.22", {}, [])
    assert str(found) == "MySQL 5.7.22: no session waits for a row lock or a metadata lock"
    assert json.loads(found.json())["waits"] == []
    assert "No session waits" in found.svg()


def pile(n: int, pairs) -> LockWaits:
    sessions = {number: session(number) for number in range(1, n + 1)}
    return LockWaits("9.7.4", sessions, [wait(*each) for each in pairs])


@pytest.mark.parametrize(
    "pairs",
    [
        [(i, j) for i in range(2, 1001) for j in range(1, i)],  # one row
        [(i, 1, 5, str(i)) for i in range(2, 1001)],  # as many rows of one session
        [(i, i - 1) for i in range(2, 1001)],  # a chain
        [(2 * i, 2 * i - 1) for i in range(1, 501)],  # 500 pairs
        [
            (i, j) for i in range(801, 1001) for j in range(1, 201)
        ],  # readers of a row, and who wants to write it
        [(i, i % 1000 + 1) for i in range(1, 1001)],  # a cycle
    ],
    ids=["row", "rows", "chain", "pairs", "readers", "cycle"],
)
def test_a_pile_of_a_thousand_fits_a_screen_and_nobody_is_lost(pairs):
    text = (found := pile(1000, pairs)).text()
    assert len(text.splitlines()) < 100
    assert len(found.svg()) < 40_000
    shown = text.count(" waits ") + sum(
        int(n.replace(",", "")) for n in re.findall(r"([\d,]+) more waits? ", text)
    )
    assert shown == len(found.waiting) + text.count("more waits ")


def test_those_that_wait_alike_share_a_line_whatever_their_constants():
    text = pile(151, [(i, 1, 160 - i) for i in range(2, 152)]).text()
    assert (
        "149 more wait for the same with the same statement: sessions 3, 4, 5, 6, 7, 8 and 143 more" in text
    )
    text = graph(wait(2, 1), wait(3, 1, data="30"), wait(4, 1, data="40")).text()
    assert "2 more wait for 3 rows there with the same statement: sessions 3, 4" in text


SAID = {
    "idle": ({"idle_s": 9}, "session 1 (shop), ", ["KILL 1; -- loses 3 changed rows"]),
    "runs": ({}, "runs UPDATE t", ["KILL QUERY 1; -- ends the statement", "KILL 1; -- loses 3"]),
    "who": (
        {"host": "web7:4711", "program": "mysqldump", "last_statement": "DELETE FROM t"},
        "session 1 (shop@web7:4711, mysqldump)",
        ["last statement: DELETE FROM t"],
    ),
    "rolls back": (
        {"does": "rolls back", "rows_changed": 350594},
        "rolls back, 350,594 rows left",
        ["wait; neither"],
    ),
    "killed": ({"does": "killed"}, "killed, ends soon", ["KILL was sent already"]),
    "replica": ({"user": "system user"}, "session 1 (system user)", ["STOP REPLICA SQL_THREAD"]),
    "prepared in its session": (
        {"does": "prepared", "xids": ("'a'",)},
        "XA transaction 'a' prepared",
        [
            "XA COMMIT 'a'; -- or XA ROLLBACK 'a', which loses 3 changed rows",
            "after KILL 1, which does not end it",
        ],
    ),
    "prepared": (
        {"id": -2, "does": "prepared", "xids": ("'gt-1','b',7",)},
        "XA transaction 'gt-1','b',7, prepared, no session",
        ["XA COMMIT 'gt-1','b',7; -- or XA ROLLBACK 'gt-1','b',7", "KILL does not help"],
    ),
    "one of two prepared": (
        {"id": -2, "does": "prepared", "xids": ("'a'", "'b'")},
        "XA transaction 'a' or 'b', prepared",
        ["does not tell which", "XA COMMIT 'b'"],
    ),
    "prepared, XIDs not seen": (
        {"id": -2, "does": "prepared"},
        "XA transaction, prepared",
        ["XA RECOVER CONVERT XID;"],
    ),
    "recovered": (
        {"id": -2, "does": "recovered"},
        "transaction without a session",
        ["after a crash or as its own task"],
    ),
    "recovered, rolls back": ({"id": -2, "does": "rolls back"}, "rolls back, 3 rows left", ["nor a restart"]),
    "lock tables": (
        {"holds": ("LOCK TABLES d.t WRITE",), "idle_s": 1, "transaction_s": None, "rows_changed": 0},
        "no InnoDB transaction, holds LOCK TABLES d.t WRITE, idle for 1 s",
        ["KILL 1; -- loses no changed row, and LOCK TABLES d.t WRITE, which UNLOCK TABLES there ends, too"],
    ),
    "left an XA transaction": (
        {"xids": ("'a'",), "idle_s": 1, "transaction_s": None},
        "no InnoDB transaction, idle",
        ["it left a prepared XA transaction, 'a'"],
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_each_kind_of_blocker_has_its_words_and_its_remedy(kind):
    known, words, remedies = SAID[kind]
    root = session(known.get("id", 1), **{"rows_changed": 3, **{k: v for k, v in known.items() if k != "id"}})
    found = LockWaits("9.7.4", {root.id: root, 2: session(2)}, [wait(2, root.id)])
    lines = found.text().splitlines()
    assert words in lines[1]
    for remedy in remedies:
        assert any(remedy in line for line in lines[2:]), lines
    assert ("KILL 1;" in found.text()) == (root.id > 0 and root.does == "" and root.user != "system user")
    assert json.loads(found.json())["remedies"][str(root.id)] == root.remedy()


def test_the_same_xids_are_listed_once():
    roots = {n: session(n, does="prepared", xids=("'a'", "'b'")) for n in (-2, -3)}
    text = LockWaits("9.7.4", {**roots, 2: session(2), 3: session(3)}, [wait(2, -2), wait(3, -3)]).text()
    assert text.count("XA COMMIT 'a';") == text.count("one of the same: see above") == 1


def test_the_picture_has_a_box_per_session_an_arrow_per_wait_and_says_it_in_words():
    found = graph(wait(2, 1), wait(3, 2, data="<20>"), s1=7)
    drawn = ET.fromstring(found.svg())
    names = [node.tag.rpartition("}")[2] for node in drawn.iter()]
    assert names.count("rect") == 3
    assert names.count("line") == 2
    assert "session 3 waits for session 2" in drawn.attrib["aria-label"]
    assert "session 1 waits" not in drawn.attrib["aria-label"]
    assert found._repr_html_() == found.svg()


def test_json_has_all_that_was_read():
    told = json.loads(graph(wait(2, 1), s1=7).json())
    assert told["roots"] == [1]
    assert [each["id"] for each in told["sessions"]] == [1, 2]
    assert told["sessions"][0]["idle_s"] == 7
    assert told["waits"][0]["asked"] == "X,REC_NOT_GAP"
