"""Slow logs as servers write them, and damaged ones."""

from __future__ import annotations

import gzip
import io
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from engineroom import files, servers
from engineroom.ask.compare import many
from engineroom.ask.digests import slow_log
from engineroom.ask.digests.counting import Counted
from engineroom.ask.digests.slow_log import Event
from engineroom.errors import EngineRoomError

HEAD = "# Query_time: 2.5  Lock_time: 0.25 Rows_sent: 1  Rows_examined: 9\n"


def read(log: str, **how: int) -> tuple[list[Event], Counter[str]]:
    skipped = Counter[str]()
    return list(slow_log.events(io.StringIO(log, newline="\n"), skipped, **how)), skipped


def only(log: str) -> Event:
    (event,), skipped = read(log)
    assert not skipped
    return event


def test_an_event_has_what_its_head_says():
    event = only(
        "# Time: 2026-01-01T00:00:05.000001Z\n# User@Host: app[app] @ web1 [10.0.0.1]  Id:     3\n" + HEAD
        + "use shop;\nSET timestamp=1767225605;\nSELECT *\n# of the application\nFROM t;\n"
    )  # fmt: skip
    assert event.statement == "SELECT *\n# of the application\nFROM t"
    assert (event.seconds, event.lock_s, event.rows_sent, event.rows_examined) == (2.5, 0.25, 1, 9)
    assert (event.at, event.user, event.host, event.database) == (
        "2026-01-01 00:00:05",
        "app",
        "web1",
        "shop",
    )


HEADS = {
    "5.0": "# Time: 071218  1:48:27 # User@Host: [SQL_SLAVE] @  []\n" + HEAD,
    "5.6": "# User@Host: root[root] @ localhost []\n" + HEAD + "SET timestamp=1767225605;\n",
    "Percona": """# Time: 131128  1:05:31
# User@Host: a[b] @  [10.0.0.1]  Id: 69194
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 2.5  Lock_time: 0.25  Rows_sent: 1  Rows_examined: 9  Rows_affected: 0
# Bytes_sent: 545
#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0
# No InnoDB statistics available for this query
# Log_slow_rate_type: query  Log_slow_rate_limit: 2
""",
    "MariaDB": """mariadbd, Version: 10.11.6-MariaDB-log (MariaDB Server). started with:
Tcp port: 3306  Unix socket: /s
Time\t\t    Id Command\tArgument
# Time: 260101  0:00:05
# User@Host: r[r] @ localhost []
# Thread_id: 4  Schema: shop  QC_hit: No
# Query_time: 2.5  Lock_time: 0.25  Rows_sent: 1  Rows_examined: 9
# Rows_affected: 0  Bytes_sent: 66
# explain: id\tselect_type\ttable
# explain: 1\tSIMPLE\tt
#
SET timestamp=1767225605;
""",
    "Windows": """D:\\MySQL\\bin\\mysqld.exe, Version: 5.7.22-log (MySQL). started with:
TCP Port: 3306, Named Pipe: (null)
Time                 Id Command    Argument
# Time: 2026-01-01T00:00:05.1Z
# User@Host: w[w] @ pc [::1]  Id: 1
# Query_time: 2.5  Lock_time: 0.25 Rows_sent: 1  Rows_examined: 9
use shop;
SET timestamp=1;
""".replace("\n", "\r\n"),
    "log_slow_extra": """# Time: 2026-01-01T00:00:05.1+02:00
# Query_time: 2.5  Lock_time: 0.25 Rows_sent: 1  Rows_examined: 9 Thread_id: 8 Errno: 0 Start: 2026-01-01T00:00:02.1Z
SET last_insert_id=3,insert_id=77,timestamp=1767225605;
""",
}


