"""Reading waits: from answers made by hand, from servers whose sessions block each other, and by the command."""

from __future__ import annotations

import contextlib
import json
import threading
from types import SimpleNamespace

import mysql.connector
import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask import lock_waits
from engineroom.ask.lock_waits import cli, reading
from engineroom.chapters.lock_sys.experiments.scripts import Statement
from engineroom.chapters.lock_sys.experiments.seen import DATABASE, LiveSessions
from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import measured
from engineroom.servers.server import wait_until


def transaction(number: int, trx: object, **more):
    row = {
        "age": 60,
        "locked": 2,
        "changed": 1,
        "statement": "UPDATE t",
        "state": "RUNNING",
        "asked": None,
        "wait": None,
        **more,
    }
    return (
        trx, number, row["age"], row["locked"], row["changed"], "REPEATABLE READ", row["statement"], row["state"], row["asked"],
        row["wait"],
    )  # fmt: skip


def process(number: int, *, command="Query", state="", statement="UPDATE t", seconds=3, user="shop"):
    return (number, user, "web7:4711", command, seconds, state, statement)


LOCK = ("shop", "t", "PRIMARY", "20", "X,REC_NOT_GAP")


def test_sessions_are_found_by_transactions_whatever_form_their_numbers_have():
    transactions = [
        transaction(7, "421", state="LOCK WAIT", asked="a", wait=3),
        transaction(8, "420"),
        transaction(9, "9"),
    ]
    processes = [process(7), process(8, command="Sleep", seconds=33, statement=None), process(9)]
    sessions, key_of = reading.sessions_of(transactions, processes)
    assert (sessions[8].idle_s, sessions[7].idle_s, sessions[8].host) == (33, None, "web7:4711")
    (wait,) = reading.row_waits([("a", "b", 420)], {"a": LOCK, "b": LOCK}, transactions, key_of)
    assert (wait.waiting, wait.blocking, wait.table, wait.data, wait.waited_s) == (7, 8, "shop.t", "20", 3)


def test_a_transaction_that_is_gone_by_then_and_a_second_lock_in_the_way_are_left_out():
    transactions = [transaction(1, "a", asked="1"), transaction(2, "b")]
    _, key_of = reading.sessions_of(transactions, [process(1), process(2)])
    lock = ("", "`shop`.`t`", "`k`", "", "S")
    waits = [("1", "2", "b"), ("1", "3", "b"), ("1", "4", "gone"), ("5", "2", "b")]
    (wait,) = reading.row_waits(waits, {"1": lock, "2": lock}, transactions, key_of)
    assert (wait.table, wait.index, wait.data, wait.held) == ("shop.t", "k", "", "S")


@pytest.mark.parametrize(
    ("state", "prepared", "command", "does"),
    [
        ("RUNNING", True, None, "prepared"),
        ("RUNNING", False, None, "recovered"),
        ("ROLLING BACK", False, None, "rolls back"),
        ("ROLLING BACK", False, "Killed", "rolls back"),
        ("RUNNING", False, "Killed", "killed"),
        ("RUNNING", True, "Sleep", "prepared"),
        ("RUNNING", False, "Sleep", ""),
        ("LOCK WAIT", False, "Query", ""),
        ("RUNNING", False, "", "rolls back"),  # its session is not there any more
    ],
)
def test_a_transaction_is_no_session(state, prepared, command, does):
    processes = [process(4, command=command)] if command else []
    has_session = command is not None
    transactions = [
        transaction(4 if has_session else 0, trx, state=state)
        for trx in ("a", "b")[: 1 if has_session else 2]
    ]
    sessions, key_of = reading.sessions_of(transactions, processes, ["'x'"], {"a", "b"} if prepared else ())
    assert {sessions[key].does for key in key_of.values()} == {does}
    assert len(sessions) == len(transactions), "two without a session are two"
    assert all(key == 4 if has_session else key < 0 for key in key_of.values())
    assert all(session.xids == ("'x'",) for session in sessions.values()) == prepared


