"""SQL files as mysqldump, mydumper and people write them."""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path

import pytest
import zstandard

from engineroom.ask.compare import dumps
from engineroom.errors import EngineRoomError

TRIGGER = """/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER tr BEFORE INSERT ON a FOR EACH ROW
BEGIN SET NEW.x = 1; END */;;"""


def read(folder: Path, text: str, **how) -> dumps.Dump:
    (folder / "dump.sql").write_text(text)
    return dumps.read(folder / "dump.sql", "schema", **how)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("-- a;\nCREATE TABLE a (x INT); # b;\n", ["CREATE TABLE a (x INT)"]),
        ("INSERT INTO a VALUES ('it;s', \"b;\", '\\';');", ["INSERT INTO a VALUES ('it;s', \"b;\", '\\';')"]),
        (f"DELIMITER ;;\n{TRIGGER}\nDELIMITER ;\nSELECT 1;", ["SELECT 1"]),
        ("delimiter //\nSELECT 1;//\nSELECT 2 //\ndelimiter ;\n", ["SELECT 1;", "SELECT 2"]),
        ("DELIMITER go\nSELECT 'go' go\nDELIMITER ;\n", ["SELECT 'go'"]),
        ("LOCK TABLES `a` WRITE; UNLOCK TABLES;", []),
        ("USE shop\nCREATE TABLE a (x INT);", ["USE `shop`", "CREATE TABLE a (x INT)"]),
        ("USE mysql;\nCREATE TABLE user (a INT);\nUSE b;\nCREATE TABLE c (a INT);", ["USE `b`", "CREATE TABLE c (a INT)"]),
        ("CREATE ALGORITHM=MERGE DEFINER=`r`@`%` VIEW v AS SELECT 1;", ["CREATE ALGORITHM=MERGE   VIEW v AS SELECT 1"]),
        ("CREATE TABLE t (a INT) DATA DIRECTORY='/x' INDEX DIRECTORY=\"/y\";", ["CREATE TABLE t (a INT)"]),
        ("/*M!999999\\- enable the sandbox mode */\nSELECT 1", ["SELECT 1"]),
        ("/*!40101 SET NAMES utf8mb4 */;\nSET @@SESSION.SQL_LOG_BIN= 0;\nSET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'a:1';", []),
        (
            "/*!40101 SET @OLD=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO,NO_AUTO_CREATE_USER' */;",
            ["SET @OLD = @@SQL_MODE, SESSION SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO'"],
        ),
        ("SET foreign_key_checks=0, GLOBAL general_log='ON'", ["SET SESSION foreign_key_checks = 0"]),
    ],
)  # fmt: skip
def test_lines_are_those_that_the_client_would_send_and_an_account_may_run(tmp_path, text, lines):
    assert [line.sql.rstrip() for line in read(tmp_path, text).lines] == lines


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"SELECT 1;\nDELIMITER ;;\n{TRIGGER}\nDELIMITER ;", "dump.sql, line 3: triggers are skipped: tr"),
        ("CREATE DEFINER=root@localhost EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "events are skipped: e"),
        ("CREATE PROCEDURE p() SELECT 1; CREATE PROCEDURE q() SELECT 1", "procedures are skipped: p, q"),
        ("CREATE FUNCTION f RETURNS STRING SONAME 'x.so'", "functions are skipped: f"),
        ("SET GLOBAL general_log_file='/x'", "not of a list are skipped: SET GLOBAL general_log_file"),
        ("SET @@global.slow_query_log_file='/x'", "not of a list are skipped: SET @@global.slow_query_log_file"),
        ("SET PERSIST init_file='/x'", "skipped: SET PERSIST init_file"),
        ("GRANT ALL ON *.* TO a; INSTALL PLUGIN a SONAME 'b'", "is skipped: GRANT, INSTALL"),
        ("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t", "is skipped: LOAD"),
        ("CREATE   TABLESPACE x ADD DATAFILE '/x'", "is skipped: CREATE TABLESPACE"),
        ("CREATE TABLE t (a INT) DATA DIRECTORY='/x'", "DIRECTORY"),
        ("USE mysql; INSERT INTO func VALUES (1)", "the server's own databases are skipped: mysql"),
    ],
)  # fmt: skip
def test_what_is_not_run_is_named_with_its_line(tmp_path, text, word):
    (remark,) = read(tmp_path, text).remarks
    assert word in remark
    assert remark.startswith("dump.sql, line ")


def test_a_routine_that_the_statements_name_is_made_by_the_account(tmp_path):
    text = "DELIMITER $$\nCREATE DEFINER=`a`@`%` FUNCTION `F`() RETURNS INT BEGIN RETURN 1; END$$\nCREATE FUNCTION g() RETURNS INT RETURN 2$$"
    found = read(tmp_path, text, routines=["f"])
    assert [line.sql for line in found.lines] == ["CREATE   FUNCTION `F`() RETURNS INT BEGIN RETURN 1; END"]
    assert found.remarks == ["dump.sql, line 3: functions are skipped: g"]


