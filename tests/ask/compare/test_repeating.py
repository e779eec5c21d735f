"""What has to be undone before a statement runs again, and what in it is left to chance."""

from __future__ import annotations

import pytest

from engineroom.ask.compare import repeating
from engineroom.ask.compare.constants import Condition, conditions

ENGINES = {"m": "MyISAM", "h": "MEMORY"}


@pytest.mark.parametrize(
    ("statement", "verb", "how"),
    [
        ("SELECT REPLACE(a, 'x', 'y') FROM t", "SELECT", ""),
        ("(WITH a AS (SELECT 1) SELECT * FROM a)", "SELECT", ""),
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION SELECT n + 1 FROM a) DELETE FROM t", "DELETE", "rollback"),
        ("WITH a AS (SELECT 1) UPDATE t SET n = 1", "UPDATE", "rollback"),
        ("/*!50001 DELETE */ FROM t", "DELETE", "rollback"),
        ("EXPLAIN DELETE FROM m", "EXPLAIN", ""),
        ("EXPLAIN ANALYZE DELETE t FROM t JOIN u", "DELETE", "rollback"),
        ("DESC ANALYZE FORMAT=TREE WITH a AS (SELECT 1) UPDATE m SET n = 1", "UPDATE", "copy"),
        ("INSERT INTO m SELECT 1", "INSERT", "copy"),
        ("UPDATE v SET n = 1", "UPDATE", "copy"),
        ("DELETE FROM `h`", "DELETE", "copy"),
        ("SELECT f() FROM t", "SELECT", "copy"),
        ("DO f()", "DO", "copy"),
        ("SET @a = f()", "SET", "session copy"),
        ("CALL p()", "CALL", "session copy"),
        ("TRUNCATE t", "TRUNCATE", "session copy"),
        ("SELECT 1 INTO @v", "SELECT", "session"),
        ("UPDATE t SET n = (@r := @r + 1)", "UPDATE", "rollback session"),
        ("SELECT GET_LOCK('a', 1)", "SELECT", "session"),
        ("SELECT LAST_INSERT_ID(n + 1) FROM t", "SELECT", "session"),
        ("SELECT '@a', 'm', @@version", "SELECT", ""),
        ("LOCK TABLES t WRITE", "LOCK", "session"),
        ("SELECT 1 /*! ; DROP TABLE t */", "SELECT", "session copy"),
    ],
)
def test_what_is_undone_follows_from_the_parse_and_the_engines(statement, verb, how):
    found = repeating.undo(
        statement, engines=ENGINES, routines=frozenset({"f", "p"}), views={"v": "select * from `m`"}
    )
    assert repeating.verb(statement) == verb
    assert [name for name in ("rollback", "session", "copy") if getattr(found, name)] == how.split()
    assert bool(found.why) == found.copy


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT 'FOR UPDATE', `into outfile` FROM t", ""),
        ("EXPLAIN DELETE FROM t", ""),
        ("SHOW TABLES", ""),
        ("WITH a AS (SELECT 1) DELETE FROM t", "DELETE"),
        ("EXPLAIN ANALYZE UPDATE t SET n = 1", "UPDATE"),
        ("/*!50001 INSERT */ INTO t VALUES (1)", "INSERT"),
        ("SELECT n FROM t FOR  UPDATE", "FOR UPDATE"),
        ("TABLE t INTO OUTFILE 'x'", "INTO OUTFILE"),
        ("SELECT 1 INTO /*+ x */ DUMPFILE 'x'", "INTO DUMPFILE"),
        ("SET GLOBAL read_only = 0", "SET"),
        ("CALL p()", "CALL"),
        ("KILL 3", "KILL"),
    ],
)
def test_what_writes_or_locks_is_named(statement, said):
    assert repeating.writes(statement) == said


def test_a_stored_function_over_tables_that_roll_back_is_rolled_back():
    assert repeating.undo("SELECT f()", engines={}, routines=frozenset({"f"})).rollback


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("SELECT UUID(), CONNECTION_ID() FROM t", ["UUID()", "CONNECTION_ID()"]),
        ("SELECT now(), CURRENT_TIMESTAMP, rand(), rand(3)", ["NOW()", "CURRENT_TIMESTAMP", "RAND()"]),
        ("SELECT @a, @@version", ["a user variable", "a system variable"]),
        ("SELECT a FROM t LIMIT 3", ["LIMIT without ORDER BY"]),
        ("SELECT a FROM t ORDER BY a LIMIT 3", []),
        ("DELETE FROM t LIMIT 3", ["LIMIT without ORDER BY"]),
        ("SELECT GROUP_CONCAT(a) FROM t", ["GROUP_CONCAT without ORDER BY"]),
        ("SELECT GROUP_CONCAT(a ORDER BY b) FROM t", []),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM t", ["a window without ORDER BY"]),
        ("SELECT ANY_VALUE(a) FROM information_schema.tables", ["ANY_VALUE()", "INFORMATION_SCHEMA"]),
        ("SELECT 'now()', user, `rand` FROM t", []),
        ("SELECT a FROM t STRAIGHT_JOIN u PROCEDURE ANALYSE() LIMIT 3", ["LIMIT without ORDER BY"]),
    ],
)
def test_what_is_left_to_chance_is_named(statement, named):
    assert repeating.chance(statement) == named


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("st = 'paid' AND 3 < region", [("st", "=", "paid"), ("region", ">", 3)]),
        ("x.a IN (1, -2)", [("a", "=", 1), ("a", "=", -2)]),
        ("a BETWEEN 1 AND 2.5", [("a", ">=", 1), ("a", "<=", 2.5)]),
        ("d = DATE '2024-01-01' AND YEAR(e) = 2023", [("d", "=", "2024-01-01"), ("e", "=", "2023-07-01")]),
        ("d > '2024-01-03' - INTERVAL 2 DAY", [("d", ">", "2024-01-01 00:00:00")]),
        ("a LIKE 'x%' OR b IS NULL", [("a", "like", "x%"), ("b", "=", None)]),
        ("MATCH (a, b) AGAINST ('x')", [("a", "=", "x"), ("b", "=", "x")]),
        ("NOT a = 1 AND b NOT IN (2) AND c <> 3 AND d = e AND f IS NOT NULL", []),
    ],
)
def test_constants_are_those_that_conditions_ask_for(where, found):
    seen = conditions(f"SELECT 1 FROM t x JOIN u WHERE {where}")
    assert sorted(map(repr, seen)) == sorted(
        repr(Condition("t" if where.startswith("x.") else None, *each)) for each in found
    )
    assert conditions("UPDATE t SET a = 5 WHERE b = 6") == [Condition(None, "b", "=", 6)]