@pytest.mark.parametrize(
    ("form", "length", "data", "text"),
    [
        (1, 4, b"gt-2", "'gt-2'"),
        (7, 4, b"gt-1b", "'gt-1','b',7"),
        (1, 1, b"ab", "'a','b'"),
        (1, 0, b"", "''"),
        (1, 3, b"a'b", "X'612762'"),
        (1197822575, 2, b"\x00\xff\xc3", "X'00ff',X'c3',1197822575"),
    ],
)
def test_an_xid_is_written_as_xa_commit_takes_it(form, length, data, text):
    assert reading.xid(form, length, data) == text


@pytest.mark.parametrize(
    ("held", "asked", "data", "waits"),
    [
        ("X,REC_NOT_GAP", "X,REC_NOT_GAP", "1", True),
        ("S,REC_NOT_GAP", "S", "1", False),
        ("X,GAP", "X", "1", False),
        ("X,GAP", "X,GAP,INSERT_INTENTION", "1", True),
        ("X,REC_NOT_GAP", "X,GAP,INSERT_INTENTION", "1", False),
        ("X,GAP,INSERT_INTENTION", "X", "1", False),
        ("X", "X", "supremum pseudo-record", True),
        ("X,GAP", "X,GAP", "1", True),  # 5.7, of an insert
        ("IX", "X", "", True),
        ("IX", "IS", "", False),
        ("AUTO_INC", "AUTO_INC", "", True),
        ("IX", "AUTO_INC", "", False),
    ],
)
def test_of_a_crowd_waits_follow_from_the_modes(held, asked, data, waits):
    lock = ("d", "t", "k", data)
    locks = [("1", *lock, held, "a", "GRANTED"), ("2", *lock, asked, "b", "WAITING")]
    assert reading.of_crowd(locks, {"2"}) == ([("2", "1", "a")] if waits else [])


def test_of_a_crowd_who_waits_only_for_waiters_stands_behind_the_first():
    lock = ("d", "t", "k", "1")
    locks = [
        ("1", *lock, "S", "a", "GRANTED"),
        ("2", *lock, "X", "b", "WAITING"),
        ("3", *lock, "S", "c", "WAITING"),
    ]
    assert reading.of_crowd(locks, {"2", "3"}) == [("2", "1", "a"), ("3", "2", "b")]


def refusing(number: int):
    def connect():
        def execute(_):
            raise mysql.connector.Error(msg="denied", errno=number)

        return SimpleNamespace(
            close=lambda: None, cursor=lambda: SimpleNamespace(execute=execute, close=lambda: None)
        )

    return SimpleNamespace(connect=connect, supports=lambda _: True, user="reader", version="9.7.4")


def test_an_account_that_may_not_see_locks_is_told_which_grants_it_needs():
    with pytest.raises(EngineRoomError, match=r"reader may not see.*\n?.*GRANT PROCESS"):
        lock_waits.read(refusing(1142))
    with pytest.raises(mysql.connector.Error):
        lock_waits.read(refusing(1064))


@pytest.fixture
def nobody_runs(monkeypatch):
    monkeypatch.delenv("ENGINEROOM_DSN", raising=False)
    monkeypatch.setattr(cli.lifecycle, "running", list)


@pytest.mark.usefixtures("nobody_runs")
def test_the_command_says_which_server_it_lacks_or_cannot_choose(monkeypatch):
    def error(*arguments):
        return str(CliRunner().invoke(cli.locks, arguments).exception)

    assert "no shared server runs" in error()
    assert "no shared 9.7 server runs" in error("--version", "9.7")
    assert "--dsn is not a server's address" in error("--dsn", "localhost")
    two = [SimpleNamespace(shared=True, version="9.7.4", port=port, settings={}) for port in (3310, 3311)]
    monkeypatch.setattr(cli.lifecycle, "running", lambda: two)
    assert "9.7.4:3310\n  9.7.4:3311" in error("--version", "9.7")
    assert "9.7.4:3310\n  9.7.4:3311" in error()


