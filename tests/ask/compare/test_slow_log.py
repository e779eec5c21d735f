"""Digests of statements, and slow logs as servers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engineroom import servers
from engineroom.ask.compare import slow_log
from engineroom.errors import EngineRoomError


@pytest.mark.parametrize(
    ("statement", "digest"),
    [
        ("SELECT *  FROM t1\nWHERE a = 1", "SELECT * FROM t1 WHERE a = ?"),
        ("SELECT 'it''s', \"x\\\"y\", 0x1F, 1.5e-3, -.5 FROM `a 1`", "SELECT ?, ?, ?, ?, -? FROM `a 1`"),
        ("SELECT 1 FROM t WHERE a IN (1, 2,3)", "SELECT ? FROM t WHERE a IN (?, ...)"),
        ("INSERT INTO t VALUES (1, 'a'), (2, 'b')", "INSERT INTO t VALUES (?, ...), ..."),
        ("SELECT t.c12 FROM db1.t2 AS x3", "SELECT t.c12 FROM db1.t2 AS x3"),
        ("SELECT /*+ BNL(t) */ 1", "SELECT /*+ BNL(t) */ ?"),
        ("SELECT /* 7 */ 1", "SELECT ?"),
    ],
)
def test_a_digest_has_no_values(statement, digest):
    assert slow_log.digest_of(statement) == digest


LOG = """/usr/sbin/mysqld, Version: 5.7.22-log (MySQL Community Server (GPL)). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 2026-01-01T00:00:00.000001Z
# User@Host: app[app] @  [10.0.0.1]  Id:     3
# Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9
use shop;
SET timestamp=1767225600;
SELECT * FROM orders
# a comment of the application
WHERE id = 7;
# User@Host: app[app] @  [10.0.0.1]  Id:     3
# Query_time: 2.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9
SET timestamp=1767225600;
SELECT * FROM orders WHERE id = 8;
# Time: 2026-01-01T00:00:05.000001Z
# User@Host: app[app] @  [10.0.0.1]  Id:     3
# Query_time: 3.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 9
SET timestamp=1767225605;
DELETE FROM cart WHERE note = 'a;b';
# User@Host: app[app] @  [10.0.0.1]  Id:     3
# Query_time: 0.000010  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1767225605;
# administrator command: Quit;
"""


def test_a_slow_log_becomes_digests_that_took_most_time_first(tmp_path):
    (tmp_path / "slow.log").write_text(LOG)
    first, second = slow_log.read(tmp_path / "slow.log")
    assert (first.statement, first.count, first.log_s) == ("DELETE FROM cart WHERE note = 'a;b'", 1, 3.0)
    assert (second.digest, second.count, second.log_s) == ("SELECT * FROM orders WHERE id = ?", 2, 2.5)
    assert second.statement == "SELECT * FROM orders WHERE id = 8"


def test_a_file_of_statements_keeps_their_order(tmp_path):
    (tmp_path / "many.sql").write_text("SELECT 'b'; SELECT a FROM t -- one\n; SELECT 'c'")
    assert [(each.digest, each.count, each.log_s) for each in slow_log.read(tmp_path / "many.sql")] == [
        ("SELECT ?", 2, 0.0),
        ("SELECT a FROM t", 1, 0.0),
    ]


def test_a_slow_log_without_statements_is_refused(tmp_path):
    (tmp_path / "slow.log").write_text("# Query_time: 1.0  Lock_time: 0\n# administrator command: Ping;\n")
    with pytest.raises(EngineRoomError, match="holds no statement"):
        slow_log.read(tmp_path / "slow.log")


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
        found = slow_log.read(Path(folder) / name)
    counted = {each.digest: each.count for each in found}
    assert counted["SELECT COUNT(*) FROM orders WHERE id = ?"] == 2
    assert counted["INSERT INTO orders VALUES (?, ...), ..."] == 1
    assert not any(each.digest.startswith(("#", "use ", "SET timestamp")) for each in found)