@pytest.mark.parametrize(
    ("head", "at", "who", "database"),
    [
        ("5.0", "2007-12-18 01:48:27", ("SQL_SLAVE", ""), ""),
        ("5.6", "2026-01-01 00:00:05", ("root", "localhost"), ""),
        ("Percona", "2013-11-28 01:05:31", ("a", "10.0.0.1"), "shop"),
        ("MariaDB", "2026-01-01 00:00:05", ("r", "localhost"), "shop"),
        ("Windows", "2026-01-01 00:00:05", ("w", "pc"), "shop"),
        ("log_slow_extra", "2026-01-01 00:00:05", ("", ""), ""),
    ],
)
def test_heads_of_all_servers_are_read(head, at, who, database):
    event = only(HEADS[head] + "SELECT 1;\n")
    assert (event.statement, event.at, (event.user, event.host), event.database) == (
        "SELECT 1",
        at,
        who,
        database,
    )
    assert (event.seconds, event.lock_s, event.rows_sent, event.rows_examined) == (2.5, 0.25, 1, 9)


@pytest.mark.parametrize(
    "statement",
    [
        "CALL nightly(17)",
        "COMMIT",
        "SET NAMES utf8",
        "ALTER TABLE t ADD COLUMN a INT",
        "XA COMMIT 'x'",
        "use shop",
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
        "administrator command: Quit",
    ],
)
def test_whatever_ran_has_its_time(statement):
    is_command = statement.startswith("administrator")
    event = only(HEAD + "SET timestamp=1;\n" + "# " * is_command + statement + ";\n")
    assert (event.statement, event.seconds) == (statement, 2.5)


@pytest.mark.parametrize(
    ("log", "missing"),
    [
        (HEAD.replace("2.5", "18446744073709.100000.000020") + "SELECT 1;\n", "a Query_time in seconds"),
        (HEAD.replace("2.5", "18446744073709.551") + "SELECT 1;\n", "a Query_time in seconds"),
        (HEAD.replace("2.5", "nan") + "SELECT 1;\n", "a Query_time in seconds"),
        (HEAD.replace("2.5", "-1.5") + "SELECT 1;\n", "a Query_time in seconds"),
        (HEAD.replace("2.5", "1,5") + "SELECT 1;\n", "a Query_time in seconds"),
        (HEAD.replace("2.5", "9" * 400) + "SELECT 1;\n", "a Query_time in seconds"),
        ("# Time: 2026-01-01T00:00:05Z\nSELECT 1;\n", "a Query_time in seconds"),
        ("id = 5;\n", "a head"),
        ("# administrator command: Quit;\n", "a head"),
        (HEAD + HEAD + "SET timestamp=1;\n", "a statement"),
        ("# Time: 081114 13:04:02\n# User@Host: truncated\n# Time: 081114 13:04:03\n", "a statement"),
    ],
)
def test_a_damaged_event_is_skipped_and_counted_and_the_next_one_read(log, missing):
    found, skipped = read(log + HEAD + "SELECT 2;\n")
    assert [event.statement for event in found] == ["SELECT 2"]
    assert set(skipped) == {f"an event without {missing}"}


def test_a_statement_that_a_crash_cut_ends_where_the_server_begins_again():
    found, _ = read(HEAD + "SELECT 'cut\n" + HEADS["MariaDB"] + "SELECT 2;\n")
    assert [event.statement for event in found] == ["SELECT 'cut", "SELECT 2"]


@pytest.mark.parametrize("name", ["Lock_time: 0.25", "Rows_sent: 1", "Rows_examined: 9"])
def test_other_numbers_that_cannot_be_true_are_taken_as_none(name):
    (event,), skipped = read(HEAD.replace(name, f"{name.split()[0]} 18446744073709551615") + "SELECT 1;\n")
    assert 0 in {event.lock_s, event.rows_sent, event.rows_examined}
    assert list(skipped.values()) == [1]


def test_what_looks_like_a_head_within_a_statement_is_text():
    text = "INSERT INTO t VALUES ('a;\n# not a head', '\n# Thread_id: 1\n', 'Time  Id Command')"
    assert only(f"{HEAD}{text};\n").statement == text


def test_a_statement_beyond_the_limit_is_cut_and_this_is_said():
    found, skipped = read(HEAD + "SELECT 1,\n" * 1000 + "1;\n" + HEAD + "SELECT 2;\n", largest=2**11)
    assert len(found[0].statement) < 2**11
    assert found[1].statement == "SELECT 2"
    assert list(skipped) == ["a statement cut after 0.00195312 MiB"]