@pytest.mark.usefixtures("nobody_runs")
def test_the_command_reads_the_one_that_runs_in_each_form(monkeypatch):
    monkeypatch.setattr(
        cli.lifecycle, "running", lambda: [SimpleNamespace(shared=True, version="9.7.4", port=3310)]
    )
    transactions = [transaction(1, "a", asked="1", wait=3), transaction(2, "b")]
    sessions, key_of = reading.sessions_of(transactions, [process(1), process(2)])
    waits = reading.row_waits([("1", "2", "b")], {"1": ("d", "t", "k", "5", "X")}, transactions, key_of)
    monkeypatch.setattr(
        cli, "read", lambda server, **_: lock_waits.LockWaits(server.version, sessions, waits)
    )
    said = {
        form: CliRunner().invoke(cli.locks, ["--format", form]).output for form in ("text", "json", "svg")
    }
    assert "session 1 waits 3 s: X on 5 of d.t" in said["text"]
    assert json.loads(said["json"])["roots"] == [2]
    assert said["svg"].startswith("<svg")


@pytest.mark.live
@pytest.mark.parametrize("version", measured())
def test_two_real_sessions_that_block_each_other_are_seen_and_nothing_is_left(version):
    row = {"low": 20, "high": 20}
    with servers.start(version) as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
        with LiveSessions(server, "t", (False, False)) as two:
            two.run(Statement(session=0, verb="update", **row))
            two.run(Statement(session=1, verb="delete", **row))
            found = lock_waits.read(server)
            blocking, waiting = (each.id for each in two.sessions)
            assert found.roots == [blocking]
            assert found.waiting == [waiting]
            (wait,) = found.waits
            assert (wait.index, wait.data) == ("PRIMARY", "20")
            assert wait.table.endswith(f"{DATABASE}.t")
            assert found.sessions[blocking].idle_s is not None
            assert found.sessions[blocking].rows_changed == 1
            assert found.sessions[waiting].statement.startswith("DELETE FROM t")
        # Up to 5.7 the tables show a copy, made anew when nobody has read it for a tenth of a second.
        assert wait_until(lambda: lock_waits.read(server).waits == [], seconds=10, every=0.15)


class Behind:
    """A session whose last statement may wait, so nobody waits for it."""

    def __init__(self, server, *statements):
        self._connection = server.connect("d")
        self.id = self._connection.connection_id
        for statement in statements[:-1]:
            self.run(statement)
        self._thread = threading.Thread(target=self._ends, args=statements[-1:])
        self._thread.start()

    def run(self, statement):
        with contextlib.closing(self._connection.cursor()) as cursor:
            cursor.execute(statement)
            if cursor.with_rows:
                cursor.fetchall()

    def done(self):
        """The session once its last statement has ended, if that waits for nobody."""
        self._thread.join(30)
        return self

    def _ends(self, statement):
        with contextlib.suppress(mysql.connector.Error):
            self.run(statement)

    def close(self):
        self.done()._connection.close()


@pytest.fixture
def filled(request):
    with servers.start(request.param) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB")
        server.execute("INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)")
        yield server


def seen(server, is_there, **more):
    """What is read once `is_there`; the copies of 5.x may be a tenth of a second old."""
    found = [None]

    def look():
        found[0] = lock_waits.read(server, **more)
        return is_there(found[0])

    assert wait_until(look, seconds=10, every=0.15), found[0].text()
    return found[0]


@pytest.mark.live
@pytest.mark.parametrize("filled", measured(), indirect=True)
def test_other_locks_than_of_rows_are_in_the_same_graph(filled):
    if filled.supports("metadata_locks"):
        filled.execute(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME LIKE 'wait/lock/metadata%'"
        )
    reader = Behind(filled, "START TRANSACTION", "SELECT * FROM t").done()
    alters = Behind(filled, "ALTER TABLE t ADD w INT")
    seen(filled, lambda found: found.waiting == [alters.id])
    late = [Behind(filled, f"SELECT * FROM t WHERE id = {n}") for n in (1, 2, 3)]
    names = [Behind(filled, "DO GET_LOCK('job', 10)") for _ in range(2)]
    found = seen(filled, lambda found: len(found.waiting) == 5, history=True)
    pairs = {(wait.waiting, wait.blocking) for wait in found.waits}
    assert (names[1].id, names[0].id) in pairs or (names[0].id, names[1].id) in pairs
    if filled.supports("metadata_locks"):
        assert {(alters.id, reader.id), *((each.id, alters.id) for each in late)} <= pairs
        assert "2 more wait for the same with the same statement" in found.text()
        assert found.sessions[reader.id].last_statement == "SELECT * FROM t"
    else:
        assert f"perhaps session {reader.id}" in found.text()
        assert "does not show who holds metadata locks" in found.text()
    assert found.history["holder"]["id"] == reader.id
    reader.run("COMMIT")
    for each in names:
        with contextlib.suppress(mysql.connector.Error):
            filled.execute(f"KILL {each.id}")
    for each in (reader, alters, *late, *names):
        each.close()


