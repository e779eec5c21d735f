"""Reading waits: from answers made by hand, from servers whose sessions block each other, and by the command."""

from __future__ import annotations

import json
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


def answer(number: int, trx: object, **more):
    row = {
        "user": "shop",
        "age": 60,
        "command": "Query",
        "time": 3,
        "statement": "UPDATE t",
        "wait": 3,
        **more,
    }
    return (
        trx, number, row["user"], row["age"], row["command"], row["time"], 2, 1, "REPEATABLE READ", row["statement"], row["wait"],
    )  # fmt: skip


def test_sessions_are_found_by_transactions_whatever_form_their_numbers_have():
    waits = [(421, 420, "shop", "t", "PRIMARY", b"20", "X,REC_NOT_GAP", "X,REC_NOT_GAP")]
    sessions = [
        answer(7, "421"),
        answer(8, "420", command="Sleep", time=33, statement=None, wait=None),
        answer(9, "9"),
    ]
    found = reading.made("9.7.4", waits, sessions)
    assert list(found.sessions) == [7, 8]
    assert found.roots == [8]
    assert found.sessions[8].idle_s == 33
    assert found.sessions[7].idle_s is None
    (wait,) = found.waits
    assert (wait.waiting, wait.blocking, wait.table, wait.data, wait.waited_s) == (7, 8, "shop.t", "20", 3)


def test_a_transaction_that_is_gone_by_then_and_a_second_lock_in_the_way_are_left_out():
    row = ("a", "b", "", "`shop`.`t`", "`k`", None, "X,GAP", "S")
    found = reading.made(
        "5.7.22", [row, (*row[:7], "X"), ("a", "gone", *row[2:])], [answer(1, "a"), answer(2, "b")]
    )
    (wait,) = found.waits
    assert (wait.table, wait.index, wait.data, wait.held) == ("shop.t", "k", "", "S")


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
    two = [SimpleNamespace(shared=True, version=version) for version in ("5.7.22", "9.7.4")]
    monkeypatch.setattr(cli.lifecycle, "running", lambda: two)
    assert "several servers run: 5.7.22, 9.7.4" in error()


@pytest.mark.usefixtures("nobody_runs")
def test_the_command_reads_the_one_that_runs_in_each_form(monkeypatch):
    monkeypatch.setattr(cli.lifecycle, "running", lambda: [SimpleNamespace(shared=True, version="9.7.4")])
    monkeypatch.setattr(
        cli,
        "read",
        lambda server: reading.made(
            server.version, [(1, 2, "d", "t", "k", "5", "X", "X")], [answer(1, 1), answer(2, 2)]
        ),
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