def test_a_file_is_sourced_from_its_folder_alone_and_lines_keep_their_place(tmp_path):
    (tmp_path / "rows.dump").write_text("\nINSERT INTO a VALUES (1);\n")
    found = read(tmp_path, "CREATE TABLE a (x INT);\nsource rows.dump ;\n\\. rows.dump\n")
    assert [line.place for line in found.lines] == [
        "dump.sql, line 1, table a",
        *(["rows.dump, line 2, table a"] * 2),
    ]
    for text, problem in [
        ("source /etc/hostname", "dump.sql, line 1 sources /etc/hostname, which is no file in the folder"),
        ("\nsource ../x.sql", "line 2 sources"),
        ("source dump.sql", "files source each other"),
    ]:
        with pytest.raises(EngineRoomError, match=problem):
            read(tmp_path, text)


def test_a_folder_of_mydumper_is_read_tables_before_views_and_rows_apart(tmp_path):
    for name in ("v-schema-view", "a-schema", "a.00000", "a-schema-triggers", "b-schema", "b"):
        (tmp_path / f"shop.{name}.sql").write_text(f"SELECT '{name}';")
    (tmp_path / "shop-schema-create.sql").write_text("CREATE DATABASE shop;")
    (tmp_path / "metadata").write_text("x")

    def lines(what: str) -> list[str]:
        return [line.sql for line in dumps.read(tmp_path, what).lines if line.sql != "USE `shop`"]

    assert lines("schema") == ["CREATE DATABASE shop", *(f"SELECT '{n}'" for n in ("a-schema", "b-schema", "v-schema-view"))]  # fmt: skip
    assert lines("data") == ["SELECT 'a.00000'", "SELECT 'b'"]
    assert "shop.a-schema-triggers.sql" in dumps.read(tmp_path, "schema").remarks[0]
    (tmp_path / "other").mkdir()
    with pytest.raises(EngineRoomError, match="has no file of a schema"):
        dumps.read(tmp_path / "other", "schema")


@pytest.mark.parametrize("piece", ["'", "\\'", "/*", "/*!", "`'\"", "-- \n", "(1,'a'),", "delimiter x\n"])
def test_reading_takes_time_in_proportion_to_the_text(tmp_path, piece):
    def seconds(n: int) -> float:
        began = time.process_time()
        read(tmp_path, piece * n)
        return time.process_time() - began

    seconds(1000)
    assert seconds(40_000) < 12 * seconds(10_000) + 0.05


PACKED = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("ending", PACKED)
def test_packed_files_are_read_as_those_that_they_hold_also_with_bytes_of_a_blob(tmp_path, ending):
    held = b"CREATE TABLE a (x BLOB);\nINSERT INTO a VALUES ('\xff\xe9');\nsource more.sql;\n"
    (tmp_path / f"dump.sql.{ending}").write_bytes(PACKED[ending](held))
    (tmp_path / "more.sql").write_bytes(PACKED[ending](b"SELECT '\xff';"))
    found = dumps.read(tmp_path / f"dump.sql.{ending}", "schema").lines
    assert [line.sql.encode("utf-8", "surrogateescape") for line in found] == [
        b"CREATE TABLE a (x BLOB)",
        b"INSERT INTO a VALUES ('\xff\xe9')",
        b"SELECT '\xff'",
    ]
    folder = tmp_path / "mydumper"
    folder.mkdir()
    for name in ("shop-schema-create", "shop.a-schema", "shop.a.00000", "shop.a-schema-triggers"):
        (folder / f"{name}.sql.{ending}").write_bytes(PACKED[ending](f"SELECT '{name}';".encode()))
    assert [line.sql for line in dumps.read(folder, "data").lines] == ["USE `shop`", "SELECT 'shop.a.00000'"]
    assert len(dumps.read(folder, "schema").lines) == 3
    assert "shop.a-schema-triggers.sql" in dumps.read(folder, "schema").remarks[0]


def test_a_limit_of_size_is_told_and_can_be_lifted(tmp_path):
    text = "SELECT 1;\n" * 120_000
    with pytest.raises(EngineRoomError, match="has more than 1 MiB") as refused:
        read(tmp_path, text, largest=2**20)
    assert "--largest" in refused.value.remedy
    assert len(read(tmp_path, text, largest=2**21).lines) == 120_000
    (tmp_path / "small.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(EngineRoomError, match="has more than 1 MiB"):
        dumps.read(tmp_path / "small.gz", "data", largest=2**20)


def test_without_the_package_zstd_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.zst").write_bytes(PACKED["zst"](b"SELECT 1"))
    with pytest.raises(EngineRoomError, match="packed with zstd") as refused:
        dumps.read(tmp_path / "a.zst", "data")
    assert "pip install zstandard" in refused.value.remedy


@pytest.mark.parametrize("comment", ["{};", "/*!80002 {} */;"])
def test_histograms_of_a_dump_wait_for_its_rows(tmp_path, comment):
    histogram = "ANALYZE TABLE `a` UPDATE HISTOGRAM ON `x` WITH 4 BUCKETS"
    found = read(tmp_path, f"USE shop;\n{comment.format(histogram)}\nCREATE TABLE b (x INT);")
    assert [line.sql for line in found.lines] == ["USE `shop`", "CREATE TABLE b (x INT)"]
    (late,) = found.late
    assert histogram in late.sql
    assert (late.database, late.place) == ("shop", "dump.sql, line 2")