@pytest.mark.live
@pytest.mark.parametrize("filled", measured(since="5.7"), indirect=True)
def test_a_prepared_transaction_that_its_client_left_stands_by_its_xid(filled):
    name = "'gt-1','b',7"
    Behind(
        filled, f"XA START {name}", "UPDATE t SET v = 9 WHERE id = 1", f"XA END {name}", f"XA PREPARE {name}"
    ).close()
    waits = Behind(filled, "UPDATE t SET v = 8 WHERE id = 1")
    found = seen(filled, lambda found: found.waiting == [waits.id] and min(found.roots) < 0)
    assert f"XA transaction {name}, prepared, no session" in found.text()
    assert any(line.startswith(f"XA COMMIT {name};") for line in found.sessions[found.roots[0]].remedy())
    filled.execute(f"XA ROLLBACK {name}")
    waits.close()


@pytest.mark.live
@pytest.mark.parametrize("filled", ["5.6", "9.7"], indirect=True)
def test_a_killed_session_rolls_back_and_a_crowd_is_read_as_its_pairs_are(filled, monkeypatch):
    changes = Behind(filled, "START TRANSACTION", "UPDATE t SET v = 0").done()
    waits = [Behind(filled, f"UPDATE t SET v = 8 WHERE id = {1 + n % 2}") for n in range(8)]
    pairs = seen(filled, lambda found: len(found.waiting) == 8)
    monkeypatch.setattr(reading, "_CROWD", 0)
    crowd = seen(filled, lambda found: len(found.waiting) == 8)
    named = [{(w.waiting, w.blocking, w.data) for w in found.waits} for found in (pairs, crowd)]
    assert named[0] == named[1] == {(each.id, changes.id, str(1 + n % 2)) for n, each in enumerate(waits)}
    assert len(crowd.text().splitlines()) < 12
    for each in (changes, *waits):
        filled.execute(f"KILL {each.id}")
        each.close()
    rows = ", ".join(f"({n}, 1)" for n in range(4, 40_000))
    filled.execute(f"INSERT INTO t VALUES {rows}", database="d")
    changes = Behind(filled, "START TRANSACTION", "UPDATE t SET v = v + 1").done()
    waits = Behind(filled, "UPDATE t SET v = 0 WHERE id = 1")
    filled.execute(f"KILL {changes.id}")
    found = seen(
        filled,
        lambda found: any(each.does == "rolls back" for each in found.sessions.values()) or not found.waits,
    )
    assert not found.waits or "rolls back, " in found.text()
    waits.close()


@pytest.mark.usefixtures("nobody_runs")
def test_watching_looks_again_and_never_for_more_than_a_tenth_of_the_time(monkeypatch):
    monkeypatch.setattr(cli, "_server", lambda *_: None)
    clock, slept = iter((0.0, 0.5, 10.0, 10.0)), []
    monkeypatch.setattr(cli.time, "monotonic", lambda: next(clock))

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", sleep)
    monkeypatch.setattr(cli, "read", lambda *_, **__: lock_waits.LockWaits("9.7.4", {}, []))
    lines = CliRunner().invoke(cli.locks, ["--watch", "1", "--format", "json"]).output.splitlines()
    assert [json.loads(line)["waits"] for line in lines[:2]] == [[], []]
    assert slept == [4.5, 1.0]