LOG = HEAD + "SELECT 'café' FROM größe;\n"


@pytest.mark.parametrize(
    "data",
    [
        LOG.encode(),
        gzip.compress(LOG.encode(), mtime=0),
        zstandard.compress(LOG.encode()),
        zstandard.compress(HEAD.encode()) + zstandard.compress(LOG.removeprefix(HEAD).encode()),
        LOG.encode("utf-8-sig"),
        LOG.encode("utf-16"),
        b"\xfe\xff" + LOG.encode("utf-16-be"),
        gzip.compress(LOG.encode("utf-16"), mtime=0),
        LOG.encode("latin-1"),
        LOG.encode().replace("é".encode(), b"\xe9\xff\x80\0"),
    ],
)
@pytest.mark.parametrize("is_input", [False, True])
def test_a_log_of_any_encoding_is_read_packed_or_not(data, is_input, tmp_path, monkeypatch):
    (tmp_path / "slow.log").write_bytes(data)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    found = many.read(None if is_input else tmp_path / "slow.log", None)
    assert isinstance(found, Counted)
    assert [group.name for group in found.groups] == ["select ? from größe"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_log_that_is_cut_is_read_as_far_as_it_goes(pack, tmp_path):
    whole = pack("".join(f"{HEAD}SELECT {pow(3, i, 10**9)};\n" for i in range(50_000)).encode())
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    skipped = Counter[str]()
    with files.Lines(tmp_path / "cut", "log") as lines:
        found = list(slow_log.events(lines, skipped))
    assert 10_000 < len(found) < 40_000
    assert any(what.startswith("the end of a") for what in skipped)


def test_a_file_of_statements_keeps_their_order(tmp_path):
    (tmp_path / "many.sql").write_bytes(
        b"SELECT 'b'; SELECT a FROM t1 -- one\n; SELECT '\xe9' ; SELECT a FROM t2"
    )
    found = many.counted_once(many.read(tmp_path / "many.sql", None))
    assert [(each.name, each.count, each.log_s) for each in found.groups] == [
        ("select ?", 2, 0.0),
        ("select a from t1", 1, 0.0),
        ("select a from t2", 1, 0.0),
    ]


def test_the_limit_of_a_file_of_statements_can_be_lifted(tmp_path, monkeypatch):
    (tmp_path / "many.sql").write_text("SELECT 1;\n" * 10)
    monkeypatch.setattr(files, "LARGEST_BYTES", 50)
    with pytest.raises(EngineRoomError, match=r"(?s)has more than .*--largest"):
        many.read(tmp_path / "many.sql", None)
    assert len(many.read(tmp_path / "many.sql", 2**20)) == 10


def test_a_slow_log_without_statements_is_refused_with_what_was_skipped(tmp_path):
    (tmp_path / "slow.log").write_text("# Query_time: 1.0  Lock_time: 0\n")
    with pytest.raises(
        EngineRoomError, match=r"holds no statement\. Skipped or mended: an event without a statement"
    ):
        many.read(tmp_path / "slow.log", None)


@pytest.mark.live
@pytest.mark.parametrize("version", ["5.6", "5.7", "8.0.15", "9.7"])
def test_a_log_that_a_server_wrote_is_read(version):
    if not servers.runnable(version):
        pytest.skip(f"no MySQL {version} on this machine")
    with servers.start(version) as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, note TEXT)")
        server.execute("SET GLOBAL slow_query_log = 1", "SET GLOBAL long_query_time = 0")
        server.execute(
            "INSERT INTO orders VALUES (1, 'a;\n# not a head'), (2, 'b')",
            "SELECT COUNT(*) FROM orders WHERE id = 1",
            "SELECT COUNT(*)\n FROM orders WHERE id = 2",
            database="shop",
        )
        ((folder, name),) = server.query("SELECT @@datadir, @@slow_query_log_file")
        found = many.read(Path(folder) / name, None)
    counted = {each.name: each.count for each in found.groups}
    assert counted["select count(*) from orders where id = ?"] == 2
    assert counted["insert into orders values(?+)"] == 1
    assert not any(each.startswith(("#", "use ", "set timestamp")) for each in counted)
    assert not found.skipped
