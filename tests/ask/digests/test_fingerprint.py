"""What counts as one statement, by the published rules of pt-query-digest and beyond them."""

from __future__ import annotations

import pytest

from engineroom.ask.digests.fingerprint import digest_of


@pytest.mark.parametrize(
    ("statement", "digest"),
    [
        ("SELECT *  FROM t\nWHERE a = 1", "select * from t where a = ?"),
        ("SELECT 'it''s', \"x\\\"y\", 0x1F, 1.5e-3, -.5 FROM `a b`", "select ?, ?, ?, ?, ? from `a b`"),
        ("select '\\\\' from t where a = 'b'", "select ? from t where a = ?"),
        ("select 0x0, x'12F', 0b10, b'1', N'n', _utf8mb4'a', _latin1 'b'", "select ?, ?, ?, ?, ?, ?, ?"),
        ("select 0e0, +6e-30, -6.00, .5, 5001. from t", "select ?, ?, ?, ?, ? from t"),
        ("select NULL, TRUE, false", "select ?, ?, ?"),
        ("select doc->'$.a' from t where a=b-c", "select doc->? from t where a=b-c"),
        ("SELECT t.c12 FROM db1.t2 AS x3", "select t.c? from db?.t? as x?"),
        ("SELECT /*+ BNL(t) */ 1", "select /*+ bnl(t) */ ?"),
        ("SELECT /* 7 */ 1 -- one\n# two\n + a", "select ? + a"),
        ("select/**/a/**/from/**/b", "select a from b"),
        ("select 'open", "select ?"),
        ("select a from t limit 5, 10", "select a from t limit ?"),
        ("select a from t limit 5 offset 10", "select a from t limit ?"),
        ("select a from t order  by a, b ASC, c desc, d asc", "select a from t order by a, b, c desc, d"),
        ("select 1 union all select 2 union all select 3", "select ? /*repeat union all*/"),
        (
            "select * from (select 1 union select 2) x join (select 3 union all select 4) y",
            "select * from (select ? /*repeat union*/) x join (select ? /*repeat union all*/) y",
        ),
        ("select a from t union select ab from t", "select a from t union select ab from t"),
        ("SELECT /*!40001 SQL_NO_CACHE */ * FROM `film`", "mysqldump"),
        ("REPLACE /*foo.bar:3/3*/ INTO checksum.checksum SELECT 1", "percona-toolkit"),
        ("CALL Foo(1, 2)", "call foo"),
        ("use `shop`", "use ?"),
        ("administrator command: Init DB", "administrator command: Init DB"),
        ("LOAD DATA INFILE '/tmp/foo.txt' INTO TABLE db.tbl", "load data infile ? into table db.tbl"),
    ],
)
def test_a_digest_has_no_values(statement, digest):
    assert digest_of(statement) == digest


@pytest.mark.parametrize(
    "statements",
    [
        [
            "INSERT INTO t (a) VALUES (1)",
            "insert into t (a) values (2), (3)",
            "INSERT INTO t (a) VALUES(NULL)",
        ],
        ["INSERT INTO t VALUES (1, NOW())", "INSERT INTO t VALUES (1, NOW()),(2, NOW()) , (-3, DEFAULT)"],
        ["INSERT INTO t VALUES ('a', f(g(1)))", "INSERT INTO t VALUES ('b)', f(g(1))),('c', f(g(2))),('d', "],
        ["INSERT INTO t VALUES ROW(1,2)", "INSERT INTO t VALUES ROW(1,2), ROW(3,4)"],
        [
            "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a)",
            "INSERT INTO t VALUES (1),(2) ON DUPLICATE KEY UPDATE a = VALUES(a)",
        ],
        ["SELECT a FROM t WHERE a IN (1)", "SELECT a FROM t WHERE a in( 1,-2 , NULL )"],
        ["SELECT a FROM t WHERE (a, b) IN ((1, 2))", "SELECT a FROM t WHERE (a, b) IN ((1, 2), (3, 4))"],
        ["SELECT a FROM t WHERE a > 5", "select a from t where a > -5", "select a from t where a > +'5'"],
        [
            "SELECT a FROM t WHERE a = 0xFF",
            "SELECT a FROM t WHERE a = 0x0",
            "SELECT a FROM t WHERE a = x'ab'",
        ],
        ["SELECT a FROM orders_01", "SELECT a FROM orders_12"],
        ["SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a ASC"],
        ["SELECT 1", "SELECT /* c'est */ 2", "SELECT 3 -- it's"],
    ],
)
def test_one_statement_is_one_digest(statements):
    assert len(set(map(digest_of, statements))) == 1


@pytest.mark.parametrize(
    "statements",
    [
        ["/*!40101 SELECT COUNT(*) FROM t */", "/*!40101 SELECT MAX(a) FROM t */"],
        ["/*!40000 ALTER TABLE a DISABLE KEYS */", "/*!40000 ALTER TABLE b DISABLE KEYS */"],
        ["/*M!100100 SET a=1 */", "/*M!100100 SET b=1 */"],
        ["/*! SELECT a */", "/*! SELECT b */", "/*! SELECT a, b */"],
        ["SELECT a /*!80000 , b */ FROM t", "SELECT a /*!80000 , c */ FROM t"],
        ["SELECT '*/', a", "SELECT '/*', b"],
        ["SELECT a FROM t -- 'x'\nWHERE b = 1", "SELECT a FROM t -- 'x'\nWHERE c = 1"],
    ],
)
def test_different_statements_are_different_digests(statements):
    assert len(set(map(digest_of, statements))) == len(statements)


@pytest.mark.parametrize("end", ["", " ON DUPLICATE KEY UPDATE a = VALUES(a)"])
@pytest.mark.parametrize("row", ["(1, 'a)')", "(NOW(), f(g(1)))", "('" + "x" * 70_000 + "', 1)"])
def test_megabytes_of_rows_have_the_digest_of_one(row, end):
    digests = {
        digest_of("INSERT INTO t VALUES " + ", ".join([row] * n) + end)
        for n in (1, 2, 9_000 // len(row) * 9 + 3)
    }
    assert len(digests) == 1


def test_numbered_names_are_told_apart_where_asked():
    statement = "SELECT c12, 12, -1.5 FROM db1.t2"
    assert digest_of(statement, numbered_names_apart=True) == "select c12, ?, ? from db1.t2"
