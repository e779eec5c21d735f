"""The graph of waits from rows made by hand: roots, trees, cycles, and the three forms."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from engineroom.ask.lock_waits import LockWaits, Session, Wait


def session(number: int, **more) -> Session:
    return Session(
        id=number,
        user="shop",
        transaction_s=60,
        isolation="REPEATABLE READ",
        **{
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
    assert (
        lines[2]
        == "├─ session 3 waits 9 s: X,REC_NOT_GAP on 20 of shop.t, index PRIMARY, behind X,REC_NOT_GAP"
    )
    assert lines[3] == "│  UPDATE t SET v = 3"
    assert lines[4].startswith("│  └─ session 4 waits 4 s")
    assert lines[6].startswith("└─ session 2 waits 5 s")


def test_the_root_with_most_behind_it_comes_first():
    assert graph(wait(2, 1), wait(4, 3), wait(5, 4)).roots == [3, 1]


def test_a_cycle_that_nobody_ended_yet_is_told_once_and_ends():
    found = graph(wait(2, 1), wait(1, 2), wait(3, 2))
    assert found.roots == []
    text = found.text()
    assert text.count("session 1 (shop)") == 1
    assert text.count("session 3 waits") == 1
    ET.fromstring(found.svg())


def test_a_waiter_behind_two_is_told_under_both_and_opened_once():
    found = graph(wait(3, 1), wait(3, 2), wait(4, 3))
    assert found.text().count("session 3 waits") == 2
    assert found.text().count("session 4 waits") == 1


def test_without_waits_it_says_so_in_each_form():
    found = LockWaits("5.7.22", {}, [])
    assert str(found) == "MySQL 5.7.22: no session waits for a row lock"
    assert json.loads(found.json())["waits"] == []
    assert "No session waits" in found.svg()


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
