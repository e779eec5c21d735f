"""Tables, rows and statements of anybody's on real servers: each run meets the same rows, and nothing gets out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from engineroom import servers
from engineroom.ask.compare.sides import Comparison, compare_many

needs = {
    version: pytest.mark.skipif(
        not servers.runnable(version), reason=f"{version} does not run here: engineroom doctor"
    )
    for version in ("5.6", "5.7", "9.7")
}
pytestmark = pytest.mark.live


def compared(folder: Path, schema: str | bytes, statements: list[str], **how) -> dict[str, Comparison]:
    (folder / "schema.sql").write_bytes(schema.encode() if isinstance(schema, str) else schema)
    how = {"repeats": 1, "limit_s": 20, "schema": folder / "schema.sql", **how}
    return dict(zip(statements, compare_many(statements, **how), strict=True))


# What the account has rights on, and what comes of each statement in every run.
LASTING = """
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL);
CREATE TABLE m (n INT) ENGINE=MyISAM; CREATE TABLE h (n INT) ENGINE=MEMORY;
CREATE TABLE ai (id TINYINT AUTO_INCREMENT PRIMARY KEY, n INT);
CREATE TEMPORARY TABLE tmp (n INT) ENGINE=MyISAM; INSERT INTO tmp VALUES (1), (2), (3);
CREATE VIEW v AS SELECT n FROM m;
INSERT INTO t (n) VALUES (1), (2), (3); INSERT INTO m VALUES (1), (2), (3); INSERT INTO h VALUES (1), (2), (3);
DELIMITER //
CREATE DEFINER=`root`@`localhost` FUNCTION f(x INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA
BEGIN INSERT INTO t (n) VALUES (x); RETURN (SELECT COUNT(*) FROM t); END//
CREATE PROCEDURE p() BEGIN DELETE FROM t WHERE n = 1; COMMIT; SELECT COUNT(*) FROM t; END//
DELIMITER ;
"""
IN_EACH_RUN: dict[str, int | str] = {
    "INSERT INTO m SELECT n FROM m": 3,
    "DELETE FROM v WHERE n < 3": 2,
    "UPDATE h SET n = n + 1 WHERE n < 3": 2,
    "REPLACE INTO t VALUES (1, 9)": 2,
    "INSERT INTO ai (n) SELECT a.n FROM t a JOIN t b JOIN t c JOIN (SELECT 1 UNION ALL SELECT 2) d": 54,
    "DELETE FROM tmp WHERE n < 3": 2,
    "UPDATE t, m SET t.n = 7, m.n = 7": 6,
    "SELECT f(5)": "4",
    "CALL p()": "2",
    "SELECT @r := IFNULL(@r, 0) + 1 > 1": "0",
    "TRUNCATE m": 0,
    "ALTER TABLE t ADD COLUMN z INT": 0,
    "DROP TABLE t": 0,
    "LOCK TABLES t WRITE": 0,
    "SELECT COUNT(*) FROM t": "3",
    "SELECT SUM(n) FROM m": "6",
}


@pytest.mark.slow
@needs["5.7"]
@needs["9.7"]
def test_each_run_of_each_statement_meets_the_rows_of_the_files(tmp_path):
    found = compared(tmp_path, LASTING, list(IN_EACH_RUN))
    for statement, came in IN_EACH_RUN.items():
        for side in found[statement].sides:
            assert side.refused is None
            assert came == (side.first_rows[0][0] if isinstance(came, str) else side.affected_rows), statement
            assert not side.varies
    assert "MyISAM, the engine of m, rolls nothing back" in found["DELETE FROM v WHERE n < 3"].remarks[0]


@needs["9.7"]
def test_a_rollback_that_does_not_undo_is_seen_by_checksums(tmp_path, monkeypatch):
    from engineroom.ask.compare.loading import Ready

    monkeypatch.setattr(Ready, "_known", lambda self, known=Ready._known: known(self)._replace(lasting={}))
    (found,) = compared(tmp_path, LASTING, ["DELETE FROM shop.m"], versions=["9.7"], repeats=2).values()
    assert (found.sides[0].affected_rows, found.sides[0].varies) == (3, False)
    assert "ROLLBACK did not bring back" in found.remarks[0]


REAL = """
-- MySQL dump 10.13
/*!50503 SET NAMES utf8mb4 */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `my_shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */;
USE `my_shop`;
DROP TABLE IF EXISTS `a`;
CREATE TABLE `a` (`id` int NOT NULL, `s` varchar(30) COLLATE utf8mb4_0900_as_cs DEFAULT NULL, `at` datetime DEFAULT '0000-00-00 00:00:00',
  `cfg` text NOT NULL DEFAULT '', PRIMARY KEY (`id`), KEY `s` (`s`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
LOCK TABLES `a` WRITE;
INSERT INTO `a` VALUES (1,'x;','0000-00-00 00:00:00',''),(2,'y','2024-01-01 00:00:00','');
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER tr BEFORE INSERT ON a FOR EACH ROW BEGIN SET NEW.s = 1; END */;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS select `a`.`id` AS `id` from `a` */;
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
SET sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE';
CREATE TABLE late (d date NOT NULL DEFAULT '0000-00-00', b blob NOT NULL DEFAULT '');
CREATE TABLE unread (id INT, KEY ((id + 1)));
"""


@needs["5.6"]
@needs["9.7"]
def test_a_dump_of_a_newer_server_loads_on_an_older_one_with_a_word(tmp_path):
    statements = ["SELECT v.id, s FROM v JOIN a USING (id) ORDER BY 1", "SELECT COUNT(*) FROM my_shop.late"]
    blob = b"INSERT INTO a VALUES (3, NULL, NULL, '');\nCREATE TABLE raw (b BLOB) ENGINE=TokuDB;\nINSERT INTO raw VALUES (_binary '\xff\\0\xe9');\n"
    statements.append("SELECT HEX(b) FROM raw")
    first, second, third = compared(
        tmp_path, REAL.encode() + blob, statements, versions=["5.6", "9.7"]
    ).values()
    assert [side.first_rows for side in first.sides] == [(("1", "x;"), ("2", "y"), ("3", None))] * 2
    assert [side.first_rows for side in third.sides] == [(("FF00E9",),)] * 2
    assert second.results == "agree over no rows"
    said, line = "\n".join(first.remarks), REAL.count("\n")
    for word in (
        "triggers are skipped: tr",
        "MySQL 5.6.24 lacks utf8mb4_0900_ai_ci, utf8mb4_unicode_520_ci stands for it",
        "MySQL 5.6.24 lacks utf8mb4_0900_as_cs, utf8mb4_bin stands for it",
        f"MySQL 5.6.24 does without schema.sql, line {line}, table unread: 1064",
        f"MySQL 9.7.4 takes schema.sql, line {line - 1}, table late only with an empty sql_mode: 1",
    ):
        assert word in said


MADE = """
SET FOREIGN_KEY_CHECKS=0;
CREATE TABLE store (id INT PRIMARY KEY, mgr INT NOT NULL, FOREIGN KEY (mgr) REFERENCES staff (id));
CREATE TABLE staff (id INT PRIMARY KEY, store_id INT NOT NULL, FOREIGN KEY (store_id) REFERENCES store (id));
CREATE TABLE prio (id TINYINT UNSIGNED PRIMARY KEY, nm VARCHAR(9));
CREATE TABLE ticket (id INT PRIMARY KEY, p TINYINT UNSIGNED, st VARCHAR(10), at DATETIME, FOREIGN KEY (p) REFERENCES prio (id));
CREATE TABLE cfg (k ENUM('a', 'b', 'c') PRIMARY KEY, v INT);
CREATE TABLE place (id INT PRIMARY KEY, pos POINT NOT NULL, l LINESTRING, p POLYGON, g GEOMETRY, mp MULTIPOLYGON, SPATIAL INDEX (pos));
CREATE TABLE pct (id INT PRIMARY KEY, n INT, d JSON, CHECK (n BETWEEN 0 AND 100), c CHAR(1) CHECK (c IN ('x', 'y')), CHECK (json_valid(d)));
CREATE TABLE odd (id INT PRIMARY KEY, n INT, o INT, CHECK (n < o));
CREATE TABLE y (id INT, d DATE, PRIMARY KEY (id, d)) PARTITION BY RANGE (YEAR(d)) (PARTITION p VALUES LESS THAN (2010), PARTITION q VALUES LESS THAN (2020));
CREATE TABLE l (id INT, r INT, PRIMARY KEY (id, r)) PARTITION BY LIST (r) (PARTITION p VALUES IN (1, 3), PARTITION q VALUES IN (7));
CREATE TABLE gen (id INT PRIMARY KEY, a INT, b INT AS (a * 2), KEY (b));
CREATE TABLE lookup (id INT PRIMARY KEY, v VARCHAR(9)); INSERT INTO lookup VALUES (1, 'new'), (2, 'old');
CREATE TABLE usr (id INT PRIMARY KEY, st INT NOT NULL, FOREIGN KEY (st) REFERENCES lookup (id));
CREATE DATABASE other; CREATE TABLE other.a (id INT PRIMARY KEY, x INT);
CREATE TABLE newer (id INT PRIMARY KEY /*!80000 , more INT */);
CREATE TABLE unmade (id VARCHAR(10) PRIMARY KEY CHECK (id REGEXP '^[0-9]{9}$'));
CREATE TABLE impossible (id INT PRIMARY KEY, n INT NOT NULL CHECK (n * 2 = n + 1 AND n > 5));
"""
FILLED = {  # how many rows a statement counts of 600 made ones
    "SELECT COUNT(*) FROM store JOIN staff ON mgr = staff.id": 600,
    "SELECT COUNT(*) FROM ticket LEFT JOIN prio ON prio.id = p": 600,
    "SELECT COUNT(*) FROM cfg": 3,
    "SELECT COUNT(ST_X(pos)) FROM place": 600,
    "SELECT COUNT(*) FROM pct WHERE n IS NULL OR n BETWEEN 0 AND 100": 600,
    "SELECT COUNT(*) FROM y WHERE d > '2008-12-31'": 600,
    "SELECT COUNT(*) FROM l": 600,
    "SELECT COUNT(*) FROM gen": 600,
    "SELECT COUNT(*) FROM usr JOIN lookup ON st = lookup.id": 600,
    "SELECT COUNT(*) FROM other.a": 600,
}


@pytest.mark.slow
@needs["5.7"]
@needs["9.7"]
def test_made_rows_fill_what_is_read_and_what_cannot_be_made_costs_its_own_table_alone(tmp_path):
    asks = "SELECT id FROM ticket WHERE st = 'paid' AND p = 7 AND at >= '2031-01-01'"
    lost, odd = "SELECT COUNT(*) FROM impossible, unmade", "SELECT COUNT(*) FROM odd"
    none = "SELECT id FROM gen WHERE a = 5 AND a = 6"
    newer = "SELECT COUNT(*) FROM newer"
    found = compared(tmp_path, MADE, [*FILLED, asks, lost, odd, none, newer], rows=600)
    for statement, n in FILLED.items():
        assert [side.first_rows for side in found[statement].sides] == [((str(n),),)] * 2, statement
        assert found[statement].results == "agree"
    assert found[asks].results == "agree"
    assert 0 < found[asks].sides[0].rows < 300
    # 5.7 knows no CHECK: it gets the rows that 9.7 took.
    assert found[odd].results == "agree"
    assert 0 < int(found[odd].sides[0].first_rows[0][0]) < 600
    assert found[lost].results == "agree over no rows"
    assert found[none].results == "agree over no rows"
    assert "no made row meets all conditions" in found[none].remarks[0]
    assert [side.refused_at for side in found[newer].sides] == ["rows", None]
    assert found[newer].sides[1].first_rows == (("600",),)
    said = "\n".join(found[asks].remarks)
    assert "takes no made rows in impossible: 3819" in said
    assert "takes no made rows in unmade: 3819" in said
    assert "prio has 256 made rows, not 600" in said
    assert "lookup has rows of its own" in said


# {out} is a folder that anybody may write to.
ATTACKS = (
    "SET GLOBAL general_log_file = '{out}/evil.pth'",
    "SET GLOBAL slow_query_log = ON",
    "SELECT 'import os' INTO OUTFILE '{out}/evil.pth'",
    "SELECT 'x' INTO DUMPFILE '{out}/evil'",
    "LOAD DATA LOCAL INFILE '{out}/secret' INTO TABLE t",
    "LOAD DATA INFILE '{out}/secret' INTO TABLE t",
    "INSERT INTO mysql.func VALUES ('f', 0, 'evil.so', 'function')",
    "CREATE FUNCTION f RETURNS STRING SONAME 'evil.so'",
    "INSTALL PLUGIN evil SONAME 'evil.so'",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')",
    "CREATE TABLE d (a INT) DATA DIRECTORY = '{out}'",
    "CREATE TABLE e (a INT) ENGINE=MyISAM INDEX DIRECTORY = '{out}'",
    "CREATE TABLESPACE s ADD DATAFILE '{out}/evil.ibd'",
    "CREATE DEFINER='root'@'localhost' PROCEDURE p() SET GLOBAL general_log = ON",
    "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO SET GLOBAL general_log = ON",
    "GRANT FILE ON *.* TO CURRENT_USER",
    "UPDATE mysql.user SET File_priv = 'Y'",
    "SELECT 1 /*! ; SET GLOBAL general_log = ON */",
    "SHUTDOWN",
    "KILL CONNECTION_ID()",
)


@pytest.mark.slow
@pytest.mark.parametrize("version", [pytest.param(each, marks=needs[each]) for each in ("5.6", "5.7", "9.7")])
def test_foreign_sql_writes_nothing_outside_and_has_no_powers(tmp_path, version):
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    (out / "secret").write_text("mine\n")
    attacks = [attack.format(out=out) for attack in ATTACKS]
    check = "SELECT @@general_log, @@slow_query_log, COUNT(*) FROM t"
    skipped = [
        each
        for each in attacks
        if each.split()[0] in ("SET", "LOAD", "INSTALL", "CREATE", "GRANT", "SHUTDOWN")
    ]
    schema = "CREATE TABLE t (a VARCHAR(99));\n" + ";\n".join(skipped)
    found = compared(tmp_path, "CREATE TABLE t (a VARCHAR(99))", [*attacks, check], versions=[version])
    for attack in attacks:
        assert found[attack].sides[0].refused, attack
    assert found[check].sides[0].first_rows == (("0", "0", "0"),)
    # In a schema these are skipped, or lose the folder that they name.
    (found_there,) = compared(tmp_path, schema, [check], versions=[version]).values()
    assert found_there.sides[0].refused is None
    assert found_there.sides[0].first_rows == (("0", "0", "0"),)
    assert [path.name for path in out.iterdir()] == ["secret"]


@pytest.mark.parametrize("version", [pytest.param("9.7", marks=needs["9.7"])])
def test_a_kernel_that_cannot_confine_a_server_is_named(version, monkeypatch):
    monkeypatch.setattr("engineroom.ask.compare.sides.has_landlock", lambda: False)
    [found] = compare_many(["SELECT 1"], versions=[version], repeats=1)
    assert any("has no Landlock" in remark for remark in found.about_files)


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
@pytest.mark.parametrize("version", [pytest.param(each, marks=needs[each]) for each in ("5.6", "9.7")])
def test_not_even_its_root_lets_a_confined_server_write_outside(tmp_path, version):
    import mysql.connector

    from engineroom.servers import supervisor

    if not supervisor.has_landlock():
        pytest.skip("this kernel has no Landlock")
    with servers.start(version, confined=True, options={"secure_file_priv": ""}) as server:
        if server.provider == "container":
            pytest.skip("a container has its own walls")
        for attack in (f"SET GLOBAL general_log_file = '{tmp_path}/log'", "SET GLOBAL general_log = ON"):
            try:
                server.execute(attack)
            except mysql.connector.Error as refused:
                assert "Permission denied" in str(refused)  # noqa: PT017
        with pytest.raises(mysql.connector.Error, match="Permission denied"):
            server.query(f"SELECT 1 INTO OUTFILE '{tmp_path}/file'")
        assert server.query("SELECT 1 INTO OUTFILE 'inside'") == []
    assert list(tmp_path.iterdir()) == []
    shutil.rmtree(tmp_path)


DETACHED = """
CREATE TABLE t (id INT PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
DELIMITER //
CREATE PROCEDURE detached() BEGIN XA START 'a\\'b', 'c', 7; UPDATE t SET n = 9; XA END 'a\\'b', 'c', 7; XA PREPARE 'a\\'b', 'c', 7; END//
"""


@pytest.mark.parametrize("version", [pytest.param(each, marks=needs[each]) for each in ("5.7", "9.7")])
def test_what_outlives_a_session_of_the_account_keeps_no_later_run_waiting(tmp_path, version):
    statements = ["CALL detached()", "SET PASSWORD = 'another'", "SELECT SUM(n) FROM t"]
    found = compared(tmp_path, DETACHED, statements, versions=[version])
    assert found[statements[1]].sides[0].refused is None
    assert found["SELECT SUM(n) FROM t"].sides[0].first_rows == (("6",),)
