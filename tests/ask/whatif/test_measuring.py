"""Demands measured on a live server: the clock from outside against the one inside, counts that are known, and refusals."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.whatif import measuring
from engineroom.ask.whatif.cli import whatif
from engineroom.ask.whatif.transactions import parsed
from engineroom.errors import EngineRoomError
from engineroom.measuring import counters
from engineroom.measuring.command_clock import clocked
from engineroom.measuring.thread_clock import ThreadClock, thread_of

SCHEMA = (
    "CREATE DATABASE whatif",
    "CREATE TABLE whatif.t (id INT PRIMARY KEY, n INT)",
    "CREATE TABLE whatif.log (id INT PRIMARY KEY AUTO_INCREMENT, t INT)",
    "INSERT INTO whatif.t VALUES " + ", ".join(f"({i}, 0)" for i in range(1, 101)),
)
LOAD = """
[[transaction]]
name = "change"
weight = 3
statements = [
  "SELECT n FROM t WHERE id = :id",
  "UPDATE t SET n = n + 1 WHERE id = :id",
  "INSERT INTO log (t) VALUES (:id)",
]
values.id = {rows = 100}

[[transaction]]
name = "look"
autocommit = true
statements = ["SELECT n FROM t WHERE id = :id FOR SHARE"]
values.id = {rows = 100}
"""


def kinds(*statements: str):
    return parsed({"transaction": [{"name": "t", "statements": list(statements)}]}, "f")


def test_a_thread_that_computes_in_another_process_is_read_when_it_sleeps(tmp_path):
    of = tmp_path / "7"
    of.mkdir()
    (of / "stat").write_text("7 (a) R (x) S 1 2 3")
    (of / "schedstat").write_text("12345 6 7")
    assert ThreadClock(7, tmp_path).read_ns() == 12345
    (of / "stat").write_text("7 (S) R 1 2 3")
    with pytest.raises(EngineRoomError, match="goes on computing"):
        ThreadClock(7, tmp_path).read_ns()
    with pytest.raises(EngineRoomError, match="cannot be read"):
        ThreadClock(8, tmp_path).read_ns()


def test_the_clock_counts_what_a_thread_computes():
    """This thread's own clock says the same of another thread of this process, which has slept since."""
    spent, has_spent, ends = [0], threading.Event(), threading.Event()

    def compute():
        spent.append(threading.get_native_id())
        start = os.times().user
        while os.times().user < start + 0.05:
            pass
        spent[0] = 1
        has_spent.set()
        ends.wait()

    thread = threading.Thread(target=compute)
    thread.start()
    has_spent.wait()
    read = ThreadClock(spent[1]).read_ns()
    ends.set()
    thread.join()
    assert read > 40_000_000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that notes its commands, too."""
    with contextlib.ExitStack() as stack:
        with clocked(tmp_path_factory.mktemp("clock"), "commands") as clock:
            # Its statistics, computed again ten seconds after a change, would be counted as a statement's.
            options = {"innodb_stats_auto_recalc": "OFF"}
            server = stack.enter_context(servers.start("9.7", options=options))
        server.execute(*SCHEMA)
        server.clock = clock
        yield server


def address(server, database: str = "whatif") -> str:
    return f"mysql://{server.user}:{quote(server.password, safe='')}@{server.host}:{server.port}/{database}"


@pytest.mark.live
def test_the_clock_from_outside_says_what_the_one_in_the_server_says(server):
    server.clock.skip()
    with contextlib.closing(server.connect("whatif", ssl_disabled=True)) as connection:
        clock = ThreadClock(thread_of(server, connection.connection_id))
        cursor = connection.cursor()
        cursor.execute("DO 0")
        outside, before = [], clock.read_ns()
        for i in range(300):
            cursor.execute(f"UPDATE t SET n = n + 1 WHERE id = {1 + i % 100}")
            now = clock.read_ns()
            outside.append(now - before)
            before = now
    inside = server.clock.taken(b"DO 0")["cpu_ns"][1:301]
    assert sum(outside) == pytest.approx(int(inside.sum()), rel=0.1)
    near = sum(abs(a - int(b)) < 0.25 * int(b) + 5000 for a, b in zip(outside, inside, strict=True))
    assert near >= 270, f"{near} of 300 statements"


@pytest.mark.live
def test_counts_are_those_that_a_server_makes_of_such_statements(server, tmp_path):
    (tmp_path / "load.toml").write_text(LOAD)
    asked = [
        "--dsn",
        address(server),
        "--save",
        str(tmp_path / "d.json"),
        "--clients",
        "1,8",
        "--varied",
        "1",
    ]
    asked += ["--version", "9.7.4", "--machine", "laptop", "--format", "json"]
    done = CliRunner().invoke(whatif, [str(tmp_path / "load.toml"), *asked], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    kept = json.loads((tmp_path / "d.json").read_text())
    change, look = kept["kinds"]
    select, update, insert = change["statements"]
    assert (select["access"], update["access"], insert["access"]) == ("reads", "changes", "inserts")
    assert select["mtrs"] < 0.5
    assert select["row_locks"] == 0
    assert 1.5 < update["mtrs"] < 6
    assert 1.5 < insert["mtrs"] < 6
    assert update["row_locks"] == pytest.approx(1, abs=0.1)
    assert change["commit"]["mtrs"] >= 0.9
    assert (look["statements"][0]["access"], look["commit"]["cpu_us"]) == ("locks", 0)
    assert all(
        0 < each["cpu_us"] <= each["cpu_us_median"] for each in (*change["statements"], *look["statements"])
    )
    assert server.query("SELECT @@log_bin") == [(int(kept["has_binlog"]),)]
    one, eight = json.loads(done.output)["points"]
    assert 0 < one["tps"] < eight["tps"]


@pytest.mark.live
def test_a_statement_that_the_server_refuses_is_named_and_nothing_of_it_stays(server):
    ((before,),) = server.query("SELECT COUNT(*) FROM whatif.log")
    with pytest.raises(EngineRoomError, match=r"t, statement 2, is refused: .*no_such_column"):
        measuring.measured(
            server, "whatif", kinds("INSERT INTO log (t) VALUES (1)", "SELECT no_such_column FROM t")
        )
    assert server.query("SELECT COUNT(*) FROM whatif.log") == [(before,)]


@pytest.mark.live
def test_a_database_that_is_not_there_and_an_account_without_rights_are_told_what_to_do(server):
    with pytest.raises(EngineRoomError, match="Unknown database"):
        measuring.measured(server, "nowhere", kinds("DO 1"))
    server.execute("CREATE USER plain@'%' IDENTIFIED BY 'pw'", "GRANT ALL ON whatif.* TO plain@'%'")
    denied = f"mysql://plain:pw@{server.host}:{server.port}/whatif"
    from engineroom.servers.providers import dsn

    with pytest.raises(EngineRoomError, match=r"GRANT (PROCESS|SELECT)"):
        measuring.measured(dsn.attach(denied, "--dsn"), "whatif", kinds("DO 1"))


@pytest.mark.live
def test_a_server_whose_thread_is_not_here_is_refused(server, tmp_path):
    with (
        contextlib.closing(server.connect()) as connection,
        pytest.raises(EngineRoomError, match="does not run where this command does"),
    ):
        thread_of(server, connection.connection_id, proc=tmp_path)


@pytest.mark.live
def test_a_busy_server_is_refused(server, monkeypatch):
    monkeypatch.setattr(
        counters, "_UNTIL_PURGED_S", 1
    )  # purge will not come to an end, however long one waits
    ends = threading.Event()

    def write():
        with contextlib.closing(server.connect("whatif")) as connection:
            cursor = connection.cursor()
            cursor.execute("CREATE TABLE busy (a LONGBLOB)")
            while not ends.is_set():
                cursor.execute("INSERT INTO busy VALUES (REPEAT('x', 300000))")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with pytest.raises(EngineRoomError, match="redo log grows"):
            measuring.measured(server, "whatif", kinds("DO 1"), batches=1, per_batch=1)
    finally:
        ends.set()
        thread.join()


@pytest.mark.live
def test_an_older_server_counts_mini_transactions_by_a_latch_or_is_refused():
    change = kinds("UPDATE t SET n = n + 1 WHERE id = 1")
    with servers.start("5.7") as older:
        older.execute(*SCHEMA)
        with pytest.raises(EngineRoomError, match="does not count all") as refused:
            measuring.measured(older, "whatif", change, batches=1, per_batch=5)
        older.execute(refused.value.remedy.partition(": ")[2])
        seen = measuring.measured(older, "whatif", change, batches=1, per_batch=5)
    assert 1.5 < seen.kinds[0].statements[0].mtrs < 6


@pytest.mark.live
def test_a_server_that_does_not_name_its_threads_is_refused():
    with servers.start("5.6") as oldest:
        oldest.execute(*SCHEMA[:2])
        with pytest.raises(EngineRoomError, match="does not say which thread"):
            measuring.measured(oldest, "whatif", kinds("DO 1"))
